//! `ropeline room`, against a server that runs.

use ropeline_testing::http::Ask;
use serde_json::{Value, json};

use crate::{
    process::{Server, Site},
    still::STILL_ROOM,
    visitor::{token_of, verify},
};

/// A server where `user-1` is inside `main`, and `user-2` and `user-3` wait.
pub(crate) fn three_visitors() -> (Site, Server) {
    let site = Site::new(&format!(
        "{STILL_ROOM}[rooms.album-sale]\nactive_max = 1200\n"
    ));
    let server = site.start();
    let mut client = server.client();
    for user in ["user-1", "user-2", "user-3"] {
        token_of(&mut client, user);
    }
    (site, server)
}

fn main_room(site: &Site, server: &Server) -> Value {
    server.room(&site.admin_key())
}

/// The body of an operator's question, as text.
fn asked(site: &Site, server: &Server, path: &str) -> String {
    let ask = Ask::get(path).header("Authorization", &format!("Bearer {}", site.admin_key()));
    String::from_utf8(server.client().send(&ask).body).expect("JSON is text")
}

#[test]
fn the_list_has_a_line_for_each_room() {
    let (site, _server) = three_visitors();
    let list = site.ropeline("room list").result();
    let lines: Vec<_> = list.lines().collect();
    let [head, album, main] = lines[..] else {
        panic!("{list}");
    };
    let width = head.chars().count();
    assert!(lines.iter().all(|line| line.len() == width), "{list}");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(head), "room state waiting inside lets in next wait");
    assert_eq!(words(album), "album-sale OPEN 0 0/1,200 as they leave none");
    let main = words(main);
    assert!(main.starts_with("main OPEN 2 1 1 every 30d "), "{main}");
    assert!(main.ends_with('h') || main.ends_with('d'), "{main}");
}

