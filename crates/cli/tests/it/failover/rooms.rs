//! Rooms on different servers of a Cluster: what befalls one server stops its own rooms and no others.

use std::time::Duration;

use ropeline_testing::TestCluster;

use super::{
    away::away,
    cluster::{OWNER_KILLED, WRITABLE_WITHIN},
    faults,
    story::room_of,
};

/// A busy machine takes so long now and then.
const UNDISTURBED: Duration = Duration::from_millis(1_500);

#[test]
fn an_owner_that_is_killed_takes_no_acknowledged_place_with_it_and_stops_no_other_room() {
    let mut cluster = TestCluster::start();
    let owner = cluster.owner_of("{main}");
    let owners = [owner, (owner + 1) % 3, (owner + 2) % 3];
    let rooms = owners.map(|owner| room_of(&cluster, owner));
    let url = cluster.url();
    let story = OWNER_KILLED;
    let told = story.play(&url, &rooms, story.asker(), |witness| {
        faults::owner_killed(&mut cluster, witness);
    });
    told.holds(WRITABLE_WITHIN);
    for other in &told.silent[1..] {
        let away = away(other);
        assert!(away.iter().all(|away| *away < UNDISTURBED), "{away:?}");
    }
}
