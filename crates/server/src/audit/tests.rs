use std::{fs, io::Write};

use ropeline_testing::line::START;
use serde_json::json;
use tempfile::TempDir;

use super::{
    chain::{BEGINNING, hash},
    *,
};

/// A log in a directory of its own.
struct Log {
    directory: TempDir,
    chain: Chain,
}

impl Log {
    /// A log with these actions.
    fn of(actions: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let chain = Chain::open(&path(directory.path())).unwrap();
        let mut log = Self { directory, chain };
        for action in actions {
            log.write(action);
        }
        log
    }

    fn write(&mut self, action: &str) {
        let entry = entry(action);
        self.chain.append(|prev| text(prev, &entry)).unwrap();
    }

    /// As after a restart.
    fn open_again(&mut self) {
        self.chain = Chain::open(&self.path()).unwrap();
    }

    /// Moves the file away, and gives its new path.
    fn moved(&self, name: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::rename(self.path(), &path).unwrap();
        path
    }

    fn path(&self) -> PathBuf {
        path(self.directory.path())
    }

    fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn put(&self, lines: &[String]) {
        fs::write(self.path(), lines.join("\n") + "\n").unwrap();
    }

    fn verify(&self) -> Result<Verified, (u64, Break)> {
        verified(&[self.path()], Before::Nothing)
    }
}

fn verified(files: &[PathBuf], before: Before) -> Result<Verified, (u64, Break)> {
    verify(files, before).map_err(|error| match error {
        Unverified::Broken { line, why, .. } => (line, why),
        error @ Unverified::Unreadable { .. } => panic!("{error}"),
    })
}

fn entry(action: &str) -> Entry {
    Entry {
        at: Moment(START),
        action: action.to_owned().into(),
        room: Some(RoomId::main()),
        details: json!({}),
        outcome: "done".into(),
        by: Some(Proof::Key),
        address: None,
        request_id: None,
    }
}

#[test]
fn a_log_that_was_not_touched_is_verified_over_restarts() {
    let mut log = Log::of(&["pause", "resume"]);
    log.open_again();
    log.write("close");
    let seen = log.verify().unwrap();
    assert_eq!((seen.chained, seen.unchained, seen.torn), (3, 0, 0));
    assert_eq!(seen.head, hash(log.lines()[2].as_bytes()));
    assert!(log.lines()[0].contains(BEGINNING));
}

#[test]
fn a_line_that_was_changed_removed_added_or_moved_is_found() {
    let whole = || Log::of(&["a", "b", "c", "d", "e"]);
    let broken = |change: fn(&mut Vec<String>)| {
        let log = whole();
        let mut lines = log.lines();
        change(&mut lines);
        log.put(&lines);
        log.verify().unwrap_err()
    };
    let follows = Break::DoesNotFollow;
    assert_eq!(
        broken(|lines| lines[1] = lines[1].replace("\"b\"", "\"x\"")),
        (3, follows)
    );
    assert_eq!(broken(|lines| drop(lines.remove(2))), (3, follows));
    assert_eq!(broken(|lines| lines.swap(1, 2)), (2, follows));
    assert_eq!(
        broken(|lines| lines.insert(3, lines[2].clone())),
        (4, follows)
    );
    assert_eq!(
        broken(|lines| drop(lines.remove(0))),
        (1, Break::BeginningMissing)
    );
    let forged = |lines: &mut Vec<String>| lines.insert(2, "{\"action\":\"x\"}".to_owned());
    assert_eq!(broken(forged), (3, Break::NotChained));
    let blanked = |lines: &mut Vec<String>| lines[2].clear();
    assert_eq!(broken(blanked), (4, follows));
}

#[test]
fn every_changed_byte_of_a_line_before_the_last_is_found() {
    let log = Log::of(&["a", "b", "c"]);
    let bytes = fs::read(log.path()).unwrap();
    // The line end before the last line joins the last two to one that nothing follows: the file cannot show that.
    let last_line = bytes.len() - log.lines()[2].len() - 2;
    for at in 0..last_line {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        fs::write(log.path(), &changed).unwrap();
        assert!(log.verify().is_err(), "byte {at}");
    }
}

#[test]
fn lines_of_an_earlier_version_are_accepted_at_the_beginning_only() {
    let old = "{\"at\":\"2026-11-16T01:31:08.234Z\",\"action\":\"pause\"}".to_owned();
    let mut log = Log::of(&[]);
    log.put(&[old.clone(), old.clone()]);
    log.open_again();
    log.write("close");
    log.write("open");
    let seen = log.verify().unwrap();
    assert_eq!((seen.chained, seen.unchained), (2, 2));
    let mut lines = log.lines();
    lines[0] = lines[0].replace("pause", "reset");
    log.put(&lines);
    assert!(
        log.verify().is_ok(),
        "a line that nothing follows by hash proves nothing"
    );
    lines[1] = lines[1].replace("pause", "reset");
    log.put(&lines);
    assert_eq!(log.verify().unwrap_err(), (3, Break::DoesNotFollow));
}

