//! `ropeline load` on a fixed schedule, against an honest server, a slow one and liars.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{
    Said, Shell,
    liar::{self, Fate, Passing},
    process::{Server, Site},
};

/// Nobody is let in while it is looked at.
const STILL: &str = "\
[rooms.main]
every = \"30d\"
batch = 1
";
/// Everybody gets in soon.
const QUICK: &str = "\
[boxoffice]
[rooms.main]
every = \"200ms\"
batch = 40
active_max = 60
";

/// Thirty a second get in, so that more have to wait.
const SLOW: &str = "\
[rooms.main]
every = \"200ms\"
batch = 6
active_max = 60
";

fn report(said: &Said) -> Value {
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    serde_json::from_str(&said.stdout).expect("one JSON object")
}

#[track_caller]
fn figure(report: &Value, path: &str) -> f64 {
    let figure = report.pointer(path).and_then(Value::as_f64);
    figure.unwrap_or_else(|| panic!("no {path} in {report}"))
}

#[track_caller]
fn count(report: &Value, path: &str) -> u64 {
    let count = report.pointer(path).and_then(Value::as_u64);
    count.unwrap_or_else(|| panic!("no {path} in {report}"))
}

/// What a line says of a server whose answers are changed on the way.
fn through_liar(
    server: &Server,
    line: &str,
    lie: impl Fn(&mut Passing) -> Fate + Clone + Send + 'static,
) -> Said {
    let liar = liar::before(server.address(), lie);
    Shell::new().ropeline(&format!("load {line} --url http://{liar}"))
}

#[track_caller]
fn assert_caught(said: &Said, rule: &str) {
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains(rule), "{rule}:\n{}", said.stdout);
    assert!(said.stderr.contains("wrong answers"), "{}", said.stderr);
}

#[test]
fn a_herd_joins_on_schedule_and_leaves_nobody_behind() {
    let site = Site::new(STILL);
    let server = site.start();
    let report = report(&site.ropeline("load herd --visitors 300 --within 1s --json"));
    assert_eq!(report["scenario"], "herd");
    assert_eq!(count(&report, "/generator/sent"), 300);
    assert_eq!(count(&report, "/latency/join/count"), 300);
    assert!(figure(&report, "/seconds") >= 0.9, "{report}");
    assert_eq!(report["wrongAnswers"], 0);
    let room = server.room(&site.admin_key());
    assert_eq!(
        (&room["issued"], &room["waiting"]),
        (&300.into(), &0.into())
    );
}

#[test]
fn polls_are_sent_at_their_rate_and_told_in_a_table() {
    let site = Site::new(STILL);
    let _server = site.start();
    let line = "load poll --visitors 50 --rate 200 --duration 2s";
    let said = site.ropeline(line);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    for part in [
        "\npoll at http://",
        " p99.9 ",
        "\npoll               400 ",
        "\nschedule    400 of 400 sent, 200 a second planned; ",
        "\nin flight   ",
        "\nall answers were right (400 of them)\n",
    ] {
        assert!(said.stdout.contains(part), "{part}:\n{}", said.stdout);
    }
    let report = report(&site.ropeline(&format!("{line} --json")));
    assert_eq!(count(&report, "/latency/poll/count"), 400);
    assert_eq!(
        report["latency"].get("join"),
        None,
        "joining is preparation"
    );
}

#[test]
fn a_stall_of_the_server_counts_for_everything_that_was_due_meanwhile() {
    let site = Site::new(STILL);
    let server = site.start();
    let (answers, stalled) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(())));
    // Twenty join, and a second into the polls nothing is answered for another second.
    let line = "poll --visitors 20 --rate 100 --duration 4s --connections 4 --json";
    let said = through_liar(&server, line, move |_| {
        let nth = answers.fetch_add(1, Ordering::Relaxed);
        let _turn = stalled.lock().expect("nobody panics");
        if nth == 120 {
            thread::sleep(Duration::from_secs(1));
        }
        Fate::Arrives
    });
    let report = report(&said);
    assert_eq!(count(&report, "/latency/poll/count"), 400);
    // A quarter of all was due in that second. Asking one after another would have seen four slow answers.
    assert!(figure(&report, "/latency/poll/p90Ms") > 300.0, "{report}");
    assert!(figure(&report, "/latency/poll/maxMs") > 900.0, "{report}");
    assert!(count(&report, "/generator/inFlightMost") > 50, "{report}");
    let waited = count(&report, "/generator/waitedForConnection/count");
    assert!(waited > 50, "{report}");
}

