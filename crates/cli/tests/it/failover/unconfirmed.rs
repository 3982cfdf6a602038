//! What nobody has confirmed is lost with the master, and that does not go unnoticed.

use std::collections::BTreeSet;

use ropeline_testing::history::Rule;

use super::{
    faults,
    sentinel::{WRITABLE_WITHIN, quick},
    story::Story,
};
use crate::nodes::silent::Asker;

const FAULT: &str = "kill -9 of the master after its replicas heard nothing for a second";
const UNCONFIRMED: Story = quick(FAULT, faults::replication_held_back, "0");
pub(super) const CONFIRMED: Story = quick(FAULT, faults::replication_held_back, "\"strict\"");

#[test]
fn without_confirmation_those_who_never_ask_are_lost_and_the_rules_say_so() {
    let told = UNCONFIRMED.tell_asked_by(Asker::Operator);
    let broken: BTreeSet<_> = told.violations.iter().map(|broken| broken.rule).collect();
    println!("what was not confirmed breaks {broken:?}");
    assert!(broken.contains(&Rule::W1), "{broken:?}");
}

#[test]
#[ignore = "is in the table"]
fn with_confirmation_what_replicas_never_heard_of_was_not_acknowledged() {
    CONFIRMED.tell().holds(2 * WRITABLE_WITHIN);
}
