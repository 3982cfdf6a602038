//! The master that Sentinels watch over fails.

use std::time::Duration;

use ropeline_testing::Pace;

use super::{
    faults,
    story::{On, Story},
};

/// From the fault until joins are taken again.
pub(super) const WRITABLE_WITHIN: Duration = Duration::from_secs(5);

#[test]
fn a_master_that_is_killed_takes_no_acknowledged_place_with_it() {
    MASTER_KILLED.tell().holds(WRITABLE_WITHIN);
}

#[test]
fn a_node_that_is_started_before_there_is_another_master_serves_when_there_is() {
    NODE_KILLED_TOO.tell().holds(WRITABLE_WITHIN);
}

#[test]
#[ignore = "is in the table"]
fn a_master_that_comes_back_after_ten_seconds_is_not_believed() {
    MASTER_STOPPED.tell().holds(WRITABLE_WITHIN);
}

#[test]
#[ignore = "is in the table"]
fn two_masters_in_a_row_take_no_acknowledged_place_with_them() {
    TWO_KILLED.tell().holds(2 * WRITABLE_WITHIN);
}

#[test]
#[ignore = "is in the table"]
fn a_replica_that_knows_nothing_of_the_last_seconds_does_not_take_over() {
    REPLICA_STALE.tell().holds(WRITABLE_WITHIN);
}

#[test]
fn while_all_sentinels_are_away_nobody_notices() {
    SENTINELS_KILLED.tell().holds(Duration::from_secs(2));
}

pub(super) const MASTER_KILLED: Story = quick("kill -9 of the master", faults::master_killed, "1");
pub(super) const NODE_KILLED_TOO: Story = quick(
    "kill -9 of the master and of a node",
    faults::master_and_node_killed,
    "1",
);
pub(super) const MASTER_STOPPED: Story = Story {
    fault: "SIGSTOP of the master for 10 s",
    on: On::Sentinel {
        pace: Pace::Real,
        befall: faults::master_stopped,
    },
    durability: "1",
};
pub(super) const TWO_KILLED: Story = quick(
    "kill -9 of two masters in a row",
    faults::two_masters_killed,
    "\"strict\"",
);
pub(super) const REPLICA_STALE: Story = quick(
    "kill -9 of the master beside a stale replica",
    faults::replica_stale,
    "\"all\"",
);
pub(super) const SENTINELS_KILLED: Story =
    quick("all Sentinels killed", faults::sentinels_killed, "1");
pub(super) const MASTER_KILLED_UNCONFIRMED: Story =
    quick("kill -9 of the master", faults::master_killed, "0");

pub(super) const fn quick(
    fault: &'static str,
    befall: fn(&mut ropeline_testing::TestSentinels, &super::witness::Witness<'_>),
    durability: &'static str,
) -> Story {
    let pace = Pace::Quick;
    Story {
        fault,
        on: On::Sentinel { pace, befall },
        durability,
    }
}
