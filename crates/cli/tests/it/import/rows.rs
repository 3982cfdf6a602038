//! Rows of a file.

use std::{fs, io::Write, process::Stdio};

use ropeline_testing::{http::Ask, login::LoginKey};
use serde_json::{Value, json};

use super::{ROOM, import, tokens};
use crate::{
    Said,
    process::{Site, mode},
    still::STILL_ROOM,
    visitor::{Place, join, leave, status, token_of, verify},
};

const SECRET: &[u8] = b"a secret of the tests, 32 bytes.";

fn row(user: impl Into<Value>, issued_at: impl Into<Value>, status: &str) -> String {
    let row = json!({"userId": user.into(), "issuedAt": issued_at.into(), "status": status});
    format!("{row}\n")
}

/// Puts the rows beside the settings and imports them.
fn import_rows(site: &Site, rows: &str) -> Said {
    let file = site.with_file("queue.jsonl", rows.as_bytes());
    import(site, &format!("import {}", file.display()))
}

#[track_caller]
fn succeeded(said: Said) -> String {
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (Some(0), ""),
        "{}",
        said.stderr
    );
    said.stderr
}

#[test]
fn a_file_without_rows_is_taken_for_a_failed_export() {
    let site = Site::new(ROOM);
    let failed = "ERROR 2002 (HY000): Can't connect to local server through socket\n";
    for (text, said) in [
        ("", "queue.jsonl has no rows. Did the export fail?"),
        ("\n\n", "queue.jsonl has no rows. Did the export fail?"),
        (failed, "queue.jsonl has no rows that can be taken over."),
    ] {
        let file = site.with_file("queue.jsonl", text.as_bytes());
        for flags in ["", " --dry-run"] {
            let complaint =
                import(&site, &format!("import {}{flags}", file.display())).complaint(1);
            assert!(complaint.contains(said), "{complaint}");
            assert!(complaint.contains("--allow-empty"), "{complaint}");
            assert!(
                !site.data().join("rooms.redb").exists(),
                "nothing is opened"
            );
        }
        let allowed = format!("import {} --allow-empty", file.display());
        assert!(succeeded(import(&site, &allowed)).contains("0 rows taken over"));
        fs::remove_dir_all(site.data()).unwrap();
    }
    let ended = row(7, "2024-06-01 09:00:00", "EXPIRED");
    assert!(succeeded(import_rows(&site, &ended)).contains("1 skipped"));
}