#[test]
fn a_journey_goes_from_joining_to_finishing() {
    let site = Site::new(SLOW);
    let server = site.start();
    let line = "load journey --rate 50 --duration 2s --stay 100ms..300ms --json";
    let report = report(&site.ropeline(line));
    assert_eq!(count(&report, "/visitors/through"), 100);
    assert_eq!(report["cap"], 60);
    for question in ["join", "poll", "gate", "leave"] {
        assert!(report["latency"][question].is_object(), "{report}");
    }
    let room = server.room(&site.admin_key());
    assert_eq!((&room["active"], &room["waiting"]), (&0.into(), &0.into()));
}

#[test]
fn a_journey_with_a_purse_buys_seats_until_there_are_none() {
    let site = Site::new(QUICK);
    let _server = site.start();
    let line = "load journey --buy --rate 80 --duration 2s --stay 0s..50ms";
    let report = report(&site.ropeline(&format!("{line} --json")));
    assert_eq!(count(&report, "/visitors/through"), 160, "{report}");
    assert_eq!(count(&report, "/sales/seats"), 150, "{report}");
    assert_eq!(count(&report, "/sales/without"), 10, "{report}");
    assert_eq!(count(&report, "/latency/pay/count"), 150);
    let said = site.ropeline("load journey --buy --rate 10 --duration 1s --stay 0s");
    assert!(
        said.stdout
            .contains("\nsales       0 seats bought, 10 buyers found none\n"),
        "{}",
        said.stdout
    );
}

#[test]
fn journeys_that_are_cut_short_give_their_places_back() {
    let site = Site::new(STILL);
    let server = site.start();
    let line = "load journey --rate 50 --duration 1s --until 2s --json";
    let report = report(&site.ropeline(line));
    assert_eq!(count(&report, "/generator/sent"), 50);
    assert_eq!(server.room(&site.admin_key())["waiting"], 0);
}

#[test]
fn a_ramp_tells_each_of_its_steps() {
    let site = Site::new(STILL);
    let _server = site.start();
    for (what, visitors) in [("poll", "--visitors 30"), ("join", "")] {
        let line = format!(
            "load ramp --of {what} {visitors} --from 20 --to 60 --steps 3 --duration 3s --json"
        );
        let report = report(&site.ropeline(&line));
        let steps = report["steps"].as_array().expect("a list of steps");
        let told: Vec<_> = steps
            .iter()
            .map(|step| (figure(step, "/perSecond"), count(step, "/latency/count")))
            .collect();
        assert_eq!(told, [(20.0, 20), (40.0, 40), (60.0, 60)]);
        assert_eq!(count(&report, &format!("/latency/{what}/count")), 120);
    }
}

#[test]
fn an_ordinal_that_is_given_twice_fails_a_herd() {
    let site = Site::new(STILL);
    let server = site.start();
    let said = through_liar(&server, "herd --visitors 100 --within 500ms", |answer| {
        answer.body = answer.body.replace("\"ordinal\":41,", "\"ordinal\":40,");
        Fate::Arrives
    });
    assert_caught(&said, "ORDINAL_UNIQUE");
}

