//! SIGHUP: settings that are taken up while the server runs.

use std::{cell::Cell, fs, net::TcpStream, path::Path, time::Duration};

use ropeline_testing::{
    http::{Ask, Client},
    login::LoginKey,
    write_secret,
};
use serde_json::{Value, json};

use crate::{
    life::UnfinishedJoin,
    process::{Server, Site},
    wait::until,
};

/// What has not happened by then never will.
const PATIENCE: Duration = Duration::from_secs(10);
pub(crate) const RELOADED: &str = "the settings were reloaded";
const REFUSED: &str = "the settings were not reloaded, and nothing was changed";
const FIRST_KEY: &str = "the-first-key-of-these-tests";
const SECRET: &[u8] = b"the-secret-that-signs-the-logins";
const SECOND_KEY: &str = "the-second-key-of-these-tests";

/// Sends SIGHUP and waits until it has been answered; gives what was logged.
pub(crate) fn reload(server: &Server, answer: &str) -> String {
    let before = server.stderr();
    server.hang_up();
    until(PATIENCE, answer, || {
        let said = server.stderr();
        let fresh = said.strip_prefix(&before)?.to_owned();
        fresh.contains(answer).then_some(fresh)
    })
}

fn rooms(client: &mut Client, key: &str) -> u16 {
    let ask = Ask::get("/api/v1/admin/rooms");
    client
        .send(&ask.header("Authorization", &format!("Bearer {key}")))
        .status
}

/// Joins as a service with this key, and gives the status.
fn join_for_service(client: &mut Client, key: &str) -> u16 {
    let ask = Ask::post("/api/v1/service/rooms/main/tokens");
    client
        .send(&ask.header("Authorization", &format!("Bearer {key}")))
        .status
}

/// Creates a concert with this admin key, and gives the status.
fn create_concert(client: &mut Client, key: &str) -> u16 {
    let ask = Ask::post("/api/v1/admin/concerts").header("Authorization", &format!("Bearer {key}"));
    client.send(&ask.json(&json!({"title": "A night"}))).status
}

fn policy<'a>(room: &'a Value, name: &str) -> &'a Value {
    &room["policy"][name]
}

#[test]
fn a_changed_section_is_applied_without_a_restart() {
    let site = Site::new("[rooms.main]\nbatch = 7\n");
    let server = site.start();
    let key = site.admin_key();
    site.ropeline("room set main active_max=9").result();
    let said = reload(&server, RELOADED);
    assert!(!said.contains("changed"), "the file is as it was: {said}");
    assert_eq!(
        policy(&server.room(&key), "activeMax"),
        9,
        "a live change stays"
    );

    site.configure("[rooms.main]\nbatch = 8\n[rooms.vip]\nbatch = 1\n");
    let said = reload(&server, RELOADED);
    assert!(
        said.contains("room.id=main room.change=\"batch: 7 -> 8\""),
        "{said}"
    );
    assert!(said.contains("room.id=vip"), "{said}");
    let room = server.room(&key);
    assert_eq!(policy(&room, "batch"), 8);
    assert_eq!(
        policy(&room, "activeMax"),
        &Value::Null,
        "a section is applied as a whole"
    );
    assert!(site.ropeline("room list").result().contains("vip"));
}

