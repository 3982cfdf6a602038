//! How often one address may ask, and what counts as one.

use ropeline_testing::http::{Ask, Reply};

use crate::app::{ADMIN_KEY, STATUS, TOKENS, TestApp, token};

const ROOMS: &str = "/api/v1/admin/rooms";
const PROXIED: &str =
    "trusted_proxies = [\"127.0.0.1\", \"10.0.0.0/8\"]\nrate_limits.joins_per_minute = 5\n";

fn join_from(app: &mut TestApp, forwarded_for: &str) -> Reply {
    app.send(Ask::post(TOKENS).header("X-Forwarded-For", forwarded_for))
}

/// How many of so many joins are taken.
fn taken(app: &mut TestApp, tries: usize, forwarded_for: impl Fn(usize) -> String) -> usize {
    let replies = (0..tries).map(|n| join_from(app, &forwarded_for(n)).status);
    replies.filter(|status| *status == 201).count()
}

fn admin(app: &mut TestApp, key: &str, forwarded_for: &str) -> Reply {
    let ask = Ask::get(ROOMS).header("Authorization", &format!("Bearer {key}"));
    app.send(ask.header("X-Forwarded-For", forwarded_for))
}

#[track_caller]
fn is_limited(reply: &Reply, retry_after: &str) {
    assert_eq!((reply.status, reply.code().as_str()), (429, "RATE_LIMITED"));
    assert_eq!(reply.header("retry-after"), Some(retry_after));
}

#[test]
fn an_address_that_joins_too_often_has_to_wait() {
    let mut app = TestApp::with(PROXIED);
    assert_eq!(taken(&mut app, 5, |_| "198.51.100.7".into()), 5);
    is_limited(&join_from(&mut app, "198.51.100.7"), "12");
    app.advance(11);
    is_limited(&join_from(&mut app, "198.51.100.7"), "1");
    app.advance(1);
    assert_eq!(join_from(&mut app, "198.51.100.7").status, 201);
    is_limited(&join_from(&mut app, "198.51.100.7"), "12");
}

#[test]
fn one_address_that_joins_too_often_holds_up_no_other() {
    let mut app = TestApp::with(PROXIED);
    assert_eq!(taken(&mut app, 20, |_| "198.51.100.7".into()), 5);
    assert_eq!(taken(&mut app, 20, |n| format!("198.51.101.{n}")), 20);
}

#[test]
fn the_forms_of_the_pages_are_counted_like_the_api() {
    let mut app = TestApp::with(PROXIED);
    let from = |ask: Ask| ask.header("X-Forwarded-For", "198.51.100.7");
    let form = |path: &str, fields: &str| {
        from(Ask::post(path)).raw("application/x-www-form-urlencoded", fields.as_bytes())
    };
    for n in 0..5 {
        let joined = app.send(form("/wait/main/join", &format!("key=key-{n}")));
        assert_eq!(joined.status, 303);
    }
    let refused = app.send(form("/wait/main/join", "key=one-more"));
    assert_eq!(refused.status, 429);
    is_limited(&app.send(from(Ask::post(TOKENS))), "12");
    for _ in 0..20 {
        assert_eq!(app.send(form("/admin/login", "key=wrong")).status, 401);
    }
    assert_eq!(app.send(form("/admin/login", "key=wrong")).status, 429);
    let right = format!("key={ADMIN_KEY}");
    assert_eq!(app.send(form("/admin/login", &right)).status, 303);
}

#[test]
fn a_place_is_looked_at_and_left_however_often_its_address_joined() {
    let mut app = TestApp::with(PROXIED);
    let joined = join_from(&mut app, "198.51.100.7");
    assert_eq!(taken(&mut app, 20, |_| "198.51.100.7".into()), 4);
    let ask = |ask: Ask| {
        ask.token(&token(&joined))
            .header("X-Forwarded-For", "198.51.100.7")
    };
    for _ in 0..20 {
        assert_eq!(app.send(ask(Ask::get(STATUS))).status, 200);
    }
    assert_eq!(app.send(ask(Ask::delete(TOKENS))).status, 204);
}

#[test]
fn changing_the_address_within_a_64_of_ipv6_gains_nothing() {
    let mut app = TestApp::with(PROXIED);
    assert_eq!(taken(&mut app, 20, |n| format!("2001:db8::{n:x}:1")), 5);
    assert_eq!(taken(&mut app, 20, |n| format!("2001:db8:{n:x}1::1")), 20);
}

#[test]
fn whoever_has_many_64s_of_ipv6_shares_two_limits_in_a_56_and_four_in_a_48() {
    let mut app = TestApp::with(PROXIED);
    let in_a_56 = |n| format!("2001:db8:0:{n:02x}::1");
    assert_eq!(taken(&mut app, 100, in_a_56), 10);
    let in_a_48 = |n| format!("2001:db8:0:{n:x}00::1");
    assert_eq!(taken(&mut app, 100, in_a_48), 10);
    is_limited(&join_from(&mut app, "2001:db8:0:ffff::1"), "3");
    assert_eq!(join_from(&mut app, "2001:db8:1::1").status, 201);
    app.advance(3);
    assert_eq!(join_from(&mut app, "2001:db8:0:ffff::1").status, 201);
}

