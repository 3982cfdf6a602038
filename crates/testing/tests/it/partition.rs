use std::{
    io::{BufRead, BufReader, Write},
    net::Ipv4Addr,
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use ropeline_testing::{Cut, Side, TestRedis, TestSentinels};

/// A Unix group that nobody is in.
const CLIENTS: u32 = 54_321;
/// How long an answer is waited for that must not come.
const SILENCE: Duration = Duration::from_millis(500);
/// How long an answer is waited for that must; what was lost on the way is sent again by then.
const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn a_master_that_is_cut_off_is_replaced_and_a_replica_when_the_cut_is_mended() {
    let group = TestSentinels::start();
    let rest: Vec<_> = (1..group.count())
        .map(|server| group.ip(server))
        .chain((0..3).map(|sentinel| group.sentinel_ip(sentinel)))
        .collect();

    let cut = Cut::between(&[group.ip(0)], &rest[..]);
    let second = group.wait_for_new_master(0);
    assert!(group.cli(0, &["ROLE"]).starts_with("master"));
    group.cli(0, &["SET", "told", "in vain"]);

    drop(cut);
    group.wait_whole();
    assert_eq!(group.master(), second);
    assert_eq!(group.cli(second, &["GET", "told"]), "");
}

#[test]
fn a_client_is_cut_off_by_the_group_of_its_process_and_no_other_client_is() {
    let redis = TestRedis::start();
    let mut inside = Client::start(&redis, Some(CLIENTS));
    let mut outside = Client::start(&redis, None);
    let server = [Ipv4Addr::LOCALHOST];
    assert!(inside.ping(PATIENCE) && outside.ping(PATIENCE));

    let cut = Cut::between(Side::groups(&[CLIENTS]), &server);
    assert!(!inside.ping(SILENCE));
    assert!(outside.ping(PATIENCE));

    drop(cut);
    assert!(inside.hears(PATIENCE));
}

#[test]
fn a_client_that_is_cut_off_hears_nothing_of_what_a_server_sends_by_itself() {
    let redis = TestRedis::start();
    let mut client = Client::start(&redis, Some(CLIENTS + 1));
    client.say("SUBSCRIBE news");
    for _ in ["subscribe", "news", "1"] {
        assert!(client.hears(PATIENCE));
    }

    let cut = Cut::between(Side::groups(&[CLIENTS + 1]), &[Ipv4Addr::LOCALHOST]);
    redis.cli(&["PUBLISH", "news", "the last that may pass"]);
    while client.hears(SILENCE) {}
    redis.cli(&["PUBLISH", "news", "lost"]);
    assert!(!client.hears(SILENCE));

    drop(cut);
    assert!(client.hears(PATIENCE));
}

/// A `redis-cli` that keeps its connection.
struct Client {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Client {
    fn start(redis: &TestRedis, group: Option<u32>) -> Self {
        let mut command = Command::new("redis-cli");
        command.args(["-p", &redis.port().to_string()]);
        if let Some(group) = group {
            command.gid(group);
        }
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = piped.spawn().expect("redis-cli runs");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                sender.send(line).ok();
            }
        });
        Self {
            input: process.stdin.take().expect("it is piped"),
            process,
            lines,
        }
    }

    fn say(&mut self, command: &str) {
        writeln!(self.input, "{command}").expect("it reads");
    }

    fn ping(&mut self, limit: Duration) -> bool {
        self.say("PING");
        self.hears(limit)
    }

    fn hears(&self, limit: Duration) -> bool {
        self.lines.recv_timeout(limit).is_ok()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
