use ropeline_testing::TestSentinels;

#[test]
fn a_killed_master_is_replaced_and_comes_back_as_a_replica() {
    let mut group = TestSentinels::start();
    assert_eq!(group.master(), 0);
    group.cli(0, &["SET", "kept", "yes"]);
    group.wait_copied(0);

    group.kill(0);
    let second = group.wait_for_new_master(0);
    assert_eq!(group.cli(second, &["GET", "kept"]), "yes");

    group.start_again(0);
    group.wait_whole();
    assert_eq!(group.master(), second);
    assert_eq!(group.cli(0, &["GET", "kept"]), "yes");
    assert_eq!(role(&group, 0), "slave");
}

#[test]
fn a_frozen_master_is_replaced_and_forgets_what_it_alone_was_told() {
    let group = TestSentinels::start();
    group.freeze(0);
    let second = group.wait_for_new_master(0);
    assert_eq!(role(&group, second), "master");

    group.thaw(0);
    group.cli(0, &["SET", "told", "too late"]);
    group.wait_whole();
    assert_eq!(group.master(), second);
    assert_eq!(role(&group, 0), "slave");
    assert_eq!(group.cli(0, &["GET", "told"]), "");
}

#[test]
fn a_master_is_replaced_while_a_sentinel_is_down() {
    let mut group = TestSentinels::start();
    group.kill_sentinel(0);
    group.kill(0);
    let second = group.wait_for_new_master(0);
    group.start_again(0);
    group.start_sentinel_again(0);
    group.wait_whole();
    assert_eq!(group.master(), second);
}

fn role(group: &TestSentinels, server: usize) -> String {
    let role = group.cli(server, &["ROLE"]);
    role.lines().next().unwrap_or_default().to_owned()
}
