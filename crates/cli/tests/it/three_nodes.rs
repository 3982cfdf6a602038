//! The example of `deploy/` with three nodes: a real nginx before real nodes on a real Redis.

use std::{
    io::Read,
    net::{SocketAddr, TcpListener},
    thread,
    time::Duration,
};

use ropeline_testing::{
    TestRedis,
    http::{Ask, Client, Reply},
};
use tempfile::TempDir;

use crate::{
    process::{Leashed, Server, Site, free_address},
    proxy::{entered, recipe, sent_to_wait, service, start_nginx},
    visitor::{Place, join, leave, status, token, token_of, verify},
    wait::{any_of, until},
};

/// What has not happened by then never will.
const WAIT_MAX: Duration = Duration::from_secs(10);
const NODES: usize = 3;

/// Three nodes behind nginx.
struct Front {
    nodes: [Option<Server>; NODES],
    sites: [Site; NODES],
    address: SocketAddr,
    _nginx: Leashed,
    _directory: TempDir,
    _redis: TestRedis,
}

impl Front {
    /// One inside, for a minute.
    fn start() -> Self {
        let redis = TestRedis::start();
        let settings = format!(
            "store = \"{}\"\ntrusted_proxies = [\"127.0.0.1\"]\n\
             [rooms.main]\nactive_max = 1\npass_ttl = \"60s\"\npass_max = \"0s\"\n",
            redis.url()
        );
        let sites: [Site; NODES] = std::array::from_fn(|_| Site::new(&settings));
        let nodes = sites.each_ref().map(|site| Some(site.start()));
        let address = free_address();
        let directory = tempfile::tempdir().expect("a temporary directory");
        let recipe = recipe("nginx-three-nodes.conf", &changes(&sites, address));
        let nginx = start_nginx(directory.path(), &recipe, address);
        Self {
            nodes,
            sites,
            address,
            _nginx: nginx,
            _directory: directory,
            _redis: redis,
        }
    }

    fn client(&self) -> Client {
        Client::connect(self.address).expect("nginx takes connections")
    }

    fn kill(&mut self, node: usize) {
        self.nodes[node].take().expect("it runs").kill();
    }

    fn start_again(&mut self, node: usize) {
        self.nodes[node] = Some(self.sites[node].start());
    }

    fn live_nodes(&self) -> impl Iterator<Item = &Server> {
        self.nodes.iter().flatten()
    }
}

/// The addresses of this test in the place of those of the compose file.
fn changes(sites: &[Site; NODES], address: SocketAddr) -> Vec<(String, String)> {
    let mut changes = vec![
        (
            "server service:80;".to_owned(),
            format!("server {};", service()),
        ),
        ("listen 80;".to_owned(), format!("listen {address};")),
    ];
    for (node, site) in (1..).zip(sites) {
        for role in ["max_fails=2", "max_fails=0"] {
            let written = format!("server node-{node}:8080 {role}");
            changes.push((written, format!("server {} {role}", site.address())));
        }
    }
    changes
}

/// Somebody in line, and what they were told last.
struct Waiting {
    token: String,
    place: Place,
    version: String,
}

impl Waiting {
    fn of(reply: &Reply) -> Self {
        assert_eq!(reply.status, 201, "{}", reply.json());
        Self {
            token: token(reply),
            place: Place::of(reply).expect("a join is answered with a place"),
            version: reply.json()["version"].to_string(),
        }
    }

    /// Asks again, and expects the same place with no more people ahead.
    #[track_caller]
    fn is_where_it_was(&mut self, client: &mut Client) {
        let ask = status(&self.token).header("X-Queue-Version", &self.version);
        let reply = client.send(&ask);
        assert_eq!(
            reply.status,
            200,
            "{}",
            String::from_utf8_lossy(&reply.body)
        );
        let place = Place::of(&reply).expect("status answers with a place");
        assert_eq!(place.ordinal, self.place.ordinal);
        assert!(
            place.ahead <= self.place.ahead,
            "{place:?} after {:?}",
            self.place
        );
        self.place = place;
        self.version = reply.json()["version"].to_string();
    }
}

fn crowd(client: &mut Client, count: u64) -> Vec<Waiting> {
    let users = (1..=count).map(|number| format!("user-{number}"));
    users
        .map(|user| Waiting::of(&client.send(&join(&user))))
        .collect()
}

#[test]
fn every_node_says_the_same_of_whoever_joined_through_nginx() {
    let front = Front::start();
    let mut crowd = crowd(&mut front.client(), 10);
    let ordinals: Vec<_> = crowd.iter().map(|one| one.place.ordinal).collect();
    assert_eq!(ordinals, (1..=10).collect::<Vec<_>>());
    for node in front.live_nodes() {
        for one in &mut crowd {
            one.is_where_it_was(&mut node.client());
        }
    }
    let ahead: Vec<_> = crowd.iter().map(|one| one.place.ahead).collect();
    assert_eq!(ahead, [0, 0, 1, 2, 3, 4, 5, 6, 7, 8], "the first is inside");
}