#[test]
fn a_room_is_shown_with_policy_and_figures() {
    let (site, _server) = three_visitors();
    let text = site.ropeline("room show main").result();
    for part in [
        "main is open\n\n",
        "\npeople      2 wait, 1 is inside; 3 joined so far\n",
        "\npolicy      1 every 30d, no cap inside, passes of 30d\n",
        "a used pass lasts for ever; nobody is stepped over for being away\n",
        "at most 5,000,000 in line; identity open\n",
        "\nnext wait   ",
        "\nper minute  ",
        "\nestimates   none came due in the last 15 minutes\n",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn programs_get_the_servers_own_json() {
    let (site, server) = three_visitors();
    let list = site.ropeline("room list --json").result();
    let path = "/api/v1/admin/rooms";
    assert_eq!(list.trim_end(), asked(&site, &server, path));
    let found = site.ropeline("room find main user-2 --json").result();
    let path = "/api/v1/admin/rooms/main/visitors/user-2";
    let (found, asked): (Value, Value) = (
        serde_json::from_str(&found).expect("JSON"),
        serde_json::from_str(&asked(&site, &server, path)).expect("JSON"),
    );
    assert_eq!(found["ordinal"], asked["ordinal"]);
    let shown = site.ropeline("room --json show main").result();
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown["room"], main_room(&site, &server));
    assert_eq!(shown["stats"]["waiting"], 2);
    for line in ["pause main", "set main waiting_max=7", "admit main 1"] {
        let text = site.ropeline(&format!("room {line} --json")).result();
        let view: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(view["room"], "main", "{line}");
    }
}

#[test]
fn a_changed_setting_is_shown_and_holds() {
    let (site, server) = three_visitors();
    let set = |line: &str| site.ropeline(&format!("room set main {line}")).result();
    assert_eq!(
        set("batch=100 active_max=7 every=10s presence_ttl=90s"),
        "every: 30d -> 10s\nbatch: 1 -> 100\nactive_max: no limit -> 7\npresence_ttl: 0s -> 90s\n"
    );
    let policy = main_room(&site, &server)["policy"].clone();
    assert_eq!(policy["batch"], 100);
    assert_eq!(policy["every"], "10s");
    assert_eq!(set("batch=none"), "batch: 100 -> no limit\n");
    assert_eq!(main_room(&site, &server)["policy"]["batch"], Value::Null);
    let same = "nothing changed: main was set so already\n";
    assert_eq!(set("batch=none"), same);
}

#[test]
fn every_setting_of_a_room_can_be_set() {
    let (site, _server) = three_visitors();
    let line = "room set album-sale every=7s batch=3 active_max=9 pass_ttl=61s pass_max=2h presence_ttl=45s \
                missed_turn_ttl=3m waiting_max=77 identity=anonymous";
    let changed = site.ropeline(line).result();
    assert_eq!(changed.lines().count(), 9, "{changed}");
}

#[test]
fn settings_that_cannot_be_are_all_refused_at_once() {
    let (site, server) = three_visitors();
    let before = main_room(&site, &server);
    let refused = |line: &str| site.ropeline(&format!("room set main {line}")).complaint(1);
    assert_eq!(
        refused("bacth=5 tick=1 every=10 batch=many pass_ttl=none waiting_max=3 waiting_max=4 pause"),
        "\
ropeline: bacth: is not a setting of a room; did you mean batch?
tick: is not a setting of a room
every: write a number with a unit: 250ms, 90s, 5m, 12h
batch: write a whole number, or none for no limit
pass_ttl: write a number with a unit: 250ms, 90s, 5m, 12h
waiting_max=4: was given twice
pause: write key=value, such as batch=100
The settings are: every, batch, active_max, pass_ttl, pass_max, presence_ttl, missed_turn_ttl, waiting_max, identity
"
    );
    // These only the server can judge.
    let judged = refused("batch=0 presence_ttl=1s");
    assert!(
        judged.contains("ropeline: batch: must be between 1 and"),
        "{judged}"
    );
    assert!(judged.contains("\npresence_ttl: must be"), "{judged}");
    assert_eq!(main_room(&site, &server)["policy"], before["policy"]);
}

#[test]
fn rooms_are_made_and_deleted() {
    let (site, _server) = three_visitors();
    let made = site.ropeline("room create encore --preset seed-001 active_max=40");
    assert_eq!(
        made.result(),
        "encore is made: 50 every 5s, at most 40 inside, passes of 5m\n"
    );
    let taken = site.ropeline("room create encore").complaint(1);
    assert!(taken.contains("`ropeline room set`"), "{taken}");
    let preset = site
        .ropeline("room create other --preset seed-9")
        .complaint(1);
    assert!(
        preset.starts_with("ropeline: preset: must be one of seed-000,"),
        "{preset}"
    );
    let deleted = site.ropeline("room delete encore --yes").result();
    assert_eq!(
        deleted,
        "encore is deleted (before: nobody waits, nobody is inside)\n"
    );
    let gone = site.ropeline("room show encore").complaint(1);
    assert_eq!(
        gone,
        "ropeline: there is no room encore\nThe rooms are: album-sale, main\n"
    );
    let main = site.ropeline("room delete main --yes").complaint(1);
    assert!(main.contains("Close or reset it instead"), "{main}");
}

#[test]
fn each_word_to_a_room_is_answered_with_what_came_of_it() {
    let (site, server) = three_visitors();
    for (line, effect, state) in [
        ("pause", "main is paused: 2 wait, 1 is inside", "PAUSED"),
        (
            "open",
            "main takes joins, and is still paused: 2 wait, 1 is inside",
            "PAUSED",
        ),
        ("resume", "main is open: 2 wait, 1 is inside", "OPEN"),
        ("close", "main is closed: 2 wait, 1 is inside", "CLOSED"),
        ("open", "main is open: 2 wait, 1 is inside", "OPEN"),
        (
            "drain",
            "main takes nobody new and empties: 2 wait, 1 is inside",
            "DRAINING",
        ),
    ] {
        let said = site.ropeline(&format!("room {line} main")).result();
        assert_eq!(said, format!("{effect}\n"), "{line}");
        assert_eq!(main_room(&site, &server)["state"], state, "{line}");
    }
}

#[test]
fn more_are_let_in_at_once() {
    let (site, server) = three_visitors();
    let said = site.ropeline("room admit main 2").result();
    assert_eq!(said, "main lets 2 more in: nobody waits, 3 are inside\n");
    assert_eq!(main_room(&site, &server)["active"], 3);
    site.ropeline("room admit main 0").complaint(2);
    let many = site.ropeline("room admit main 1000001").complaint(1);
    assert_eq!(many, "ropeline: count: must be between 1 and 1000000\n");
}

#[test]
fn nobody_is_put_out_without_a_yes() {
    let (site, server) = three_visitors();
    for deed in ["reset", "delete"] {
        let complaint = site.ropeline(&format!("room {deed} main")).complaint(1);
        let expected = format!(
            "ropeline: to {deed} main puts everybody out (2 wait, 1 is inside): add --yes to do it without being asked\n"
        );
        assert_eq!(complaint, expected);
    }
    assert_eq!(main_room(&site, &server)["waiting"], 2);
    let said = site.ropeline("room reset main --yes").result();
    let expected = "main is empty: nobody waits, nobody is inside (before: 2 wait, 1 is inside)\n";
    assert_eq!(said, expected);
    let room = main_room(&site, &server);
    assert_eq!((&room["waiting"], &room["active"]), (&json!(0), &json!(0)));
}

#[test]
fn a_visitor_is_found_and_put_out() {
    let (site, server) = three_visitors();
    token_of(&mut server.client(), "team/7?b%2F#1");
    let find = |user: &str| site.ropeline(&format!("room find main {user}"));
    let waits = find("user-3").result();
    assert!(
        waits.starts_with("user-3 waits in main at position 2, about "),
        "{waits}"
    );
    assert!(waits.ends_with(" to go (place number 3)\n"), "{waits}");
    let inside = find("user-1").result();
    assert!(
        inside.starts_with("user-1 is inside main, at least until 20"),
        "{inside}"
    );
    let odd = find("team/7?b%2F#1").result();
    assert!(odd.contains("at position 3"), "{odd}");
    let revoke = |user: &str| site.ropeline(&format!("room revoke main {user}"));
    assert_eq!(revoke("user-2").result(), "user-2 is out of main\n");
    let gone = "ropeline: user-2 has no place in main: neither in line nor inside\n";
    assert_eq!(revoke("user-2").complaint(1), gone);
    assert_eq!(find("user-2").complaint(1), gone);
    find("é").complaint(2);
    assert_eq!(main_room(&site, &server)["waiting"], 2, "the others stay");
}

#[test]
fn of_two_visitors_with_one_user_id_the_verified_one_is_found_first() {
    let key = "the-service-key-of-the-tests-0123456789";
    let site = Site::new(STILL_ROOM).with_flag("--service-key", key);
    let server = site.start();
    let mut client = server.client();
    for user in ["inside", "ann"] {
        token_of(&mut client, user);
    }
    let join = Ask::post("/api/v1/service/rooms/main/tokens").json(&json!({"userId": "ann"}));
    client.send(&join.header("Authorization", &format!("Bearer {key}")));
    let room = |line: &str| site.ropeline(&format!("room {line}"));
    for (flag, said) in [
        ("", "ann (verified) waits in main at position 2"),
        (" --verified", "ann (verified) waits in main at position 2"),
        (" --stated", "ann waits in main at position 1"),
    ] {
        let found = room(&format!("find main ann{flag}")).result();
        assert!(found.starts_with(said), "{found}");
    }
    room("find main ann --verified --stated").complaint(2);
    assert_eq!(
        room("revoke main ann --stated").result(),
        "ann is out of main\n"
    );
    let left = room("find main ann").result();
    assert!(left.starts_with("ann (verified)"), "{left}");
    room("revoke main ann --stated").complaint(1);
    assert_eq!(room("revoke main ann").result(), "ann is out of main\n");
}

#[test]
fn a_visitor_whose_user_id_is_no_part_of_a_path_is_found_and_put_out() {
    let (site, server) = three_visitors();
    for user in ["..", "a/../b", "a&b=c%2F"] {
        let token = token_of(&mut server.client(), user);
        let found = site.ropeline(&format!("room find main {user}")).result();
        assert!(
            found.starts_with(&format!("{user} waits in main")),
            "{found}"
        );
        let out = site.ropeline(&format!("room revoke main {user}")).result();
        assert_eq!(out, format!("{user} is out of main\n"));
        assert_eq!(server.client().send(&verify(&token)).status, 401);
    }
}