#[test]
fn a_line_that_a_crash_tore_is_told_and_the_chain_goes_on() {
    let whole = Log::of(&["a", "b"]);
    let text = fs::read_to_string(whole.path()).unwrap();
    let second = whole.lines()[0].len() + 1;
    for length in second..text.len() {
        let mut log = Log::of(&[]);
        fs::write(log.path(), &text[..length]).unwrap();
        log.open_again();
        log.write("c");
        log.write("d");
        let seen = log.verify().unwrap();
        let is_torn = (second + 1..text.len() - 1).contains(&length);
        assert_eq!(seen.torn, u64::from(is_torn), "{length} bytes");
        let mut lines = log.lines();
        lines.remove(0);
        log.put(&lines);
        assert!(
            log.verify().is_err(),
            "the line before the torn one is missed"
        );
    }
}

#[test]
fn a_log_that_ends_within_a_line_is_whole_up_to_there() {
    let log = Log::of(&["a", "b"]);
    let text = fs::read_to_string(log.path()).unwrap();
    fs::write(log.path(), &text[..text.len() - 10]).unwrap();
    let seen = log.verify().unwrap();
    assert_eq!((seen.chained, seen.torn), (1, 1));
}

#[test]
fn a_log_that_is_rotated_goes_on_in_the_new_file() {
    let mut log = Log::of(&["a", "b"]);
    let older = log.moved("audit.log.1");
    log.chain.reopen().unwrap();
    assert_eq!(log.lines().len(), 0, "the new file is there at once");
    log.write("c");
    let newer = log.path();
    let both = verified(&[older.clone(), newer.clone()], Before::Nothing);
    assert_eq!(both.unwrap().chained, 3);
    let swapped = verified(&[newer.clone(), older], Before::Nothing);
    assert_eq!(swapped.unwrap_err(), (1, Break::BeginningMissing));
    let alone = verified(std::slice::from_ref(&newer), Before::Nothing);
    assert_eq!(alone.unwrap_err(), (1, Break::BeginningMissing));
    assert_eq!(verified(&[newer], Before::OlderFiles).unwrap().chained, 1);
}

#[test]
fn a_log_that_is_moved_without_a_reload_goes_on_in_a_new_file() {
    let mut log = Log::of(&["a"]);
    let older = log.moved("audit.log.1");
    log.write("b");
    assert_eq!(log.lines().len(), 1);
    let both = verified(&[older, log.path()], Before::Nothing);
    assert_eq!(both.unwrap().chained, 2);
}

#[test]
fn a_log_that_is_moved_while_the_server_is_down_goes_on_in_the_new_file() {
    let mut log = Log::of(&["a", "b"]);
    let oldest = log.moved("audit.log.2");
    log.open_again();
    log.write("c");
    let older = log.moved("audit.log.1");
    log.open_again();
    log.open_again();
    log.write("d");
    let files = [oldest, older, log.path()];
    assert_eq!(verified(&files, Before::Nothing).unwrap().chained, 4);
    let gap = [files[0].clone(), files[2].clone()];
    let gap = verified(&gap, Before::Nothing);
    assert_eq!(gap.unwrap_err(), (1, Break::DoesNotFollow));
}

#[test]
fn a_log_that_was_torn_and_then_moved_goes_on_in_the_new_file() {
    let mut log = Log::of(&["a"]);
    let tear = |log: &Log| {
        let file = fs::File::options().append(true).open(log.path());
        file.unwrap().write_all(b"{\"prev\":\"").unwrap();
    };
    tear(&log);
    let older = log.moved("audit.log.1");
    log.open_again();
    tear(&log);
    log.open_again();
    log.write("b");
    let both = verified(&[older, log.path()], Before::Nothing).unwrap();
    assert_eq!((both.chained, both.torn), (2, 2));
}

#[test]
fn a_log_that_is_removed_while_the_server_is_down_is_missed() {
    let mut log = Log::of(&["a"]);
    fs::remove_file(log.path()).unwrap();
    log.open_again();
    log.write("b");
    assert_eq!(log.verify().unwrap_err(), (1, Break::BeginningMissing));
}

