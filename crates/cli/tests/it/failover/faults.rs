//! What befalls Redis.

use std::{thread, time::Duration};

use ropeline_testing::{Cut, Side, TestCluster, TestSentinels};

use super::{story::neighbour_of_main, witness::Witness};
use crate::wait::Stopwatch;

/// How long a server is stopped in its tracks.
const STOPPED: Duration = Duration::from_secs(10);
/// A former master that was stopped still takes itself for one for so long.
const FALSE_MASTER: Duration = Duration::from_secs(5);
/// A replica that is silent for so long is given up by its master.
const GIVEN_UP: Duration = Duration::from_secs(6);
/// How long replicas hear nothing before their master dies. It waits longer for them.
const HELD_BACK: Duration = Duration::from_millis(1_200);
const SENTINELS_AWAY: Duration = Duration::from_secs(5);
/// How long the cut lasts after others have gone on without those who were cut off.
const CUT_GOES_ON: Duration = Duration::from_secs(1);

/// `kill -9` of the master, which comes back.
pub(super) fn master_killed(group: &mut TestSentinels, witness: &Witness<'_>) {
    let old = group.master();
    witness.replaced(|| {
        group.kill(old);
        group.wait_for_new_master(old);
    });
    group.start_again(old);
    group.wait_whole();
}

/// `kill -9` of the master and of a node, which is started before there is another master.
pub(super) fn master_and_node_killed(group: &mut TestSentinels, witness: &Witness<'_>) {
    let old = group.master();
    witness.replaced(|| {
        witness.nodes.kill(0, witness.crowd, || group.kill(old));
        group.wait_for_new_master(old);
    });
    group.start_again(old);
    group.wait_whole();
}

/// The master does nothing for ten seconds, and then goes on as if nothing had happened.
pub(super) fn master_stopped(group: &mut TestSentinels, witness: &Witness<'_>) {
    let old = group.master();
    let watch = Stopwatch::start();
    witness.replaced(|| {
        group.freeze(old);
        group.wait_for_new_master(old);
    });
    thread::sleep(STOPPED.saturating_sub(watch.elapsed()));
    group.thaw(old);
    thread::sleep(FALSE_MASTER);
}

/// The master is killed, comes back as the next one is killed, and that one comes back too.
pub(super) fn two_masters_killed(group: &mut TestSentinels, witness: &Witness<'_>) {
    let first = group.master();
    let mut second = first;
    witness.replaced(|| {
        group.kill(first);
        second = group.wait_for_new_master(first);
    });
    group.start_again(first);
    witness.replaced(|| {
        group.kill(second);
        group.wait_for_new_master(second);
    });
    group.start_again(second);
    group.wait_whole();
}

/// A replica was stopped for so long that it knows nothing of the last seconds, and goes on as the master is killed.
pub(super) fn replica_stale(group: &mut TestSentinels, witness: &Witness<'_>) {
    let old = group.master();
    let stale = (old + 1) % group.count();
    group.freeze(stale);
    thread::sleep(GIVEN_UP);
    witness.replaced(|| {
        group.kill(old);
        group.thaw(stale);
        group.wait_for_new_master(old);
    });
    group.start_again(old);
    group.wait_whole();
}

/// Nobody watches over the master for a while.
pub(super) fn sentinels_killed(group: &mut TestSentinels, witness: &Witness<'_>) {
    witness.unnoticed(|| {
        for sentinel in 0..3 {
            group.kill_sentinel(sentinel);
        }
        thread::sleep(SENTINELS_AWAY);
    });
    for sentinel in 0..3 {
        group.start_sentinel_again(sentinel);
    }
    group.wait_whole();
}

/// Nothing reaches the replicas any more, and then the master is killed: what it took meanwhile it took alone.
pub(super) fn replication_held_back(group: &mut TestSentinels, witness: &Witness<'_>) {
    let old = group.master();
    let others = (0..group.count()).filter(|&server| server != old);
    let others: Vec<_> = others.map(|server| group.ip(server)).collect();
    witness.replaced(|| {
        let cut = Cut::between(&[group.ip(old)], &others[..]);
        thread::sleep(HELD_BACK);
        group.kill(old);
        group.wait_for_new_master(old);
        drop(cut);
    });
    group.start_again(old);
    group.wait_whole();
}

