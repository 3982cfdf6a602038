//! A room in which nobody but the first is ever admitted, so that everybody must be where they were.

use std::time::Duration;

use ropeline_core::{Identity, Policy};

use crate::visitor::Place;

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(30 * 24 * 3_600);

/// The settings of such a room.
pub(crate) const STILL_ROOM: &str = "\
[rooms.main]
every = \"30d\"
batch = 1
pass_ttl = \"30d\"
pass_max = \"0s\"
presence_ttl = \"0s\"
";

/// The same as a policy.
pub(crate) fn still_policy() -> Policy {
    Policy {
        every: FOR_EVER,
        batch: Some(1),
        active_max: None,
        pass_ttl: FOR_EVER,
        pass_max: Duration::ZERO,
        presence_ttl: Duration::ZERO,
        missed_turn_ttl: Duration::from_secs(600),
        waiting_max: 5_000_000,
        identity: Identity::Open,
    }
}

/// Where the holder of an ordinal must be.
pub(crate) fn place_of(ordinal: u64) -> Place {
    Place {
        ordinal,
        status: if ordinal == 1 { "ACTIVE" } else { "WAITING" }.to_owned(),
        ahead: ordinal.saturating_sub(2),
    }
}
