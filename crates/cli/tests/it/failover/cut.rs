//! The owner of the rooms is cut off from the others together with one of the nodes.

use super::{
    cluster::{WRITABLE_WITHIN, on},
    faults,
    story::Story,
};

#[test]
#[ignore = "is in the table"]
fn a_node_that_is_cut_off_with_the_owner_acknowledges_nothing_that_is_lost() {
    CUT_OFF.tell().holds(WRITABLE_WITHIN);
}

#[test]
#[ignore = "is in the table"]
fn a_node_that_is_cut_off_with_the_owner_and_strict_acknowledges_nothing_that_is_lost() {
    // The owner that took over has no replica until the other one is back.
    CUT_OFF_STRICT.tell().holds(2 * WRITABLE_WITHIN);
}

const FAULT: &str = "owner and one node cut off";
pub(super) const CUT_OFF: Story = on(FAULT, faults::owner_cut_off, "1");
pub(super) const CUT_OFF_STRICT: Story = on(FAULT, faults::owner_cut_off, "\"strict\"");