/// As [`replication_held_back`], and all nodes are killed with the master.
pub(super) fn replication_held_back_and_nodes_killed(
    group: &mut TestSentinels,
    witness: &Witness<'_>,
) {
    let old = group.master();
    let others = (0..group.count()).filter(|&server| server != old);
    let others: Vec<_> = others.map(|server| group.ip(server)).collect();
    let (nodes, crowd) = (witness.nodes, witness.crowd);
    witness.replaced(|| {
        let cut = Cut::between(&[group.ip(old)], &others[..]);
        thread::sleep(HELD_BACK);
        let replace_master = || {
            group.kill(old);
            group.wait_for_new_master(old);
            drop(cut);
        };
        let kill_third = || nodes.kill(2, crowd, replace_master);
        nodes.kill(0, crowd, || nodes.kill(1, crowd, kill_third));
    });
    group.start_again(old);
    group.wait_whole();
}

/// `kill -9` of the server that owns the rooms, which comes back.
pub(super) fn owner_killed(cluster: &mut TestCluster, witness: &Witness<'_>) {
    let old = cluster.owner_of("{main}");
    witness.replaced(|| {
        cluster.kill(old);
        cluster.wait_for_new_owner("{main}", old);
    });
    cluster.start_again(old);
    cluster.wait_whole();
}

/// The owner does nothing for ten seconds, and then goes on as if nothing had happened.
pub(super) fn owner_stopped(cluster: &mut TestCluster, witness: &Witness<'_>) {
    let old = cluster.owner_of("{main}");
    let watch = Stopwatch::start();
    witness.replaced(|| {
        cluster.freeze(old);
        cluster.wait_for_new_owner("{main}", old);
    });
    thread::sleep(STOPPED.saturating_sub(watch.elapsed()));
    cluster.thaw(old);
    cluster.wait_whole();
}

/// An operator lets the replica take over: nothing is lost by that.
pub(super) fn owner_relieved(cluster: &mut TestCluster, witness: &Witness<'_>) {
    let old = cluster.owner_of("{main}");
    let replica = cluster.replica_of(old);
    witness.interrupted(|| {
        cluster.failover(replica);
        cluster.wait_for_new_owner("{main}", old);
    });
    cluster.wait_whole();
}

/// An operator moves the rooms to another server, key by key.
pub(super) fn rooms_moved(cluster: &mut TestCluster, witness: &Witness<'_>) {
    let rooms = ["main".to_owned(), neighbour_of_main(cluster)];
    let old = cluster.owner_of("{main}");
    let to = (0..cluster.count())
        .find(|&server| server != old && cluster.cli(server, &["ROLE"]).starts_with("master"));
    let to = to.expect("there are three masters");
    for room in rooms {
        let slot = cluster.slot_of(&format!("{{{room}}}"));
        witness.interrupted(|| cluster.migrate_slot_watched(slot, to, 1, |_| {}));
    }
}

/// The owner is cut off together with one node; the other nodes and servers go on without them.
pub(super) fn owner_cut_off(cluster: &mut TestCluster, witness: &Witness<'_>) {
    let old = cluster.owner_of("{main}");
    let rest = (0..cluster.count()).filter(|&server| server != old);
    let rest: Vec<_> = rest.map(|server| cluster.ip(server)).collect();
    let (with_owner, others) = witness.groups.split_at(1);
    witness.cut_off(0, || {
        let inside = Side::from(&[cluster.ip(old)]).and_groups(with_owner);
        let outside = Side::from(&rest[..]).and_groups(others);
        let mut cut = None;
        witness.replaced(|| {
            cut = Some(Cut::between(inside, outside));
            cluster.wait_for_new_owner("{main}", old);
        });
        thread::sleep(CUT_GOES_ON);
        witness.interrupted(|| {
            drop(cut);
            cluster.wait_whole();
        });
    });
}
