//! Files of the embedded store that are damaged: the start is refused in words that help, without a backtrace.

use std::{
    fs::{self, File},
    os::unix::process::ExitStatusExt,
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::Signal;

use crate::{
    process::Site,
    still::{STILL_ROOM, place_of},
    visitor::{Place, status, token_of},
};

const STOP_MAX: Duration = Duration::from_secs(5);
/// Less than the journal has, and more than any other file here.
const FILE_MAX: u64 = 3 << 20;

/// A site that was stopped cleanly, and the token of the second place.
fn stopped_with_two_in_line() -> (Site, String) {
    let site = Site::new(STILL_ROOM);
    let mut server = site.start();
    let mut client = server.client();
    let [_, token] = ["ann", "bob"].map(|user| token_of(&mut client, user));
    server.terminate();
    assert_eq!(server.ended_within(STOP_MAX).code(), Some(0));
    (site, token)
}

/// Starts a server that the kernel kills as soon as it makes a file longer than [`FILE_MAX`].
fn start_with_short_files(site: &Site) -> ExitStatus {
    let serve = site.command("serve");
    let blocks = FILE_MAX / 512;
    let limited = format!("ulimit -c 0; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command
        .args(["-c", &limited])
        .arg(serve.get_program())
        .args(serve.get_args())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().expect("a shell")
}

#[test]
fn a_server_that_is_killed_while_it_makes_the_journal_starts_again() {
    let (site, token) = stopped_with_two_in_line();
    let journal = site.data().join("rooms.journal");
    let unfinished = site.data().join("rooms.journal.new");
    fs::remove_file(&journal).expect("a clean stop leaves it there");
    for _ in 0..2 {
        let killed = start_with_short_files(&site);
        assert_eq!(killed.signal(), Some(Signal::XFSZ.as_raw()), "{killed:?}");
        let length = fs::metadata(&unfinished).map(|file| file.len()).ok();
        assert_eq!(length, Some(FILE_MAX), "it was killed in the middle");
    }
    let server = site.start();
    let reply = server.client().send(&status(&token));
    assert_eq!(Place::of(&reply), Some(place_of(2)), "{}", reply.json());
    let said = server.stderr();
    assert!(said.contains("the journal is missing"), "{said}");
    assert!(!unfinished.exists());
}

#[test]
fn a_journal_that_was_cut_short_is_refused_with_a_way_out() {
    let (site, token) = stopped_with_two_in_line();
    let journal = site.data().join("rooms.journal");
    let file = File::options().write(true).open(&journal);
    let cut = file.and_then(|file| file.set_len(4_096));
    cut.expect("a clean stop leaves it there");
    let complaint = site.ropeline("serve").complaint(1);
    let path = journal.display().to_string();
    for words in [path.as_str(), "4096 bytes", "backup", "move it away"] {
        assert!(complaint.contains(words), "{words}: {complaint}");
    }
    fs::rename(&journal, site.data().join("damaged")).expect("the way out");
    let reply = site.start().client().send(&status(&token));
    assert_eq!(Place::of(&reply), Some(place_of(2)), "{}", reply.json());
}

/// Before the name of a type redb keeps a number from 1 to 4, and panics at any other.
#[test]
fn a_database_at_which_redb_panics_is_refused_without_a_backtrace() {
    const TYPE: &[u8] = b"redb::AllocatorStateKey";
    let (site, _) = stopped_with_two_in_line();
    let path = site.data().join("rooms.redb");
    let mut database = fs::read(&path).expect("a clean stop leaves it there");
    let names = database.windows(TYPE.len()).enumerate();
    let names: Vec<_> = names.filter(|(_, bytes)| *bytes == TYPE).collect();
    let numbers: Vec<_> = names.into_iter().map(|(at, _)| at - 1).collect();
    assert!(!numbers.is_empty(), "the name is in the file");
    for at in numbers {
        database[at] ^= 0x80;
    }
    fs::write(&path, database).expect("a file of the test's own");
    let complaint = site.ropeline("serve").complaint(1);
    let path = path.display().to_string();
    for words in [path.as_str(), "damaged", "backup", "move it away"] {
        assert!(complaint.contains(words), "{words}: {complaint}");
    }
    for words in ["panicked", "BACKTRACE", "src/"] {
        assert!(!complaint.contains(words), "{words}: {complaint}");
    }
}
