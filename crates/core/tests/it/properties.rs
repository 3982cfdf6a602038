//! Random stories, judged after every step.

use proptest::strategy::Strategy;
use ropeline_testing::line::{Story, Tally, stories, try_stories};

use crate::plain::PlainLine;

/// Every command with every outcome that it can have while nothing is lost.
const ORDINARY: &[(&str, &str)] = &[
    ("join", "new"),
    ("join", "already"),
    ("join", "closed"),
    ("join", "full"),
    ("join", "more to settle"),
    ("join with key", "new"),
    ("join with key", "repeated"),
    ("join with key", "key reused"),
    ("renew", "inside"),
    ("renew", "in line"),
    ("renew", "at the door"),
    ("renew", "over"),
    ("renew", "gone"),
    ("restore", "inside"),
    ("restore", "in line"),
    ("restore", "at the door"),
    ("restore", "over"),
    ("restore", "gone"),
    ("mark", "done"),
    ("leave", "left"),
    ("leave", "finished"),
    ("leave", "nothing"),
    ("finish", "finished"),
    ("finish", "nothing"),
    ("finish", "not inside"),
    ("stranger", "gone"),
    ("stranger", "unknown"),
    ("stranger", "nothing"),
    ("revoke", "revoked"),
    ("revoke", "nobody"),
    ("settle", "done"),
    ("settle", "more to settle"),
    ("admit", "done"),
    ("pause", "done"),
    ("resume", "done"),
    ("open", "done"),
    ("close", "done"),
    ("drain", "done"),
    ("reset", "done"),
    ("set policy", "done"),
    ("change policy", "done"),
    ("change policy", "stale"),
    ("delete", "done"),
    ("create", "created"),
    ("create", "there already"),
    ("merge", "done"),
    ("import", "placed"),
    ("import", "repeated"),
    ("import", "already"),
    ("import", "full"),
    ("import", "line ahead"),
    ("join", "claimed"),
    ("join with key", "claimed"),
];

/// Every command that a deleted room refuses.
const NO_ROOM: &[&str] = &[
    "join",
    "join with key",
    "renew",
    "restore",
    "mark",
    "leave",
    "finish",
    "stranger",
    "revoke",
    "settle",
    "admit",
    "pause",
    "resume",
    "open",
    "close",
    "drain",
    "reset",
    "set policy",
    "change policy",
    "delete",
];

#[test]
fn promises_hold_in_random_stories() {
    let tally = run(stories(160, 0));
    assert_eq!(tally.missing(ORDINARY), []);
}

#[test]
fn promises_hold_when_the_store_forgets() {
    let tally = run(stories(160, 40));
    assert_eq!(tally.missing(ORDINARY), []);
    assert_eq!(
        tally.missing(&[("join", "held"), ("suffer", "survived")]),
        []
    );
}

fn run(stories: impl Strategy<Value = Story>) -> Tally {
    let tally = try_stories(400, stories, |story| PlainLine::new(story.policy.clone()));
    println!("{tally}");
    let refused: Vec<_> = NO_ROOM.iter().map(|name| (*name, "no room")).collect();
    assert_eq!(tally.missing(&refused), []);
    tally
}
