use ropeline_testing::{Clocks, Persistence, TestStandalone};

fn time(server: &TestStandalone) -> i64 {
    let answer = server.cli(0, &["TIME"]);
    let seconds = answer.lines().next().and_then(|line| line.parse().ok());
    seconds.expect("a server tells the time")
}

#[test]
fn the_wall_clock_of_a_server_can_be_moved_both_ways_and_stays_so_after_a_restart() {
    let mut server = TestStandalone::with(Persistence::None, Clocks::Own);
    let before = time(&server);
    server.shift_clock(0, 3_600);
    assert!(time(&server) >= before + 3_600);
    server.shift_clock(0, -7_200);
    assert!(time(&server) < before - 7_000);
    server.kill(0);
    server.start_again(0);
    assert!(time(&server) < before - 7_000);
}

#[test]
fn a_server_that_has_forgotten_starts_empty_with_its_settings() {
    let mut server = TestStandalone::with(Persistence::Always, Clocks::Machine);
    assert_eq!(server.cli(0, &["SET", "key", "value"]), "OK");
    server.kill(0);
    server.start_again(0);
    assert_eq!(server.cli(0, &["GET", "key"]), "value");
    server.kill(0);
    server.forget(0);
    server.start_again(0);
    assert_eq!(server.cli(0, &["DBSIZE"]), "0");
}
