//! The server of a Cluster that owns the rooms fails, hands over, or gives them away.

use std::time::Duration;

use ropeline_testing::TestCluster;

use super::{
    faults,
    story::{On, Story},
    witness::Witness,
};

/// From the fault until joins are taken again.
pub(super) const WRITABLE_WITHIN: Duration = Duration::from_secs(6);

#[test]
fn an_operators_failover_loses_nothing_at_all() {
    OWNER_RELIEVED.tell().holds(WRITABLE_WITHIN);
}

#[test]
fn a_room_whose_slot_is_moved_goes_on_at_its_new_owner() {
    ROOMS_MOVED.tell().holds(WRITABLE_WITHIN);
}

#[test]
#[ignore = "is in the table"]
fn an_owner_that_comes_back_after_ten_seconds_is_not_believed() {
    OWNER_STOPPED.tell().holds(WRITABLE_WITHIN);
}

pub(super) const OWNER_KILLED: Story = on("kill -9 of the owner", faults::owner_killed, "1");
pub(super) const OWNER_KILLED_UNCONFIRMED: Story =
    on("kill -9 of the owner", faults::owner_killed, "0");
pub(super) const OWNER_RELIEVED: Story =
    on("CLUSTER FAILOVER by hand", faults::owner_relieved, "1");
pub(super) const ROOMS_MOVED: Story = on("slot moved to another master", faults::rooms_moved, "1");
pub(super) const OWNER_STOPPED: Story =
    on("SIGSTOP of the owner for 10 s", faults::owner_stopped, "1");

pub(super) const fn on(
    fault: &'static str,
    befall: fn(&mut TestCluster, &Witness<'_>),
    durability: &'static str,
) -> Story {
    Story {
        fault,
        on: On::Cluster { befall },
        durability,
    }
}