#[test]
fn two_processes_keep_one_chain_while_the_log_is_rotated() {
    let mut log = Log::of(&["a"]);
    let mut other = Chain::open(&log.path()).unwrap();
    other.append(|prev| text(prev, &entry("b"))).unwrap();
    let older = log.moved("audit.log.1");
    log.chain.reopen().unwrap();
    other.append(|prev| text(prev, &entry("c"))).unwrap();
    log.write("d");
    other.append(|prev| text(prev, &entry("e"))).unwrap();
    let both = verified(&[older, log.path()], Before::Nothing);
    assert_eq!(both.unwrap().chained, 5);
}

#[test]
fn lines_that_are_removed_while_the_server_runs_are_missed() {
    let mut log = Log::of(&["a", "b", "c"]);
    let lines = log.lines();
    log.put(&lines[..1]);
    log.write("d");
    assert_eq!(log.verify().unwrap_err(), (2, Break::DoesNotFollow));
}

#[test]
fn two_processes_that_share_a_log_keep_one_chain() {
    let mut log = Log::of(&["a"]);
    let mut other = Chain::open(&log.path()).unwrap();
    for _ in 0..3 {
        let b = entry("b");
        other.append(|prev| text(prev, &b)).unwrap();
        log.write("c");
    }
    assert_eq!(log.verify().unwrap().chained, 7);
}

#[test]
fn a_line_longer_than_what_is_read_at_first_is_found_whole() {
    let mut log = Log::of(&["a", &"x".repeat(300_000)]);
    log.open_again();
    log.write("b");
    assert_eq!(log.verify().unwrap().chained, 3);
}

#[test]
fn wrong_keys_have_twenty_lines_a_minute_and_services_one() {
    let mut counts = Counts::default();
    let address = [198, 51, 100, 7].into();
    let mut wrong_key = |now| counts.wrong_key(now, Api::Admin, address);
    let own_lines = (0..100).filter(|_| wrong_key(START)).count();
    assert_eq!(own_lines, 20);
    let call = |name, is_done| ServiceCall { name, is_done };
    for call in [call("join", true), call("join", true), call("keep", false)] {
        counts.service(START, &RoomId::main(), address, call);
    }
    let minute = std::time::Duration::from_secs(60);
    assert_eq!(counts.due(START), []);
    let [more, service] = &counts.due(START + minute)[..] else {
        panic!("two lines");
    };
    assert_eq!(
        (more.action, &more.details),
        ("wrong_keys", &json!({"api": "admin", "more": 80}))
    );
    assert_eq!(service.details, json!({"join": 2, "refused": 1}));
    assert_eq!(
        (&service.room, service.address),
        (&Some(RoomId::main()), Some(address))
    );
    assert_eq!(counts.take(), [], "nothing since then");
    assert!(counts.wrong_key(START, Api::Admin, address), "a new minute");
}

#[test]
fn many_wrong_keys_of_one_caller_do_not_hide_who_else_guesses_and_at_what() {
    let mut counts = Counts::default();
    let [loud, quiet]: [IpAddr; 2] = [[198, 51, 100, 7].into(), [198, 51, 100, 8].into()];
    for _ in 0..100 {
        counts.wrong_key(START, Api::Service, loud);
    }
    counts.wrong_key(START, Api::Admin, quiet);
    for _ in 0..2 {
        counts.wrong_key(START, Api::Login, quiet);
    }
    let sums = counts.take();
    let told: Vec<_> = sums
        .iter()
        .map(|sum| (sum.address, sum.details.clone()))
        .collect();
    assert_eq!(
        told,
        [
            (Some(quiet), json!({"api": "admin", "more": 1})),
            (Some(quiet), json!({"api": "login", "more": 2})),
            (Some(loud), json!({"api": "service", "more": 80})),
        ]
    );
}

#[test]
fn wrong_keys_from_everywhere_have_a_bounded_number_of_lines() {
    let mut counts = Counts::default();
    for n in 0..10_000_u32 {
        counts.wrong_key(START, Api::Admin, IpAddr::V4(n.into()));
    }
    let sums = counts.take();
    assert_eq!(sums.len(), 101);
    let rest = sums.iter().find(|sum| sum.address.is_none()).unwrap();
    assert_eq!(rest.details, json!({"more": 9_880}));
}

#[test]
fn services_from_everywhere_have_a_bounded_number_of_lines() {
    let mut counts = Counts::default();
    for n in 0..10_000_u32 {
        let call = ServiceCall {
            name: "join",
            is_done: true,
        };
        counts.service(START, &RoomId::main(), IpAddr::V4(n.into()), call);
    }
    let sums = counts.take();
    assert_eq!(sums.len(), 101);
    let rest = sums.iter().find(|sum| sum.address.is_none()).unwrap();
    assert_eq!(rest.details, json!({"join": 9_900}));
}
