//! Logins, as an operator meets them.

use std::path::Path;

use ropeline_testing::{
    http::{Ask, Reply},
    login::LoginKey,
};
use serde_json::json;

use crate::process::{Server, Site};

const SECRET: &[u8] = b"hunter2-hunter2-hunter2-hunter2-";
const OPEN: &str = "believes any userId";

/// A room `main` of this identity, and logins verified by the key in a file.
fn settings(identity: &str, setting: &str, file: &Path) -> String {
    format!(
        "[login]\n{setting} = '{}'\nissuer = 'i'\naudience = 'a'\n[log]\nlevel = 'trace'\n\
         [rooms.main]\nbatch = 1\nidentity = '{identity}'\n",
        file.display()
    )
}

fn join(server: &Server, login: &str) -> Reply {
    let ask = Ask::post("/api/v1/queue/tokens");
    let bearer = format!("Bearer {login}");
    server.client().send(&ask.header("Authorization", &bearer))
}

fn login() -> String {
    let end_of_time = u64::from(u32::MAX) * 2;
    let claims = json!({"iss": "i", "aud": "a", "sub": "ann", "exp": end_of_time});
    LoginKey::hs256(SECRET).login(&claims)
}

#[test]
fn an_open_room_that_others_can_reach_is_warned_of_with_the_ways_out() {
    let two_rooms =
        "[boxoffice]\nenabled = false\n[rooms.main]\nbatch = 1\n[rooms.vip]\nbatch = 1\n";
    let site = Site::beyond_loopback(two_rooms);
    let log = site.start().stderr();
    let warnings: Vec<_> = log.lines().filter(|line| line.contains(OPEN)).collect();
    assert_eq!(warnings.len(), 2, "one for each room: {log}");
    for (warning, room) in warnings.iter().zip(["main", "vip"]) {
        let id = format!("room.id={room}");
        for part in [
            "WARN",
            &id,
            "[login]",
            "identity = \"jwt\"",
            "\"anonymous\"",
        ] {
            assert!(warning.contains(part), "{part}: {warning}");
        }
    }
}

#[test]
fn an_open_room_behind_a_proxy_is_warned_of_at_the_start_and_by_config_check() {
    for proxy in [
        "trusted_proxies = ['127.0.0.1']",
        "public_url = 'http://127.0.0.1'",
    ] {
        let site = Site::new(&format!("{proxy}\n[boxoffice]\nenabled = true\n"));
        let log = site.start().stderr();
        let checked = site.ropeline("config check").result();
        for text in [log, checked] {
            let warning = text.lines().find(|line| line.contains(OPEN));
            let proposed = "set identity = \"jwt\", which takes the logins of the box office";
            assert!(
                warning.is_some_and(|line| line.contains(proposed)),
                "{text}"
            );
        }
    }
}

#[test]
fn a_room_of_logins_takes_those_of_the_box_office() {
    let site =
        Site::new("[boxoffice]\nenabled = true\n[rooms.main]\nactive_max = 9\nidentity = 'jwt'\n");
    let server = site.start();
    let log = server.stderr();
    assert!(!log.contains("nobody can join"), "{log}");
    let mut client = server.client();
    let ask = Ask::post("/api/v1/queue/tokens").json(&json!({"userId": "1"}));
    assert_eq!(client.send(&ask).code(), "LOGIN_REQUIRED");
    let made = client
        .send(&Ask::post("/user").json(&json!({"name": "Kim"})))
        .json();
    let login = made["accessToken"].as_str().expect("a login");
    let joined = join(&server, login);
    assert_eq!(
        (joined.status, &joined.json()["userId"]),
        (201, &json!("1"))
    );
}

#[test]
fn logins_next_to_the_box_office_are_refused_with_what_to_do() {
    let site = Site::new("");
    let secret = site.with_file("secret", SECRET);
    site.configure(&format!(
        "{}[boxoffice]\n",
        settings("open", "secret_file", &secret)
    ));
    for command in ["serve", "config check"] {
        let complaint = site.ropeline(command).complaint(1);
        for part in [
            "test.toml:1: login",
            "both give out user ids",
            "enabled = false in [boxoffice]",
        ] {
            assert!(complaint.contains(part), "{command}: {complaint}");
        }
    }
}

#[test]
fn rooms_that_believe_nobody_and_rooms_that_nobody_reaches_are_not_warned_of() {
    let site = Site::beyond_loopback("");
    let secret = site.with_file("secret", SECRET);
    site.configure(&settings("jwt", "secret_file", &secret));
    let here = Site::new("[rooms.main]\nbatch = 1\n");
    for site in [site, here] {
        let log = site.start().stderr();
        assert!(!log.contains(OPEN), "{log}");
    }
}

#[test]
fn neither_a_login_nor_its_secret_is_logged_even_when_everything_is() {
    let site = Site::new("");
    let secret = site.with_file("secret", SECRET);
    site.configure(&settings("jwt", "secret_file", &secret));
    let server = site.start();
    let (good, bad) = (login(), format!("{}x", login()));
    assert_eq!(join(&server, &good).status, 201);
    assert_eq!(join(&server, &bad).status, 401);
    let log = server.stderr();
    assert!(
        log.contains("a login was refused"),
        "this needs a log: {log}"
    );
    for secret in good.split('.').chain(["hunter2"]) {
        assert!(!log.contains(secret), "{log}");
    }
    assert!(!site.ropeline("config show").result().contains("hunter2"));
}

#[test]
fn keys_of_a_set_that_are_of_no_use_are_warned_of() {
    let site = Site::new("");
    let set =
        json!({"keys": [LoginKey::hs256(SECRET).jwk_named("k"), LoginKey::es256().jwk_named("e")]});
    let file = site.with_file("jwks.json", set.to_string().as_bytes());
    site.configure(&settings("jwt", "jwks_file", &file));
    let log = site.start().stderr();
    let ignored = log.lines().filter(|line| line.contains("is ignored"));
    assert_eq!(ignored.count(), 1, "{log}");
}

#[test]
fn a_kept_room_whose_logins_can_no_longer_be_verified_is_told_of_and_takes_nobody() {
    let site = Site::new("");
    let secret = site.with_file("secret", SECRET);
    let vip = "[rooms.vip]\nbatch = 1\nidentity = 'jwt'\n";
    site.configure(&format!(
        "{}{vip}",
        settings("open", "secret_file", &secret)
    ));
    site.start().kill();
    // The logins of a box office would do.
    site.configure("[boxoffice]\nenabled = false\n");
    let server = site.start();
    let log = server.stderr();
    let told = log
        .lines()
        .find(|line| line.contains("nobody can join this room"));
    assert!(
        told.is_some_and(|line| line.contains("room.id=vip")),
        "{log}"
    );
    let bearer = format!("Bearer {}", login());
    let ask = Ask::post("/api/v1/queue/tokens").json(&json!({"room": "vip"}));
    let reply = server.client().send(&ask.header("Authorization", &bearer));
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (401, "LOGIN_INVALID")
    );
}
