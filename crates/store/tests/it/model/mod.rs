//! Random stories through core and the stores at once: the same answers after every step, and every
//! promise kept, through whatever can go wrong with each.

mod compared;
mod embedded_twin;
mod facts;
mod liar;

use ropeline_testing::line::{Line, ORDINARY, Story, Tally, stories, try_together};
use tokio::runtime::Runtime;

use compared::Compared;
use embedded_twin::EmbeddedTwin;

/// Commands that a run must compare at the least.
const COMMANDS_MIN: u64 = 10_000;

#[test]
fn every_store_answers_as_core_does_and_keeps_its_promises() {
    let runtime = Runtime::new().unwrap();
    let lines = |story: &Story| -> Vec<Box<dyn Line + '_>> {
        let embedded = EmbeddedTwin::new(&runtime, story.policy.clone());
        vec![Box::new(Compared::new(embedded, story.policy.clone()))]
    };
    let tallies = try_together(200, stories(160, 60), lines);
    for tally in tallies {
        judge(&tally);
    }
}

fn judge(tally: &Tally) {
    println!("{tally}");
    assert_eq!(tally.missing(ORDINARY), []);
    assert_eq!(tally.missing(&[("suffer", "survived")]), []);
    assert!(tally.commands() >= COMMANDS_MIN, "{}", tally.commands());
}
