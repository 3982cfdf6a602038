//! `ropeline admin sessions` and `ropeline audit verify`.

use std::{fs, time::Duration};

use ropeline_testing::http::Ask;

use crate::{
    process::{Server, Site},
    still::STILL_ROOM,
    wait::until,
};

/// What has not happened by then never will.
const HEARD_MAX: Duration = Duration::from_secs(5);

/// Logs in at a node, and gives the cookie.
pub(crate) fn log_in(server: &Server, key: &str) -> String {
    let form = format!("key={key}");
    let login = Ask::post("/admin/login").raw("application/x-www-form-urlencoded", form.as_bytes());
    let opened = server.client().send(&login);
    let cookie = opened
        .header("set-cookie")
        .and_then(|cookie| cookie.split(';').next());
    cookie.expect("a session").to_owned()
}

pub(crate) fn is_in(server: &Server, cookie: &str) -> bool {
    let ask = Ask::get("/api/v1/admin/rooms").header("Cookie", cookie);
    let status = server.client().send(&ask).status;
    assert!(status == 200 || status == 401, "{status}");
    status == 200
}

#[test]
fn sessions_are_listed_and_ended_from_the_command_line() {
    let site = Site::new(STILL_ROOM);
    let server = site.start();
    assert_eq!(
        site.ropeline("admin sessions list").result(),
        "no session is open\n"
    );
    let cookies: Vec<_> = (0..3).map(|_| log_in(&server, &site.admin_key())).collect();
    let list = site.ropeline("admin sessions list").result();
    let ids: Vec<_> = list
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(ids.len(), 3, "{list}");
    assert!(list.contains("127."), "from where: {list}");
    let ended = site
        .ropeline(&format!("admin sessions end {}", ids[1]))
        .result();
    assert_eq!(ended, format!("session {} is ended\n", ids[1]));
    let still: Vec<_> = cookies
        .iter()
        .map(|cookie| is_in(&server, cookie))
        .collect();
    assert_eq!(still, [true, false, true]);
    let again = site
        .ropeline(&format!("admin sessions end {}", ids[1]))
        .complaint(1);
    assert!(again.contains("there is no open session"), "{again}");
    let all = site.ropeline("admin sessions end --all").result();
    assert_eq!(all, "2 sessions are ended\n");
    assert!(!cookies.iter().any(|cookie| is_in(&server, cookie)));
    site.ropeline("admin sessions end").complaint(2);
}

#[test]
fn the_audit_log_is_verified_and_a_line_that_was_touched_is_named() {
    let site = Site::new(STILL_ROOM);
    let server = site.start();
    for word in ["pause", "resume", "close", "open"] {
        site.ropeline(&format!("room {word} main")).result();
    }
    server.kill();
    let verified = site.ropeline("audit verify").result();
    assert!(
        verified.starts_with("4 lines are chained, and the chain is unbroken\n"),
        "{verified}"
    );
    let log = site.data().join("audit.log");
    let text = fs::read_to_string(&log).expect("the log");
    let lines: Vec<_> = text.lines().collect();
    let joined = |lines: &[&str]| lines.join("\n") + "\n";
    for (forged, at) in [
        (text.replace("resume", "admits"), 3),
        (joined(&[lines[0], lines[2], lines[3]]), 2),
        (joined(&[lines[0], lines[2], lines[1], lines[3]]), 2),
        (joined(&lines[1..]), 1),
    ] {
        fs::write(&log, forged).expect("a file of the test's own");
        let complaint = site.ropeline("audit verify").complaint(1);
        assert!(
            complaint.contains(&format!("audit.log:{at}: ")),
            "{complaint}"
        );
    }
    fs::write(&log, &text[..text.len() - 20]).expect("a file of the test's own");
    let torn = site.ropeline("audit verify").result();
    assert!(torn.contains("1 lines are incomplete"), "{torn}");
    let _server = site.start();
    site.ropeline("room pause main").result();
    let goes_on = site
        .ropeline(&format!("audit verify {}", log.display()))
        .result();
    assert!(goes_on.starts_with("4 lines are chained"), "{goes_on}");
}

#[test]
fn a_log_that_was_rotated_goes_on_in_the_new_file_after_a_reload() {
    let site = Site::new(STILL_ROOM);
    let server = site.start();
    site.ropeline("room pause main").result();
    let log = site.data().join("audit.log");
    let older = site.data().join("audit.log.1");
    fs::rename(&log, &older).expect("a file of the test's own");
    server.hang_up();
    until(HEARD_MAX, "the new file has a line", || {
        fs::read_to_string(&log)
            .ok()
            .filter(|text| text.contains("\"reload\""))
    });
    let both = format!("audit verify {} {}", older.display(), log.display());
    assert!(
        site.ropeline(&both)
            .result()
            .starts_with("2 lines are chained")
    );
    let alone = site.ropeline("audit verify").complaint(1);
    assert!(alone.contains("--older-files-gone"), "{alone}");
    site.ropeline("audit verify --older-files-gone").result();
}
