//! `ropeline room watch`, as lines and on a terminal.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{
    process::{Leashed, Site},
    room::three_visitors,
    wait::until,
};

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn one_look_is_one_line() {
    let (site, _server) = three_visitors();
    let line = site.ropeline("room watch --once").result();
    let (time, rest) = line.split_once(' ').expect("a time first");
    assert!(time.starts_with("20") && time.ends_with('Z'), "{line}");
    assert!(
        rest.starts_with("room=main state=OPEN waiting=2 inside=1 joined/min="),
        "{line}"
    );
    assert!(rest.ends_with(" in_band=-\n"), "{line}");
    let other = site.ropeline("room watch album-sale --once").result();
    assert!(
        other.contains("room=album-sale state=OPEN waiting=0 inside=0/1200 "),
        "{other}"
    );
    let json = site.ropeline("room watch --once --json").result();
    let stats: Value = serde_json::from_str(&json).expect("the server's JSON");
    assert_eq!(stats["waiting"], 2);
    site.ropeline("room watch --every 10ms").complaint(2);
    let none = site.ropeline("room watch none --once").complaint(1);
    assert!(
        none.starts_with("ropeline: there is no room none\n"),
        "{none}"
    );
}

#[test]
fn lines_go_on_over_a_restart_of_the_server() {
    let (site, server) = three_visitors();
    let mut command = site.command("room watch --every 500ms");
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = Leashed(child.expect("the binary that cargo has just built"));
    let stdout = child.0.stdout.take().expect("a pipe");
    let mut lines = BufReader::new(stdout).lines();
    let mut line_with = |part: &str| {
        // As many as come before the server is gone, and after it is back.
        for line in lines.by_ref().take(100) {
            let line = line.expect("a pipe");
            if line.contains(part) {
                return line;
            }
        }
        panic!("no line with {part}");
    };
    line_with("waiting=2");
    line_with("waiting=2");
    server.kill();
    let away = line_with("AWAY");
    assert!(away.contains("room=main AWAY, next try in "), "{away}");
    assert!(away.contains("cannot reach http://"), "{away}");
    let _again = site.start();
    line_with("waiting=2");
}

/// A command on a terminal of 80 by 24, which `script` makes.
pub(crate) struct Seat {
    child: Leashed,
    keys: ChildStdin,
    shown: Receiver<Vec<u8>>,
    /// Not yet looked through.
    fresh: String,
}

impl Seat {
    pub(crate) fn new(site: &Site, line: &str) -> Self {
        Self::with_variable(site, line, ("TERM", "xterm"))
    }

    fn with_variable(site: &Site, line: &str, (name, value): (&str, &str)) -> Self {
        let inner = site.command(line);
        let words: Vec<_> = std::iter::once(inner.get_program())
            .chain(inner.get_args())
            .map(|word| word.to_str().expect("a test's own paths"))
            .collect();
        let typed = format!("stty rows 24 cols 80; {}", words.join(" "));
        let child = Command::new("script")
            .args(["--quiet", "--return", "--command", &typed, "/dev/null"])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("TERM", "xterm")
            .env(name, value)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = Leashed(child.expect("the program `script` of util-linux"));
        let keys = child.0.stdin.take().expect("a pipe");
        let mut stdout = child.0.stdout.take().expect("a pipe");
        let (sender, shown) = channel();
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = stdout.read(&mut chunk) {
                if sender.send(chunk[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            keys,
            shown,
            fresh: String::new(),
        }
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.keys.write_all(text.as_bytes()).expect("a pipe");
        self.keys.flush().expect("a pipe");
    }

    /// Waits until this was shown, and gives everything up to it since the last time.
    #[track_caller]
    pub(crate) fn await_text(&mut self, text: &str) -> String {
        until(PATIENCE, text, || {
            while let Ok(chunk) = self.shown.try_recv() {
                self.fresh += &String::from_utf8_lossy(&chunk);
            }
            let at = self.fresh.find(text)?;
            Some(self.fresh.drain(..at + text.len()).collect())
        })
    }

    pub(crate) fn code(mut self) -> Option<i32> {
        let status = until(PATIENCE, "the command ends", || {
            self.child.0.try_wait().expect("a child of this process")
        });
        status.code()
    }
}

const ALTERNATE_SCREEN: &str = "\x1b[?1049h";
const USUAL_SCREEN: &str = "\x1b[?1049l";

#[test]
fn the_live_view_draws_obeys_and_gives_the_terminal_back() {
    let (site, server) = three_visitors();
    let mut seat = Seat::new(&site, "room watch");
    seat.await_text(ALTERNATE_SCREEN);
    seat.await_text("admitted/min");
    seat.await_text("help");
    seat.type_in("p");
    seat.await_text("main is paused");
    assert_eq!(server.room(&site.admin_key())["state"], "PAUSED");
    seat.type_in("a");
    seat.await_text("y: yes");
    seat.type_in("n");
    seat.type_in("q");
    seat.await_text(USUAL_SCREEN);
    assert_eq!(seat.code(), Some(0));
    assert_eq!(
        server.room(&site.admin_key())["active"],
        1,
        "nobody said yes"
    );
}

#[test]
fn the_live_view_ends_on_control_c() {
    let (site, _server) = three_visitors();
    let mut seat = Seat::new(&site, "room watch album-sale");
    seat.await_text(ALTERNATE_SCREEN);
    seat.await_text("help");
    seat.type_in("\x03");
    seat.await_text(USUAL_SCREEN);
    assert_eq!(seat.code(), Some(0));
}

#[test]
fn no_color_is_respected() {
    let (site, _server) = three_visitors();
    // The sequence that chooses a colour of the terminal's palette.
    let colour = "[38;5;";
    let mut seat = Seat::new(&site, "room watch");
    assert!(seat.await_text("help").contains(colour));
    let mut seat = Seat::with_variable(&site, "room watch", ("NO_COLOR", "1"));
    let shown = seat.await_text("help");
    assert!(!shown.contains(colour), "{shown:?}");
}

#[test]
fn a_server_that_is_away_is_said_before_anything_is_drawn() {
    let (site, server) = three_visitors();
    server.kill();
    let mut seat = Seat::new(&site, "room watch");
    seat.await_text("ropeline: cannot reach http://");
    assert_eq!(seat.code(), Some(1));
}

#[test]
fn on_a_terminal_the_rooms_name_is_the_yes() {
    let (site, server) = three_visitors();
    let waiting = || server.room(&site.admin_key())["waiting"].clone();
    let mut seat = Seat::new(&site, "room reset main");
    seat.await_text("Type the room's name to go on: ");
    seat.type_in("yes\n");
    seat.await_text("that is not the room's name: main is as it was");
    assert_eq!(seat.code(), Some(1));
    assert_eq!(waiting(), 2);
    let mut seat = Seat::new(&site, "room reset main");
    seat.await_text("(2 wait, 1 is inside)");
    seat.await_text("Type the room's name to go on: ");
    seat.type_in("main\n");
    seat.await_text("main is empty");
    assert_eq!(seat.code(), Some(0));
    assert_eq!(waiting(), 0);
}