#[test]
fn ten_thousand_rows_are_where_they_were_whatever_stands_between_them() {
    let site = Site::new(ROOM);
    // Every third row from the back, so that no row follows the one before it.
    let order = (0..3).flat_map(|part| (0..10_000_u64).rev().filter(move |n| n % 3 == part));
    let mut rows = String::new();
    for n in order {
        let word = if n < 5 { "ACTIVE" } else { "WAITING" };
        let issued_at = format!("2024-07-01 09:{:02}:{:02}", n / 600 % 60, n / 10 % 60);
        rows += &row(n, issued_at, word);
        if n % 1_000 == 7 {
            rows += &row(n, "2024-07-01 23:00:00", "WAITING");
            rows += "{\"userId\": \n";
            rows += &row(format!("old-{n}"), "2024-06-01 09:00:00", "EXPIRED");
        }
    }
    let said = succeeded(import_rows(&site, &rows));
    for part in [
        "10,000 rows taken over",
        "3 inside, 2 at the door and 9,995 in line",
        "10 skipped, for they had ended; 20 rejected.",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let tokens = tokens(&site);
    assert_eq!(tokens.len(), 10_000);
    // Ten rows have the same moment each, and of those the file has the multiples of three first.
    let mut expected: Vec<u64> = (5..10_000).collect();
    expected.sort_by_key(|n| (n / 10, n % 3, u64::MAX - n));
    let waiting = tokens[5..]
        .iter()
        .map(|(user, _)| user.parse::<u64>().unwrap());
    assert!(
        waiting.eq(expected.iter().copied()),
        "in the order of issuedAt and of the file"
    );

    let server = site.start();
    let mut client = server.client();
    for at in [0, 1, 2, 3, 4, 5, 6, 4_999, 9_999] {
        let (user, token) = &tokens[at];
        let place = Place::of(&client.send(&status(token))).unwrap();
        let (word, ahead) = match at {
            0..3 => ("ACTIVE", 0),
            // Those at the door count each other; those in line do not count them.
            3..5 => ("WAITING", at as u64 - 3),
            at => ("WAITING", at as u64 - 5),
        };
        let ordinal = at as u64 + 1;
        assert_eq!(
            place,
            Place {
                ordinal,
                status: word.into(),
                ahead
            },
            "{user}"
        );
        let passes = if at < 3 { 204 } else { 403 };
        assert_eq!(client.send(&verify(token)).status, passes, "{user}");
        let first = client.send(&join(user));
        assert_eq!(first.status, 201, "{}", first.json());
        assert_eq!(Place::of(&first).unwrap().ordinal, ordinal);
        assert_eq!(client.send(&join(user)).code(), "DUPLICATED_TOKEN");
    }
    let door = client.send(&status(&tokens[3].1)).json();
    assert_eq!(door["position"], 1);
    assert_eq!(client.send(&leave(&tokens[0].1)).status, 204);
    let in_now = client.send(&status(&tokens[3].1)).json();
    assert_eq!(in_now["status"], "ACTIVE", "the door comes before the line");
}

#[test]
fn the_place_view_tells_when_the_place_was_given_in_the_first_place() {
    let site = Site::new(ROOM);
    succeeded(import_rows(
        &site,
        &row("ann", "2024-07-01T18:00:00+09:00", "WAIT"),
    ));
    let server = site.start();
    let view = server.client().send(&status(&tokens(&site)[0].1)).json();
    assert_eq!(view["issuedAt"], "2024-07-01T09:00:00.000Z");
    assert_eq!(view["userId"], "ann");
}

#[test]
fn a_dry_run_judges_the_rows_beside_a_running_server_and_changes_nothing() {
    let site = Site::new(STILL_ROOM);
    let server = site.start();
    let rows = [row(1, 1, "ACTIVE"), row(2, 2, "WAIT"), "x\n".to_owned()].concat();
    let file = site.with_file("queue.jsonl", rows.as_bytes());
    let said = site.ropeline(&format!("import {} --dry-run", file.display()));
    let said = succeeded(said);
    let expected = "\
line 3: not a JSON object: expected value at line 1 column 1
2 rows would be taken over: 1 inside and 1 waiting. Nothing was changed.
0 skipped, for they had ended; 1 rejected.
";
    assert_eq!(said, expected);
    token_of(&mut server.client(), "1");
    assert_eq!(server.room(&site.admin_key())["issued"], 1);
}

#[test]
fn an_import_beside_a_running_server_is_refused_with_its_process() {
    let site = Site::new(STILL_ROOM);
    let server = site.start();
    let complaint = import_rows(&site, &row(1, 1, "WAIT")).complaint(1);
    for part in [format!("pid {}", server.pid()), "server stopped".to_owned()] {
        assert!(complaint.contains(&part), "{complaint}");
    }
}

#[test]
fn the_same_import_again_gives_the_same_places() {
    let site = Site::new(ROOM);
    let rows: String = (1..=700).map(|n| row(n, n, "WAIT")).collect();
    succeeded(import_rows(&site, &rows));
    let first = tokens(&site);
    let said = succeeded(import_rows(&site, &rows));
    assert!(
        said.starts_with("0 rows taken over by the room main (700 more had been before)"),
        "{said}"
    );
    let second = tokens(&site);
    let server = site.start();
    let mut client = server.client();
    for at in [0, 699] {
        let [one, two] =
            [&first[at].1, &second[at].1].map(|token| client.send(&status(token)).json());
        assert_eq!(one["ordinal"], two["ordinal"]);
    }
}

#[test]
fn who_has_a_place_here_keeps_it_and_nobody_is_overtaken() {
    let site = Site::new(STILL_ROOM);
    let server = site.start();
    for user in ["ann", "bob"] {
        token_of(&mut server.client(), user);
    }
    drop(server);
    let rows = [
        row("bob", 1, "WAIT"),
        row("cat", 2, "ACTIVE"),
        row("dan", 3, "WAIT"),
    ]
    .concat();
    let said = succeeded(import_rows(&site, &rows));
    for part in [
        "line 1: userId bob has place 2 already",
        "line 2: userId cat was inside, and would overtake",
        "1 rows taken over",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let users: Vec<_> = tokens(&site).into_iter().map(|(user, _)| user).collect();
    assert_eq!(users, ["dan"]);
}

#[test]
fn every_row_that_is_left_out_can_be_written_down() {
    let site = Site::new(ROOM);
    let rows = [
        row(1, 1, "WAIT"),
        row(1, 2, "WAIT"),
        row(3, 3, "만료"),
        "x\n".to_owned(),
    ]
    .concat();
    let file = site.with_file("queue.jsonl", rows.as_bytes());
    let rejected = file.with_file_name("rejected.jsonl");
    let line = format!(
        "import {} --rejected {}",
        file.display(),
        rejected.display()
    );
    succeeded(import(&site, &line));
    let text = fs::read_to_string(rejected).unwrap();
    let entries: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let brief: Vec<_> = entries
        .iter()
        .map(|e| (&e["line"], &e["outcome"]))
        .collect();
    let [three, four, two] = [3, 4, 2].map(Value::from);
    let [skipped, rejected] = ["skipped", "rejected"].map(Value::from);
    assert_eq!(
        brief,
        [(&three, &skipped), (&four, &rejected), (&two, &rejected)]
    );
}

#[test]
fn rows_are_taken_from_standard_input_and_tokens_go_to_standard_output() {
    let site = Site::new(ROOM);
    let mut command = site.command("import -");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(row(7, 1, "WAIT").as_bytes())
        .unwrap();
    let said = Said::from(child.wait_with_output().unwrap());
    let entry: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(entry["userId"], "7");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

#[test]
fn tokens_are_for_their_owner_alone_and_never_replace_a_file() {
    let site = Site::new(ROOM);
    succeeded(import_rows(&site, &row(1, 1, "WAIT")));
    let out = site.data().with_file_name("tokens.jsonl");
    assert_eq!(mode(&out), 0o600);
    let file = site.with_file("queue.jsonl", row(2, 1, "WAIT").as_bytes());
    let line = format!("import {} --out {}", file.display(), out.display());
    let complaint = site.ropeline(&line).complaint(1);
    assert!(complaint.contains("tokens.jsonl"), "{complaint}");
    assert_eq!(tokens(&site).len(), 1);
}

/// The settings of a room with this identity, and logins signed with [`SECRET`].
fn with_logins(site: &Site, identity: &str) {
    let secret = site.with_file("secret", SECRET);
    site.configure(&format!(
        "{ROOM}identity = '{identity}'\n[login]\nsecret_file = '{}'\nissuer = 'i'\naudience = 'a'\n",
        secret.display()
    ));
}

fn join_by_login(user: &str) -> Ask {
    let end_of_time = u64::from(u32::MAX) * 2;
    let claims = json!({"iss": "i", "aud": "a", "sub": user, "exp": end_of_time});
    let login = LoginKey::hs256(SECRET).login(&claims);
    Ask::post("/api/v1/queue/tokens").header("Authorization", &format!("Bearer {login}"))
}

#[test]
fn places_of_verified_users_are_claimed_by_their_logins_alone() {
    for identity in ["open", "jwt"] {
        let site = Site::new("");
        with_logins(&site, identity);
        let rows = [row("ann", 1, "WAIT"), row("bob", 2, "WAIT")].concat();
        let file = site.with_file("queue.jsonl", rows.as_bytes());
        let said = succeeded(import(
            &site,
            &format!("import {} --verified", file.display()),
        ));
        assert!(
            said.contains("their first join with a login has their place"),
            "{said}"
        );
        let tokens = tokens(&site);
        let server = site.start();
        let mut client = server.client();
        let stranger = client.send(&join("ann"));
        match identity {
            "open" => assert_eq!(Place::of(&stranger).unwrap().ordinal, 3),
            _ => assert_eq!(stranger.code(), "LOGIN_REQUIRED"),
        }
        let ann = client.send(&join_by_login("ann"));
        assert_eq!((ann.status, Place::of(&ann).unwrap().ordinal), (201, 1));
        let bob = client.send(&verify(&tokens[1].1));
        assert_eq!(bob.header("x-queue-user-verified"), Some("true"));
    }
}

#[test]
fn a_room_of_logins_takes_over_only_verified_users() {
    let site = Site::new("");
    with_logins(&site, "jwt");
    let file = site.with_file("queue.jsonl", row("ann", 1, "WAIT").as_bytes());
    let line = format!("import {}", file.display());
    let complaint = import(&site, &line).complaint(1);
    for part in [
        "identity = \"jwt\"",
        "add --verified",
        "Nothing was changed",
    ] {
        assert!(complaint.contains(part), "{complaint}");
    }
    let foreseen = succeeded(import(&site, &format!("{line} --dry-run")));
    assert!(
        foreseen.contains("warning: [rooms.main] has identity = \"jwt\""),
        "{foreseen}"
    );
}

#[test]
fn the_identity_that_a_room_was_given_while_running_counts() {
    let site = Site::new("");
    with_logins(&site, "jwt");
    let server = site.start();
    site.ropeline("room set main identity=open").result();
    server.kill();
    let said = succeeded(import_rows(&site, &row("ann", 1, "WAIT")));
    assert!(said.contains("1 rows taken over"), "{said}");
    let ann = site.start().client().send(&join("ann"));
    assert_eq!((ann.status, Place::of(&ann).unwrap().ordinal), (201, 1));
}

#[test]
fn stated_ids_in_the_room_of_the_box_office_are_warned_of() {
    const WARNING: &str = "warning: the box office sells behind the room main";
    for (settings, more, warned) in [
        ("[boxoffice]\n", "", true),
        ("[boxoffice]\n", " --dry-run", true),
        ("[boxoffice]\n", " --verified", false),
        (
            "[boxoffice]\nroom = 'hall'\n[rooms.hall]\nbatch = 1\n",
            "",
            false,
        ),
        ("", "", false),
    ] {
        let site = Site::new(settings);
        let file = site.with_file("queue.jsonl", row(7, 1, "WAIT").as_bytes());
        let said = succeeded(import(&site, &format!("import {}{more}", file.display())));
        assert_eq!(said.contains(WARNING), warned, "{settings}{more}: {said}");
    }
}

#[test]
fn a_room_that_is_nowhere_takes_nobody_over() {
    let site = Site::new(ROOM);
    let file = site.with_file("queue.jsonl", row(1, 1, "WAIT").as_bytes());
    let line = format!("import {} --room elsewhere", file.display());
    let complaint = import(&site, &line).complaint(1);
    assert!(complaint.contains("[rooms.elsewhere]"), "{complaint}");
}

#[test]
fn the_grace_says_how_long_an_empty_chair_is_kept() {
    let room = "[rooms.main]\nevery = \"1s\"\nbatch = 1\nactive_max = 1\npass_ttl = \"2s\"\npresence_ttl = \"10s\"\n";
    for (grace, word) in [("1h", "active"), ("0s", "aside")] {
        let site = Site::new(room);
        let rows = [row(1, 1, "ACTIVE"), row(2, 2, "WAIT")].concat();
        let file = site.with_file("queue.jsonl", rows.as_bytes());
        succeeded(import(
            &site,
            &format!("import {} --grace {grace}", file.display()),
        ));
        let server = site.start();
        let key = site.admin_key();
        let figures = crate::wait::until(
            std::time::Duration::from_secs(10),
            "the second has a turn",
            || {
                let room = server.room(&key);
                (room["waiting"] == 0).then_some(room)
            },
        );
        assert_eq!(figures[word], 1, "{grace}: {figures}");
    }
}