#[test]
fn settings_with_problems_change_nothing_and_all_problems_are_named() {
    let site = Site::new("[rooms.main]\nbatch = 7\n");
    let server = site.start();
    site.configure("token_ttl = 'for ever'\n[rooms.main]\nbatch = 8\nevery = 'often'\n");
    let said = reload(&server, REFUSED);
    for part in ["token_ttl", "rooms.main.every", "problems=2"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(policy(&server.room(&site.admin_key()), "batch"), 7);
    site.configure("[rooms.main]\nbatch = 8\n");
    reload(&server, RELOADED);
    assert_eq!(policy(&server.room(&site.admin_key()), "batch"), 8);
}

#[test]
fn what_needs_a_restart_is_named_each_time_and_stays_as_it_was() {
    let site = Site::new("[limits]\nidle = '60s'\n");
    let server = site.start();
    site.configure("public_url = 'https://tickets.example.com'\n[limits]\nidle = '30s'\n");
    for _ in 0..2 {
        let said = reload(&server, RELOADED);
        for part in [
            "setting.name=\"public_url\"",
            "setting.name=\"limits.idle\" setting.running=\"\\\"1m\\\"\" setting.new=\"\\\"30s\\\"\"",
            "needs a restart",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    site.configure("[limits]\nidle = '60s'\n");
    let said = reload(&server, RELOADED);
    assert!(!said.contains("needs a restart"), "{said}");
}

#[test]
fn another_admin_key_holds_at_once_and_ends_every_session() {
    let site = Site::new("");
    let file = site.with_file("key", FIRST_KEY.as_bytes());
    site.configure(&format!("admin_key_file = '{}'\n", file.display()));
    let server = site.start();
    let mut client = server.client();
    let form = format!("key={FIRST_KEY}");
    let login = Ask::post("/admin/login").raw("application/x-www-form-urlencoded", form.as_bytes());
    let opened = client.send(&login);
    let cookie = opened
        .header("set-cookie")
        .and_then(|cookie| cookie.split(';').next());
    let cookie = cookie.expect("a session").to_owned();
    let by_session = || {
        let ask = Ask::get("/api/v1/admin/rooms").header("Cookie", &cookie);
        server.client().send(&ask).status
    };
    assert_eq!((rooms(&mut client, FIRST_KEY), by_session()), (200, 200));
    reload(&server, RELOADED);
    assert_eq!(by_session(), 200, "the same key ends nothing");

    write_secret(&file, SECOND_KEY);
    let said = reload(&server, RELOADED);
    assert!(said.contains("the admin key has changed"), "{said}");
    assert!(!said.contains(SECOND_KEY), "{said}");
    assert_eq!(rooms(&mut client, SECOND_KEY), 200);
    assert_eq!((rooms(&mut client, FIRST_KEY), by_session()), (401, 401));
}

#[test]
fn the_key_that_the_first_start_made_can_be_replaced_without_a_restart() {
    let site = Site::new("");
    let server = site.start();
    let before = site.admin_key();
    fs::remove_file(site.data().join("admin.key")).expect("made by the first start");
    reload(&server, RELOADED);
    let after = site.admin_key();
    assert_ne!(before, after);
    let mut client = server.client();
    assert_eq!(rooms(&mut client, &after), 200);
    assert_eq!(rooms(&mut client, &before), 401);
}

#[test]
fn a_reload_that_makes_an_admin_key_says_where_it_is() {
    let site = Site::new("");
    let file = site.with_file("key", FIRST_KEY.as_bytes());
    site.configure(&format!("admin_key_file = '{}'\n", file.display()));
    let server = site.start();
    site.configure("");
    let said = reload(&server, RELOADED);
    let key = site.admin_key();
    let place = format!("in {}, made now", site.data().join("admin.key").display());
    assert!(said.contains(&place), "{said}");
    assert!(!said.contains(&key), "{said}");
    server.room(&key);
}

#[test]
fn logins_are_gained_and_follow_the_settings() {
    let site = Site::new("");
    let server = site.start();
    let room = "[rooms.main]\nbatch = 1\nidentity = 'jwt'\n";
    let keys = ["first", "second"].map(|name| (name, LoginKey::hs256(&secret(name))));
    let files = keys
        .each_ref()
        .map(|(name, _)| site.with_file(name, &secret(name)));
    let settings = |file: &Path, audience: &str| {
        format!(
            "[login]\nsecret_file = '{}'\nissuer = 'i'\naudience = '{audience}'\n{room}",
            file.display()
        )
    };
    let users = Cell::new(0);
    let join = |at: usize, audience: &str| {
        let (_, key) = &keys[at];
        let user = users.replace(users.get() + 1).to_string();
        let claims = json!({"iss": "i", "aud": audience, "sub": user, "exp": 4_000_000_000_u64});
        let bearer = format!("Bearer {}", key.login(&claims));
        let ask = Ask::post("/api/v1/queue/tokens").header("Authorization", &bearer);
        server.client().send(&ask).status
    };
    // Gained.
    site.configure(&settings(&files[0], "a"));
    let said = reload(&server, RELOADED);
    assert!(said.contains("setting.name=\"login"), "{said}");
    assert_eq!((join(0, "a"), join(1, "a")), (201, 401));
    // Another file, and another audience of the same file.
    site.configure(&settings(&files[1], "a"));
    reload(&server, RELOADED);
    assert_eq!((join(0, "a"), join(1, "a")), (401, 201));
    site.configure(&settings(&files[1], "b"));
    reload(&server, RELOADED);
    assert_eq!((join(1, "a"), join(1, "b")), (401, 201));
    // The same file with another key, which a reload takes up without waiting.
    write_secret(&files[1], secret("first"));
    reload(&server, RELOADED);
    assert_eq!((join(0, "b"), join(1, "b")), (201, 401));
    // A file that cannot be used changes nothing.
    site.configure(&settings(&site.with_file("short", b"short"), "b"));
    let said = reload(&server, REFUSED);
    assert!(said.contains("login"), "{said}");
    assert_eq!(join(0, "b"), 201);
}

#[test]
fn logins_that_are_taken_away_go_on_until_a_restart() {
    let site = Site::new("");
    let file = site.with_file("secret", &secret("first"));
    site.configure(&format!(
        "[login]\nsecret_file = '{}'\nissuer = 'i'\naudience = 'a'\n[rooms.main]\nbatch = 1\nidentity = 'jwt'\n",
        file.display()
    ));
    let server = site.start();
    site.configure("[rooms.main]\nbatch = 2\n");
    for _ in 0..2 {
        let said = reload(&server, RELOADED);
        assert!(said.contains("setting.name=\"login"), "{said}");
        assert!(said.contains("needs a restart"), "{said}");
    }
    let claims = json!({"iss": "i", "aud": "a", "sub": "ann", "exp": 4_000_000_000_u64});
    let bearer = format!(
        "Bearer {}",
        LoginKey::hs256(&secret("first")).login(&claims)
    );
    let ask = Ask::post("/api/v1/queue/tokens").header("Authorization", &bearer);
    assert_eq!(server.client().send(&ask).status, 201);
}

#[test]
fn a_hangup_while_the_server_stops_ends_nothing_early() {
    let site = Site::new("[rooms.main]\nbatch = 7\n");
    let mut server = site.start();
    let stream = TcpStream::connect(server.address()).expect("a server that is ready");
    let mut request = UnfinishedJoin::send(stream);
    server.terminate();
    until(PATIENCE, "the stop is logged", || {
        server.stderr().contains("stopping").then_some(())
    });
    site.configure("[rooms.main]\nbatch = 8\n");
    let said = reload(&server, RELOADED);
    assert!(said.contains("batch: 7 -> 8"), "{said}");
    request.finish();
    // One that comes while the last things are written must not end the process either.
    server.hang_up();
    assert_eq!(server.ended_within(PATIENCE).code(), Some(0));
    let server = site.start();
    assert_eq!(policy(&server.room(&site.admin_key()), "batch"), 8);
    assert!(
        !server.stdout().contains("changed:"),
        "it was applied by the reload"
    );
}

#[test]
fn the_last_of_several_hangups_holds() {
    let site = Site::new("[rooms.main]\nbatch = 1\n");
    let server = site.start();
    for batch in 2..=20 {
        site.configure(&format!("[rooms.main]\nbatch = {batch}\n"));
        server.hang_up();
        server.hang_up();
    }
    let key = site.admin_key();
    until(PATIENCE, "the last settings hold", || {
        (policy(&server.room(&key), "batch") == 20).then_some(())
    });
    let log = server.stderr();
    assert!(!log.contains("ERROR") && !log.contains("WARN"), "{log}");
}

/// A secret of the length that a login key must have.
fn secret(name: &str) -> Vec<u8> {
    name.bytes().cycle().take(32).collect()
}

#[test]
fn a_short_key_is_not_taken_up_where_others_can_try_keys() {
    let site = Site::beyond_loopback("");
    let server = site.start();
    let (key, mut client) = (site.admin_key(), server.client());
    write_secret(&site.data().join("admin.key"), "abc");
    let said = reload(&server, RELOADED);
    assert!(said.contains("at least 16 characters"), "{said}");
    assert_eq!(
        (rooms(&mut client, &key), rooms(&mut client, "abc")),
        (200, 401)
    );
}

#[test]
fn a_short_key_is_not_taken_up_with_an_address_that_needs_a_restart() {
    let public = "trusted_proxies = ['10.0.0.0/8']\n";
    let site = Site::new(public);
    let admin = site.with_file("admin", FIRST_KEY.as_bytes());
    let service = site.with_file("service", SECOND_KEY.as_bytes());
    let keys = format!(
        "admin_key_file = '{}'\nservice_key_file = '{}'\n",
        admin.display(),
        service.display()
    );
    site.configure(&format!("{public}{keys}"));
    let server = site.start();
    let mut client = server.client();
    for file in [&admin, &service] {
        write_secret(file, "abc");
    }
    // Without the proxy short keys would do, but it is believed until the next start.
    site.configure(&keys);
    let said = reload(&server, RELOADED);
    for part in [
        "the admin key stays as it was",
        "the service key stays as it was",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(
        (rooms(&mut client, FIRST_KEY), rooms(&mut client, "abc")),
        (200, 401)
    );
    let mut join = |key: &str| join_for_service(&mut client, key);
    assert_eq!((join(SECOND_KEY), join("abc")), (201, 401));
}

#[test]
fn another_service_key_holds_at_once() {
    let site = Site::new("");
    let file = site.with_file("key", FIRST_KEY.as_bytes());
    site.configure(&format!("service_key_file = '{}'\n", file.display()));
    let server = site.start();
    let mut client = server.client();
    let mut join = |key: &str| join_for_service(&mut client, key);
    assert_eq!(join(FIRST_KEY), 201);
    write_secret(&file, SECOND_KEY);
    reload(&server, RELOADED);
    assert_eq!((join(FIRST_KEY), join(SECOND_KEY)), (401, 201));
    site.configure("");
    reload(&server, RELOADED);
    assert_eq!(join(SECOND_KEY), 401, "no service is believed any more");
}

#[test]
fn the_level_of_the_log_and_the_rates_are_taken_up() {
    let site = Site::new("[log]\nlevel = 'warn'\n");
    let server = site.start();
    site.configure("[log]\nlevel = 'info'\n[rate_limits]\nadmin_per_minute = 1\n");
    let said = reload(&server, RELOADED);
    assert!(said.contains("setting.name=\"log.level\""), "{said}");
    let (key, mut client) = (site.admin_key(), server.client());
    assert_eq!(
        [rooms(&mut client, &key), rooms(&mut client, &key)],
        [200, 429]
    );
}

#[test]
fn a_box_office_of_its_own_takes_up_another_admin_key() {
    let rooms = Site::new("").with_variable("ROPELINE_SERVICE_KEY", FIRST_KEY);
    let room = rooms.start();
    let books = Site::new("").with_variable("ROPELINE_SERVICE_KEY", FIRST_KEY);
    let file = books.with_file("key", FIRST_KEY.as_bytes());
    books.configure(&format!("admin_key_file = '{}'\n", file.display()));
    let office = books.start_as(&format!("boxoffice --gate http://{}", room.address()));
    let mut client = office.client();
    let mut create = |key: &str| create_concert(&mut client, key);
    assert_eq!(create(FIRST_KEY), 201);
    write_secret(&file, SECOND_KEY);
    books.configure(&format!(
        "admin_key_file = '{}'\nboxoffice.hold_ttl = '1m'\n",
        file.display()
    ));
    let said = reload(&office, RELOADED);
    assert!(said.contains("boxoffice.hold_ttl"), "{said}");
    assert_eq!((create(FIRST_KEY), create(SECOND_KEY)), (401, 201));
}

#[test]
fn a_box_office_of_its_own_takes_up_no_short_key_where_others_can_try_keys() {
    let rooms = Site::new("").with_variable("ROPELINE_SERVICE_KEY", FIRST_KEY);
    let room = rooms.start();
    let books = Site::new("").with_variable("ROPELINE_SERVICE_KEY", FIRST_KEY);
    let file = books.with_file("key", FIRST_KEY.as_bytes());
    let key = format!("admin_key_file = '{}'\n", file.display());
    books.configure(&format!("{key}trusted_proxies = ['10.0.0.0/8']\n"));
    let office = books.start_as(&format!("boxoffice --gate http://{}", room.address()));
    write_secret(&file, "abc");
    books.configure(&key);
    let said = reload(&office, RELOADED);
    assert!(said.contains("the admin key stays as it was"), "{said}");
    let mut client = office.client();
    let mut create = |key: &str| create_concert(&mut client, key);
    assert_eq!((create(FIRST_KEY), create("abc")), (201, 401));
}

#[test]
fn a_room_is_not_closed_to_all_by_a_box_office_that_needs_a_restart() {
    let site = Site::new("[rooms.main]\nbatch = 7\n");
    let server = site.start();
    let key = site.admin_key();
    site.configure("[boxoffice]\n[rooms.main]\nbatch = 8\nidentity = 'jwt'\n");
    for _ in 0..2 {
        let said = reload(&server, RELOADED);
        for part in [
            "setting.name=\"boxoffice.enabled\"",
            "room.id=main",
            "this room stays as it was",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    let room = server.room(&key);
    assert_eq!(policy(&room, "identity"), "open");
    assert_eq!(policy(&room, "batch"), 7);
    let join = Ask::post("/api/v1/queue/tokens").json(&json!({"userId": "ann"}));
    assert_eq!(server.client().send(&join).status, 201);
    drop(server);
    let server = site.start();
    assert_eq!(policy(&server.room(&key), "identity"), "jwt");
}

#[test]
fn logins_are_not_taken_up_while_the_box_office_serves() {
    let site = Site::new("[boxoffice]\n");
    let server = site.start();
    let secret = site.with_file("secret", SECRET);
    let login = format!(
        "[login]\nsecret_file = '{}'\nissuer = 'i'\naudience = 'a'\n",
        secret.display()
    );
    site.configure(&format!("[boxoffice]\n{login}"));
    let said = reload(&server, REFUSED);
    assert!(said.contains("setting.name=\"login\""), "{said}");
    site.configure(&login);
    let said = reload(&server, RELOADED);
    for name in ["boxoffice.enabled", "login.issuer"] {
        let line = said.lines().find(|line| line.contains(name));
        assert!(
            line.is_some_and(|line| line.contains("needs a restart")),
            "{name}: {said}"
        );
    }
    let end_of_time = u64::from(u32::MAX) * 2;
    let claims = json!({"iss": "i", "aud": "a", "sub": "7", "exp": end_of_time});
    let login = LoginKey::hs256(SECRET).login(&claims);
    let ask = Ask::post("/api/v1/queue/tokens");
    let joined = server
        .client()
        .send(&ask.header("Authorization", &format!("Bearer {login}")));
    assert_eq!(joined.code(), "LOGIN_INVALID");
}
