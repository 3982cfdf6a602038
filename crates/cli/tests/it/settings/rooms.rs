//! What becomes of rooms at a restart, when their sections or they themselves were taken away.

use crate::process::Site;

const MAIN: &str = "[rooms.main]\nactive_max = 7\n";

/// The cap of a room, as `ropeline room show` tells it to programs.
fn cap(site: &Site, room: &str) -> u64 {
    let shown = site.ropeline(&format!("room show {room} --json")).result();
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    let cap = &shown["room"]["policy"]["activeMax"];
    cap.as_u64().unwrap_or_else(|| panic!("no cap: {shown}"))
}

#[test]
fn what_was_set_while_running_holds_until_the_section_is_edited() {
    let site = Site::new(MAIN);
    let server = site.start();
    site.ropeline("room set main active_max=9").result();
    server.kill();
    let server = site.start();
    assert_eq!(cap(&site, "main"), 9);
    server.kill();
    site.configure("[rooms.main]\nactive_max = 7\npass_ttl = '2m'\n");
    let _server = site.start();
    assert_eq!(cap(&site, "main"), 7, "the section is applied as a whole");
}

#[test]
fn without_its_section_a_room_stays_and_main_is_as_shipped() {
    let site = Site::new(&format!("{MAIN}[rooms.album]\nactive_max = 8\n"));
    site.start().kill();
    site.configure("");
    let _server = site.start();
    assert_eq!((cap(&site, "main"), cap(&site, "album")), (200, 8));
}

#[test]
fn a_deleted_room_is_made_again_if_its_section_is_still_there() {
    let site = Site::new("[rooms.album]\nactive_max = 8\n");
    let server = site.start();
    site.ropeline("room delete album --yes").result();
    assert_eq!(site.ropeline("room show album").code, Some(1));
    server.kill();
    let _server = site.start();
    assert_eq!(cap(&site, "album"), 8);
}