#[test]
fn inventing_forwarded_addresses_gains_nothing() {
    let mut app = TestApp::with(PROXIED);
    let invented = |n| format!("203.0.113.{n}, 198.51.100.7");
    assert_eq!(taken(&mut app, 20, invented), 5);
    let through_two = |n| format!("203.0.113.{n}, 198.51.100.8, 10.1.2.3");
    assert_eq!(taken(&mut app, 20, through_two), 5);
    // A proxy that passes on what it cannot have written counts as the visitor.
    assert_eq!(taken(&mut app, 20, |n| format!("203.0.113.{n}, x")), 5);
}

#[test]
fn forwarded_addresses_of_a_peer_that_is_not_trusted_mean_nothing() {
    let mut app = TestApp::with("rate_limits.admin_failures_per_minute = 5\n");
    let failures = (0..20).map(|n| admin(&mut app, "wrong", &format!("203.0.113.{n}")).status);
    let failures: Vec<_> = failures.collect();
    assert_eq!(failures[..5], [401; 5]);
    assert_eq!(failures[5..], [429; 15]);
}

#[test]
fn this_machine_joins_as_often_as_it_likes() {
    let mut app = TestApp::with("rate_limits.joins_per_minute = 1\n");
    assert_eq!(taken(&mut app, 20, |n| format!("203.0.113.{n}")), 20);
}

#[test]
fn a_limit_of_zero_is_none() {
    let mut app = TestApp::with(
        "trusted_proxies = [\"127.0.0.1\"]\n[rate_limits]\njoins_per_minute = 0\n\
         admin_per_minute = 0\nadmin_failures_per_minute = 0\n",
    );
    assert_eq!(taken(&mut app, 50, |_| "198.51.100.7".into()), 50);
    for _ in 0..50 {
        assert_eq!(admin(&mut app, "wrong", "198.51.100.7").status, 401);
        assert_eq!(admin(&mut app, ADMIN_KEY, "198.51.100.7").status, 200);
    }
}

#[test]
fn guessing_the_admin_key_is_stopped_and_stops_nobody_else() {
    let mut app = TestApp::with("trusted_proxies = [\"127.0.0.1\"]\n");
    let guesses = (0..1_000).map(|n| admin(&mut app, &format!("guess-{n}"), "203.0.113.9").status);
    let guesses: Vec<_> = guesses.collect();
    assert_eq!(guesses[..20], [401; 20]);
    assert_eq!(guesses[20..], [429; 980]);
    is_limited(&admin(&mut app, "guess", "203.0.113.9"), "3");
    assert_eq!(admin(&mut app, ADMIN_KEY, "198.51.100.7").status, 200);
    app.advance(3);
    assert_eq!(admin(&mut app, "guess", "203.0.113.9").status, 401);
}

#[test]
fn the_right_key_is_taken_however_many_wrong_ones_came_from_its_address() {
    let mut app = TestApp::with("rate_limits.admin_per_minute = 30\n");
    // A proxy on this machine that nobody declared: guessers and operators have one address.
    for n in 0..100 {
        admin(&mut app, &format!("guess-{n}"), "");
    }
    for _ in 0..10 {
        assert_eq!(admin(&mut app, ADMIN_KEY, "").status, 200);
        assert_eq!(admin(&mut app, "guess", "").status, 429);
    }
    let form = Ask::post("/admin/login").raw(
        "application/x-www-form-urlencoded",
        format!("key={ADMIN_KEY}").as_bytes(),
    );
    let opened = app.send(form);
    assert_eq!(opened.status, 303);
    let cookie = opened
        .header("set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let by_session = app.send(Ask::get(ROOMS).header("Cookie", &cookie));
    assert_eq!(by_session.status, 200);
}

#[test]
fn guesses_from_many_addresses_are_counted_together_and_keep_out_nobody_with_the_key() {
    let mut app = TestApp::with("trusted_proxies = [\"127.0.0.1\"]\n");
    let from = |n: usize| format!("203.0.{}.{}", n / 250, n % 250);
    let guesses = (0..1_000).map(|n| admin(&mut app, "guess", &from(n)).status);
    let guesses: Vec<_> = guesses.collect();
    assert_eq!(guesses[..200], [401; 200]);
    assert_eq!(guesses[200..], [429; 800]);
    assert_eq!(admin(&mut app, ADMIN_KEY, "198.51.100.7").status, 200);
    assert_eq!(admin(&mut app, ADMIN_KEY, &from(999)).status, 200);
}

#[test]
fn the_right_key_may_be_shown_only_so_often_also_from_this_machine() {
    let mut app = TestApp::with("rate_limits.admin_per_minute = 10\n");
    for _ in 0..10 {
        assert_eq!(admin(&mut app, ADMIN_KEY, "").status, 200);
    }
    is_limited(&admin(&mut app, ADMIN_KEY, ""), "6");
    app.advance(6);
    assert_eq!(admin(&mut app, ADMIN_KEY, "").status, 200);
}

#[test]
fn asking_without_a_key_is_no_guess() {
    let mut app = TestApp::new();
    for _ in 0..50 {
        assert_eq!(app.send(Ask::get(ROOMS)).status, 401);
    }
    assert_eq!(admin(&mut app, ADMIN_KEY, "").status, 200);
}
