//! Settings that nothing but their effect on visitors shows.

use ropeline_testing::http::{Ask, Reply};

use crate::app::{ADMIN_KEY, TOKENS, TestApp, field, token};

fn cookie(reply: &Reply) -> &str {
    reply.header("set-cookie").unwrap()
}

#[test]
fn a_token_may_be_shown_for_as_long_as_token_ttl_says() {
    let room = "[rooms.main]\nbatch = 1\npass_ttl = '1h'\npass_max = '0s'\n";
    for (ttl, max_age, after_a_minute) in
        [("token_ttl = '1m'\n", 60, 401), ("", 7 * 24 * 3_600, 200)]
    {
        let mut app = TestApp::with(&format!("{ttl}{room}"));
        let joined = app.join("ann");
        let max_age = format!("; Max-Age={max_age};");
        assert!(cookie(&joined).contains(&max_age), "{}", cookie(&joined));
        let token = token(&joined);
        app.advance(59);
        assert_eq!(app.status(&token).status, 200, "{ttl}");
        app.advance(1);
        assert_eq!(app.status(&token).status, after_a_minute, "{ttl}");
    }
}

#[test]
fn behind_a_public_url_of_https_every_cookie_is_for_https_alone() {
    for (url, prefix, is_secure) in [
        ("public_url = 'https://wait.example'\n", "__Host-rl_", true),
        ("public_url = 'http://wait.example'\n", "rl_", false),
        ("", "rl_", false),
    ] {
        let mut app = TestApp::with(url);
        let key = format!("key={ADMIN_KEY}");
        let log_in = Ask::post("/admin/login");
        let log_in = log_in.raw("application/x-www-form-urlencoded", key.as_bytes());
        for (ask, name) in [(Ask::post(TOKENS), "main="), (log_in, "_admin=")] {
            let reply = app.send(ask);
            let cookie = cookie(&reply);
            assert!(cookie.starts_with(&format!("{prefix}{name}")), "{cookie}");
            assert_eq!(cookie.ends_with("; Secure"), is_secure, "{cookie}");
        }
    }
}

#[test]
fn a_tick_lasts_as_long_as_every_says() {
    for every in [1, 20] {
        let mut app = TestApp::with(&format!("[rooms.main]\nbatch = 1\nevery = '{every}s'\n"));
        app.token_of("first");
        let second = app.token_of("second");
        app.advance(every - 1);
        assert_eq!(field(&app.status(&second), "status"), "WAITING", "{every}");
        app.advance(1);
        assert_eq!(field(&app.status(&second), "status"), "ACTIVE", "{every}");
    }
}

#[test]
fn a_preset_lets_in_as_many_as_its_figures_say_and_keys_beside_it_win() {
    for (room, inside) in [
        ("preset = 'seed-001'", 50),
        ("preset = 'seed-001'\nbatch = 40", 40),
    ] {
        let mut app = TestApp::with(&format!("[rooms.main]\n{room}\n"));
        for n in 1..=inside {
            let joined = app.join(&format!("user-{n}"));
            assert_eq!(field(&joined, "status"), "ACTIVE", "{room}: {n}");
        }
        let one_more = app.join("one-more");
        assert_eq!(field(&one_more, "status"), "WAITING", "{room}");
        app.advance(5);
        let token = token(&one_more);
        assert_eq!(field(&app.status(&token), "status"), "ACTIVE", "{room}");
    }
}

/// A counter for one, with more lines in its section: the first is inside, the second has closed the tab,
/// the third asks every ten seconds. After a minute the first leaves.
fn counter_with_a_closed_tab(more: &str) -> (TestApp, [String; 2]) {
    let mut app = TestApp::with(&format!(
        "[rooms.main]\nactive_max = 1\npass_ttl = '1h'\npass_max = '0s'\n{more}"
    ));
    let [first, second, third] = ["first", "second", "third"].map(|user| app.token_of(user));
    for _ in 0..6 {
        app.advance(10);
        app.status(&third);
    }
    app.send(Ask::delete(TOKENS).token(&first));
    (app, [second, third])
}

#[test]
fn who_is_away_for_longer_than_presence_ttl_is_stepped_over() {
    for (presence_ttl, third) in [("20s", "ACTIVE"), ("90s", "WAITING"), ("0s", "WAITING")] {
        let more = format!("presence_ttl = '{presence_ttl}'\n");
        let (mut app, tokens) = counter_with_a_closed_tab(&more);
        let status = field(&app.status(&tokens[1]), "status");
        assert_eq!(status, third, "{presence_ttl}");
    }
}

#[test]
fn a_missed_turn_is_kept_for_missed_turn_ttl() {
    for (missed_turn_ttl, after_a_minute) in [("60s", 404), ("61s", 200), ("0s", 404)] {
        let more = format!("presence_ttl = '20s'\nmissed_turn_ttl = '{missed_turn_ttl}'\n");
        let (mut app, tokens) = counter_with_a_closed_tab(&more);
        app.advance(60);
        let reply = app.status(&tokens[0]);
        assert_eq!(reply.status, after_a_minute, "{missed_turn_ttl}");
    }
}
