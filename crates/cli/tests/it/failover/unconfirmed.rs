//! What no replica has confirmed: the nodes send it again, and if they are gone too it is lost, which does not go
//! unnoticed.

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
const FORGOTTEN: Story = quick(
    "the same, and kill -9 of all nodes",
    faults::replication_held_back_and_nodes_killed,
    "0",
);
pub(super) const CONFIRMED: Story = quick(FAULT, faults::replication_held_back, "\"strict\"");

#[test]
fn without_confirmation_nodes_send_again_what_they_have_acknowledged() {
    let told = UNCONFIRMED.tell_asked_by(Asker::Operator);
    told.holds(2 * WRITABLE_WITHIN);
}

#[test]
fn what_neither_replicas_nor_nodes_remember_is_lost_and_the_rules_say_so() {
    let told = FORGOTTEN.tell_asked_by(Asker::Operator);
    let broken: BTreeSet<_> = told.violations.iter().map(|broken| broken.rule).collect();
    println!("what was not confirmed breaks {broken:?}");
    assert!(broken.contains(&Rule::W1), "{broken:?}");
}

#[test]
#[ignore = "is in the table"]
fn with_confirmation_what_replicas_never_heard_of_was_not_acknowledged() {
    CONFIRMED.tell().holds(2 * WRITABLE_WITHIN);
}