#[test]
fn who_left_has_left_on_every_node() {
    let front = Front::start();
    // From the end of the line, so that nobody but the first is ever inside.
    for one in crowd(&mut front.client(), 20).iter().rev() {
        let left = front.client().send(&leave(&one.token));
        assert_eq!(left.status, 204);
        let version = left.header("x-queue-version").expect("it says when");
        let (ended, code) = if one.place.ordinal == 1 {
            (401, "TOKEN_EXPIRED")
        } else {
            (404, "TOKEN_NOT_FOUND")
        };
        for node in front.live_nodes() {
            let ask = |ask: Ask| node.client().send(&ask.header("X-Queue-Version", version));
            let (status, gate) = (ask(status(&one.token)), ask(verify(&one.token)));
            assert_eq!((status.status, status.code()), (ended, code.to_owned()));
            assert_eq!((gate.status, gate.code()), (401, code.to_owned()));
        }
    }
}

#[test]
fn nobody_loses_a_place_however_the_nodes_come_and_go() {
    let mut front = Front::start();
    let mut crowd = crowd(&mut front.client(), 20);
    let all_are_where_they_were = |front: &Front, crowd: &mut Vec<Waiting>| {
        for one in crowd {
            one.is_where_it_was(&mut front.client());
        }
    };
    front.kill(0);
    all_are_where_they_were(&front, &mut crowd);
    front.kill(1);
    all_are_where_they_were(&front, &mut crowd);
    // The one that comes back has forgotten everything, and is the only one left.
    front.start_again(0);
    front.kill(2);
    all_are_where_they_were(&front, &mut crowd);
    let ahead = crowd.iter().map(|one| one.place.ahead);
    assert!(
        ahead.eq([0].into_iter().chain(0..19)),
        "nobody came or went"
    );
}

#[test]
fn the_gate_stays_right_as_long_as_a_node_is_left() {
    let mut front = Front::start();
    let mut client = front.client();
    let (ann, bob) = (token_of(&mut client, "ann"), token_of(&mut client, "bob"));
    let enter = |token: &str| Ask::get("/concert").token(token);
    for left in (0..NODES).rev() {
        for _ in 0..10 {
            entered(&client.send(&enter(&ann)), "ann");
            sent_to_wait(&client.send(&enter(&bob)), "/concert");
        }
        if left > 0 {
            front.kill(left);
        }
    }
    assert_eq!(client.send(&leave(&ann)).status, 204);
    entered(&client.send(&enter(&bob)), "bob");
    sent_to_wait(&client.send(&enter(&ann)), "/concert");
    front.kill(0);
    until(WAIT_MAX, "no node answers", || {
        (client.send(&enter(&bob)).status == 500).then_some(())
    });
}

#[test]
fn joins_with_a_key_are_answered_while_nodes_are_killed() {
    const JOINS: u64 = 600;
    let mut front = Front::start();
    // A new room holds joins for a second, in which every node that one is sent to could be killed.
    token_of(&mut front.client(), "first");
    let address = front.address;
    let joining = thread::spawn(move || join_all(address, JOINS));
    let mut kills = 0;
    while !joining.is_finished() {
        let node = usize::try_from(any_of(0..=2)).expect("a small number");
        front.kill(node);
        front.start_again(node);
        kills += 1;
    }
    let ordinals = joining.join().expect("every join is answered");
    assert!(kills > 1, "nodes were killed meanwhile: {kills}");
    let expected: Vec<_> = (2..=JOINS + 1).collect();
    assert_eq!(ordinals, expected, "in order, none lost, none twice");
}

/// One after the other, each until it is answered for good.
fn join_all(address: SocketAddr, count: u64) -> Vec<u64> {
    let mut client = Client::connect(address).expect("nginx takes connections");
    let each = (1..=count).map(|number| {
        let user = format!("user-{number}");
        let ask = join(&user).header("Idempotency-Key", &format!("key-{number}"));
        let reply = client.send(&ask);
        assert!(
            matches!(reply.status, 200 | 201),
            "{user}: {} {}",
            reply.status,
            String::from_utf8_lossy(&reply.body)
        );
        Place::of(&reply)
            .expect("a join is answered with a place")
            .ordinal
    });
    each.collect()
}

/// Joins through nginx until one has met a node that takes the request and dies before it answers; gives what
/// each was answered with.
fn joins_until_a_node_dies(ask: impl Fn(&str) -> Ask) -> Vec<u16> {
    let mut front = Front::start();
    front.kill(1);
    let dying = TcpListener::bind(front.sites[1].address()).expect("its port is free");
    let dying = thread::spawn(move || {
        let (mut stream, _) = dying.accept().expect("nginx comes here in its turn");
        assert!(stream.read(&mut [0; 1024]).expect("a request is sent") > 0);
    });
    let mut client = front.client();
    let mut statuses = Vec::new();
    while !dying.is_finished() {
        let user = format!("user-{}", statuses.len());
        statuses.push(client.send(&ask(&user)).status);
    }
    dying.join().expect("it was sent a join");
    statuses
}

#[test]
fn a_join_without_a_key_is_not_sent_to_another_node() {
    let statuses = joins_until_a_node_dies(join);
    let unknown = statuses.iter().filter(|&&status| status == 502).count();
    let answered = statuses.iter().filter(|&&status| status == 201).count();
    assert_eq!((unknown, answered), (1, statuses.len() - 1), "{statuses:?}");
}

#[test]
fn a_join_with_a_key_is() {
    let statuses = joins_until_a_node_dies(|user| join(user).header("Idempotency-Key", user));
    assert!(statuses.iter().all(|&status| status == 201), "{statuses:?}");
}