#[test]
fn a_place_that_is_lost_after_joining_fails_a_herd() {
    let site = Site::new(STILL);
    let server = site.start();
    let said = through_liar(&server, "herd --visitors 50 --within 500ms", |answer| {
        if answer.head.starts_with("HTTP/1.1 200 ") && answer.body.contains("\"ordinal\":7,") {
            answer.head = answer.head.replace("200 OK", "404 Not Found");
            answer.body = "{\"code\":\"TOKEN_NOT_FOUND\",\"title\":\"gone\"}".into();
        }
        Fate::Arrives
    });
    assert_caught(&said, "PLACE_STAYS");
}

#[test]
fn a_position_that_contradicts_those_ahead_fails_polls() {
    let site = Site::new(STILL);
    let server = site.start();
    let line = "poll --visitors 20 --rate 50 --duration 1s";
    let said = through_liar(&server, line, |answer| {
        answer.body = answer.body.replace("\"position\":5,", "\"position\":6,");
        Fate::Arrives
    });
    assert_caught(&said, "POSITION_FITS");
}

#[test]
fn an_error_of_the_server_fails_a_ramp() {
    let site = Site::new(STILL);
    let server = site.start();
    let answers = Arc::new(AtomicU64::new(0));
    let line = "ramp --visitors 20 --from 20 --to 60 --steps 2 --duration 1s";
    let said = through_liar(&server, line, move |answer| {
        if answers.fetch_add(1, Ordering::Relaxed) == 40 {
            answer.head = "HTTP/1.1 500 Oops\r\n".into();
            answer.body = "{}".into();
        }
        Fate::Arrives
    });
    assert_caught(&said, "ANSWER_KNOWN");
}

#[test]
fn a_gate_that_stays_open_fails_journeys() {
    let site = Site::new(QUICK);
    let server = site.start();
    let line = "journey --rate 20 --duration 1s --stay 0s..100ms";
    let said = through_liar(&server, line, |answer| {
        if answer.head.starts_with("HTTP/1.1 401 ") {
            answer.head = "HTTP/1.1 204 No Content\r\n".into();
            answer.body.clear();
        }
        Fate::Arrives
    });
    assert_caught(&said, "ENDED_STAYS_ENDED");
}

#[test]
fn points_that_vanish_fail_journeys_of_buyers() {
    let site = Site::new(QUICK);
    let server = site.start();
    let line = "journey --buy --rate 20 --duration 500ms --stay 0s";
    let said = through_liar(&server, line, |answer| {
        if answer.body.contains("\"paymentId\"") {
            answer.body = answer.body.replace("\"balance\":0", "\"balance\":1");
        }
        Fate::Arrives
    });
    assert_caught(&said, "POINTS_FIT");
}

#[test]
fn more_inside_than_the_cap_fails_journeys() {
    let site = Site::new(QUICK);
    let _server = site.start();
    let said = site.ropeline("load journey --rate 40 --duration 1s --stay 1s..2s --cap 3");
    assert_caught(&said, "CAP_HOLDS");
}

#[test]
fn answers_that_say_later_name_the_setting() {
    // This machine is counted only as a proxy.
    let limits = "trusted_proxies = ['127.0.0.1']\n[rate_limits]\njoins_per_minute = 120\n";
    let site = Site::new(limits);
    let _server = site.start();
    let said = site.ropeline("load herd --visitors 123 --within 200ms");
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(
        said.stdout.contains("joins_per_minute = 0"),
        "{}",
        said.stdout
    );
}

#[test]
fn a_load_that_nobody_can_bear_says_what_to_do() {
    let site = Site::new("");
    let away = site.ropeline("load herd").complaint(1);
    assert!(
        away.contains("is `ropeline serve` running there?"),
        "{away}"
    );
    let _server = site.start();
    for scenario in ["herd", "poll", "journey", "ramp"] {
        let none = site.ropeline(&format!("load {scenario} --room none"));
        let none = none.complaint(1);
        assert!(none.contains("nobody can join the room none"), "{none}");
    }
    let none = site.ropeline("load journey --buy").complaint(1);
    assert!(none.contains("[boxoffice]"), "{none}");
    let nobody = site.ropeline("load poll --duration 0s").complaint(1);
    assert!(nobody.contains("nobody would come"), "{nobody}");
}
