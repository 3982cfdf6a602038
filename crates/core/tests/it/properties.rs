//! Random stories, judged after every step.

use proptest::strategy::Strategy;
use ropeline_testing::line::{ORDINARY, Story, Tally, stories, try_stories};

use crate::plain::PlainLine;

/// Commands whose settling takes several calls.
const LONG: &[(&str, &str)] = &[("join", "more to settle"), ("settle", "more to settle")];

#[test]
fn promises_hold_in_random_stories() {
    run(stories(160, 0));
}

#[test]
fn promises_hold_when_the_store_forgets() {
    let tally = run(stories(160, 40));
    assert_eq!(
        tally.missing(&[("join", "held"), ("suffer", "survived")]),
        []
    );
}

fn run(stories: impl Strategy<Value = Story>) -> Tally {
    let tally = try_stories(400, stories, |story| PlainLine::new(story.policy.clone()));
    println!("{tally}");
    assert_eq!(tally.missing(ORDINARY), []);
    assert_eq!(tally.missing(LONG), []);
    tally
}
