//! `ropeline load crowd`, against an honest server and against liars.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use serde_json::Value;

use crate::{
    Said, Shell,
    liar::{self, Fate, Passing},
    process::{Server, Site},
};

const QUICK: &str = "\
[rooms.main]
every = \"200ms\"
batch = 12
active_max = 60
pass_ttl = \"3s\"
pass_max = \"1m\"
presence_ttl = \"3s\"
";
/// A crowd that is through within a few seconds.
const SMALL: &str = "load crowd --visitors 150 --arrive 1s --stay 200ms..600ms --away 1s..2s";

fn report(said: &Said) -> Value {
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    serde_json::from_str(&said.stdout).expect("one JSON object")
}

/// What a small crowd says of a server whose answers are changed on the way.
fn through_liar(
    server: &Server,
    lie: impl Fn(&mut Passing) -> Fate + Clone + Send + 'static,
) -> Said {
    let liar = liar::before(server.address(), lie);
    Shell::new().ropeline(&format!("{SMALL} --url http://{liar} --cap 60"))
}

fn assert_caught(said: &Said, rule: &str) {
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains(rule), "{rule}:\n{}", said.stdout);
    assert!(said.stderr.contains("wrong answers"), "{}", said.stderr);
}

#[test]
fn an_honest_server_is_found_right_and_the_report_says_how_it_was() {
    let site = Site::new(QUICK);
    let server = site.start();
    let line = format!("{SMALL} --leave 10% --close 10% --idle 10%");
    let said = site.ropeline(&line);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    for part in [
        "150 visitors at http://",
        "\njoins ",
        "\nadmissions ",
        "the cap is 60\n",
        "\nestimates   first estimate against real wait of ",
        "within the band",
        "\nall answers were right (",
    ] {
        assert!(said.stdout.contains(part), "{part}:\n{}", said.stdout);
    }
    let report = report(&site.ropeline(&format!("{line} --json")));
    let figure = |part: &str, name: &str| report[part][name].as_u64().expect("a number");
    assert_eq!(report["wrongAnswers"], 0);
    assert_eq!(report["cap"], 60);
    let ends = ["through", "left", "gone"].map(|end| figure("visitors", end));
    assert_eq!(ends.iter().sum::<u64>(), 150, "{report}");
    assert!(ends.iter().all(|end| *end > 0), "{report}");
    assert!(figure("admissions", "waves") > 5, "{report}");
    assert!(report["mostInside"].as_u64() <= Some(60), "{report}");
    // Nobody is left inside or in line but those who closed the tab for good.
    let room = server.room(&site.admin_key());
    assert_eq!(room["waiting"], 0, "{room}");
}

#[test]
fn who_is_still_there_when_the_time_is_up_leaves() {
    let site = Site::new("[rooms.main]\nevery = \"30d\"\nbatch = 1\n");
    let server = site.start();
    let line = "load crowd --visitors 80 --arrive 200ms --until 1s --leave 0% --close 0% --json";
    let report = report(&site.ropeline(line));
    assert_eq!(report["visitors"]["dismissed"], 80, "{report}");
    assert_eq!(server.room(&site.admin_key())["waiting"], 0);
    assert_eq!(server.room(&site.admin_key())["issued"], 80);
}

#[test]
fn a_rising_number_ahead_is_caught() {
    let site = Site::new(QUICK);
    let server = site.start();
    let answers = Arc::new(AtomicU64::new(0));
    let said = through_liar(&server, move |answer| {
        let nth = answers.fetch_add(1, Ordering::Relaxed);
        let is_poll = answer.head.starts_with("HTTP/1.1 200 ");
        if is_poll && nth > 160 && answer.body.contains("\"WAITING\"") {
            // Both are changed, so that they still fit each other.
            answer.body = raise(&raise(&answer.body, "ahead"), "position");
        }
        Fate::Arrives
    });
    assert_caught(&said, "AHEAD_NEVER_RISES");
    assert!(!said.stdout.contains("POSITION_FITS"), "{}", said.stdout);
}

#[test]
fn an_ordinal_that_is_given_twice_is_caught() {
    let site = Site::new(QUICK);
    let server = site.start();
    let said = through_liar(&server, |answer| {
        answer.body = answer.body.replace("\"ordinal\":41,", "\"ordinal\":40,");
        Fate::Arrives
    });
    assert_caught(&said, "ORDINAL_UNIQUE");
}

#[test]
fn a_gate_that_is_always_open_is_caught() {
    let site = Site::new(QUICK);
    let server = site.start();
    let said = through_liar(&server, |answer| {
        if answer.head.starts_with("HTTP/1.1 40") {
            answer.head = "HTTP/1.1 204 No Content\r\n".into();
            answer.body.clear();
        }
        Fate::Arrives
    });
    assert_caught(&said, "ENDED_STAYS_ENDED");
    assert_caught(&said, "GATE_HOLDS");
}

#[test]
fn an_error_of_the_server_is_caught() {
    let site = Site::new(QUICK);
    let server = site.start();
    let answers = Arc::new(AtomicU64::new(0));
    let said = through_liar(&server, move |answer| {
        if answers.fetch_add(1, Ordering::Relaxed) == 200 {
            answer.head = "HTTP/1.1 500 Oops\r\n".into();
            answer.body = "{}".into();
        }
        Fate::Arrives
    });
    assert_caught(&said, "ANSWER_KNOWN");
}

#[test]
fn lost_answers_are_asked_for_again_and_cost_nobody_a_place() {
    let site = Site::new(QUICK);
    let server = site.start();
    let answers = Arc::new(AtomicU64::new(0));
    let liar = liar::before(server.address(), move |_| {
        match answers.fetch_add(1, Ordering::Relaxed) % 25 {
            24 => Fate::Lost,
            _ => Fate::Arrives,
        }
    });
    let line = format!("{SMALL} --close 0% --leave 0% --json --url http://{liar}");
    let report = report(&Shell::new().ropeline(&line));
    assert!(
        report["questions"]["unanswered"].as_u64() > Some(0),
        "{report}"
    );
    assert_eq!(report["visitors"]["through"], 150, "{report}");
    assert_eq!(server.room(&site.admin_key())["issued"], 150);
}

#[test]
fn a_crowd_without_a_server_or_a_room_says_so_at_once() {
    let site = Site::new(QUICK);
    let url = format!("http://{}", site.address());
    let line = format!("load crowd --url {url}");
    let complaint = Shell::new().ropeline(&line).complaint(1);
    assert!(
        complaint.contains("is `ropeline serve` running there?"),
        "{complaint}"
    );
    let _server = site.start();
    let complaint = Shell::new()
        .ropeline(&format!("{line} --room none"))
        .complaint(1);
    assert!(
        complaint.contains("nobody can join the room none"),
        "{complaint}"
    );
    assert!(complaint.contains("ROOM_NOT_FOUND"), "{complaint}");
}

/// The text with a number behind a key made larger by a hundred.
fn raise(body: &str, key: &str) -> String {
    let mark = format!("\"{key}\":");
    let Some((before, after)) = body.split_once(&mark) else {
        return body.to_owned();
    };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = after[..digits].parse().unwrap_or(0);
    format!("{before}{mark}{}{}", number + 100, &after[digits..])
}
