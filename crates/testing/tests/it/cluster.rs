use ropeline_testing::{Cut, Moving, TestCluster};

/// One cluster for the whole story: starting one takes longer than all that happens to it.
#[test]
fn a_cluster_survives_its_owner_and_moves_slots_with_their_keys() {
    let mut cluster = TestCluster::start();
    a_slot_moves_with_its_keys(&cluster);
    a_replica_takes_over_when_told(&cluster);
    a_killed_owner_is_replaced_and_comes_back_as_a_replica(&mut cluster);
    a_frozen_owner_is_replaced_too(&cluster);
    an_owner_that_is_cut_off_is_replaced_too(&cluster);
}

fn a_slot_moves_with_its_keys(cluster: &TestCluster) {
    let slot = cluster.slot_of("{room}");
    let from = cluster.owner_of_slot(slot);
    let to = (from + 1) % 3;
    for key in ["{room}:a", "{room}:b", "{room}:c"] {
        cluster.cli(from, &["SET", key, key]);
    }
    let mut seen = Vec::new();
    cluster.migrate_slot_watched(slot, to, 1, |step| {
        let answer = cluster.cli(from, &["MGET", "{room}:a", "{room}:b", "{room}:c"]);
        seen.push((
            step,
            answer.split(' ').next().unwrap_or_default().to_owned(),
        ));
    });
    assert_eq!(seen[0].0, Moving::Opened);
    assert!(
        seen.contains(&(Moving::Halfway, "TRYAGAIN".to_owned())),
        "{seen:?}"
    );
    assert!(
        seen.contains(&(Moving::Emptied, "ASK".to_owned())),
        "{seen:?}"
    );
    assert_eq!(cluster.owner_of("{room}"), to);
    assert_eq!(cluster.cli(to, &["GET", "{room}:b"]), "{room}:b");
    assert!(cluster.cli(from, &["GET", "{room}:b"]).starts_with("MOVED"));
}

fn a_replica_takes_over_when_told(cluster: &TestCluster) {
    let old = cluster.owner_of("{room}");
    let replica = cluster.replica_of(old);
    cluster.failover(replica);
    assert_eq!(cluster.wait_for_new_owner("{room}", old), replica);
    cluster.wait_whole();
    assert_eq!(cluster.replica_of(replica), old);
}

fn a_killed_owner_is_replaced_and_comes_back_as_a_replica(cluster: &mut TestCluster) {
    let old = cluster.owner_of("{room}");
    cluster.wait_copied(old);
    cluster.kill(old);
    let new = cluster.wait_for_new_owner("{room}", old);
    assert_eq!(cluster.cli(new, &["GET", "{room}:b"]), "{room}:b");
    cluster.start_again(old);
    cluster.wait_whole();
    assert_eq!(cluster.owner_of("{room}"), new);
    assert_eq!(cluster.replica_of(new), old);
}

fn a_frozen_owner_is_replaced_too(cluster: &TestCluster) {
    let old = cluster.owner_of("{room}");
    cluster.freeze(old);
    let new = cluster.wait_for_new_owner("{room}", old);
    cluster.thaw(old);
    cluster.wait_whole();
    assert_eq!(cluster.owner_of("{room}"), new);
    assert_eq!(cluster.replica_of(new), old);
}

fn an_owner_that_is_cut_off_is_replaced_too(cluster: &TestCluster) {
    let old = cluster.owner_of("{room}");
    let rest = (0..cluster.count()).filter(|&server| server != old);
    let rest: Vec<_> = rest.map(|server| cluster.ip(server)).collect();

    let cut = Cut::between(&[cluster.ip(old)], &rest[..]);
    let new = cluster.wait_for_new_owner("{room}", old);
    assert!(cluster.cli(old, &["ROLE"]).starts_with("master"));

    drop(cut);
    cluster.wait_whole();
    assert_eq!(cluster.owner_of("{room}"), new);
    assert_eq!(cluster.replica_of(new), old);
}
