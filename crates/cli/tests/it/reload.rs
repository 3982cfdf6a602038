//! SIGHUP: settings that are taken up while the server runs.

use std::{fs, time::Duration};

use ropeline_testing::{
    http::{Ask, Client},
    write_secret,
};
use serde_json::Value;

use crate::{
    process::{Server, Site},
    wait::until,
};

/// What has not happened by then never will.
const PATIENCE: Duration = Duration::from_secs(10);
pub(crate) const RELOADED: &str = "the settings were reloaded";
const REFUSED: &str = "the settings were not reloaded, and nothing was changed";
const FIRST_KEY: &str = "the-first-key-of-these-tests";
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
fn another_service_key_holds_at_once() {
    let site = Site::new("");
    let file = site.with_file("key", FIRST_KEY.as_bytes());
    site.configure(&format!("service_key_file = '{}'\n", file.display()));
    let server = site.start();
    let mut client = server.client();
    let mut join = |key: &str| {
        let ask = Ask::post("/api/v1/service/rooms/main/tokens");
        client
            .send(&ask.header("Authorization", &format!("Bearer {key}")))
            .status
    };
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
    let mut create = |key: &str| {
        let ask =
            Ask::post("/api/v1/admin/concerts").header("Authorization", &format!("Bearer {key}"));
        client
            .send(&ask.json(&serde_json::json!({"title": "A night"})))
            .status
    };
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
