//! Nodes on one Redis that take each other's tokens, the same admin key, and the same sessions.

use std::{fs, time::Duration};

use ropeline_testing::{TestRedis, http::Client};

use crate::{
    admin::{is_in, log_in},
    process::{Server, Site, mode},
    reload::{RELOADED, reload},
    still::STILL_ROOM,
    visitor::{status, token_of},
    wait::until,
};

/// Within this every node has heard of a change.
const HEARD_MAX: Duration = Duration::from_secs(6);
/// And within this it signs with a key that is new.
const SIGNS_MAX: Duration = Duration::from_secs(20);

fn site(redis: &TestRedis) -> Site {
    Site::new(&format!("store = '{}'\n{STILL_ROOM}", redis.url()))
}

/// Nodes that are started at the same instant.
fn start_together<const N: usize>(sites: &[Site; N]) -> [Server; N] {
    std::thread::scope(|scope| {
        let starting = sites.each_ref().map(|site| scope.spawn(|| site.start()));
        starting.map(|server| server.join().expect("it is ready"))
    })
}

fn header(token: &str) -> &str {
    token.split('.').next().expect("a token has parts")
}

fn shared(redis: &TestRedis, name: &str) -> String {
    redis.cli(&["GET", &format!("rl:shared:{name}")])
}

fn believes(client: &mut Client, token: &str) -> bool {
    let status = client.send(&status(token)).status;
    assert!(status == 200 || status == 401, "{status}");
    status == 200
}

#[test]
fn nodes_that_start_at_the_same_instant_have_the_same_keys() {
    let redis = TestRedis::start();
    let sites = [site(&redis), site(&redis), site(&redis)];
    let servers = start_together(&sites);
    let mut clients = servers.each_ref().map(Server::client);
    for at in 0..clients.len() {
        let token = token_of(&mut clients[at], &format!("user-{at}"));
        for client in &mut clients {
            assert!(believes(client, &token));
        }
    }
    let keys = sites.each_ref().map(|site| site.data().join("keys.json"));
    let first = fs::read_to_string(&keys[0]).expect("kept");
    for file in &keys {
        assert_eq!(fs::read_to_string(file).expect("kept"), first);
        assert_eq!(mode(file), 0o600);
    }
    assert_eq!(shared(&redis, "signing-keys"), first);
}

#[test]
fn the_admin_key_that_one_node_made_is_taken_by_all() {
    let redis = TestRedis::start();
    let sites = [site(&redis), site(&redis), site(&redis)];
    let servers = start_together(&sites);
    let has_key = |site: &&Site| site.data().join("admin.key").exists();
    let makers: Vec<_> = sites.iter().filter(has_key).collect();
    assert_eq!(makers.len(), 1);
    let key = makers[0].admin_key();
    let (mut makes, mut told) = (0, 0);
    for server in &servers {
        server.room(&key);
        makes += server.stdout().matches("admin.key, made now").count();
        let of_first = "admin key   the one that the first node made, in its data directory";
        told += server.stdout().matches(of_first).count();
    }
    assert_eq!((makes, told), (1, 2));
    assert!(!shared(&redis, "admin-key").contains(&key));
    redis.cli(&["FLUSHALL"]);
    until(HEARD_MAX, "the admin key is shared again", || {
        shared(&redis, "admin-key")
            .starts_with("sha256:")
            .then_some(())
    });
}

#[test]
fn a_rotation_on_one_node_reaches_all_and_voids_no_token_on_its_way() {
    let redis = TestRedis::start();
    let sites = [site(&redis), site(&redis)];
    let servers = start_together(&sites);
    let mut clients = servers.each_ref().map(Server::client);
    let old = token_of(&mut clients[0], "old");
    let said = sites[1].ropeline("keys rotate").result();
    assert!(said.ends_with("signs as soon as every node has it, in about ten seconds\n"));
    let mut user = 0;
    let new = until(SIGNS_MAX, "every node signs with the new key", || {
        user += 1;
        let tokens: Vec<_> = clients
            .iter_mut()
            .zip(["a", "b"])
            .map(|(client, node)| token_of(client, &format!("{node}-{user}")))
            .collect();
        for client in &mut clients {
            assert!(tokens.iter().all(|token| believes(client, token)));
            assert!(believes(client, &old));
        }
        let is_new = tokens.iter().all(|token| header(token) != header(&old));
        is_new.then(|| tokens[0].clone())
    });
    assert!(user > 10, "there were tokens on the way");
    let kids = sites[0].ropeline("keys list").result();
    assert_eq!(kids, sites[1].ropeline("keys list").result());
    let (oldest, _) = kids
        .lines()
        .last()
        .and_then(|line| line.split_once(' '))
        .expect("a kid");
    sites[0].ropeline(&format!("keys retire {oldest}")).result();
    until(HEARD_MAX, "the old key is void on every node", || {
        let mut void = clients.iter_mut().map(|client| !believes(client, &old));
        void.all(|void| void).then_some(())
    });
    assert!(clients.iter_mut().all(|client| believes(client, &new)));
    // Neither a restart nor a node that comes with nothing brings it back.
    drop(servers);
    let late = site(&redis);
    for server in [sites[1].start(), late.start()] {
        assert!(!believes(&mut server.client(), &old));
        assert!(believes(&mut server.client(), &new));
    }
}

#[test]
fn a_flushed_redis_has_the_keys_of_its_nodes_again() {
    let redis = TestRedis::start();
    let sites = [site(&redis), site(&redis)];
    let servers = start_together(&sites);
    let token = token_of(&mut servers[0].client(), "ann");
    let keys = shared(&redis, "signing-keys");
    redis.cli(&["FLUSHALL"]);
    until(HEARD_MAX, "the keys are shared again", || {
        (shared(&redis, "signing-keys") == keys).then_some(())
    });
    let late = site(&redis);
    let server = late.start();
    assert!(believes(&mut server.client(), &token));
}

#[test]
fn a_given_admin_key_that_others_do_not_take_is_warned_of() {
    let redis = TestRedis::start();
    let first = site(&redis);
    let _first_server = first.start();
    let second = site(&redis).with_flag("--admin-key", "another-admin-key-than-theirs");
    let server = second.start();
    let warned = "is not the one that other nodes take";
    assert!(server.stderr().contains(warned), "{}", server.stderr());
    server.room("another-admin-key-than-theirs");
}

#[test]
fn a_key_that_a_reload_gives_to_a_node_is_not_shared() {
    let redis = TestRedis::start();
    let site = site(&redis);
    let settings = format!("store = '{}'\n{STILL_ROOM}", redis.url());
    let server = site.start();
    let made = shared(&redis, "admin-key");
    let file = site.with_file("key", b"another-admin-key-than-theirs");
    site.configure(&format!(
        "admin_key_file = '{}'\n{settings}",
        file.display()
    ));
    let said = reload(&server, RELOADED);
    assert!(
        said.contains("is not the one that other nodes take"),
        "{said}"
    );
    server.room("another-admin-key-than-theirs");
    assert_eq!(shared(&redis, "admin-key"), made);

    // Every round of the node that shares its keys shares its admin key too, so one round is enough.
    redis.cli(&["FLUSHALL"]);
    until(HEARD_MAX, "the signing keys are shared again", || {
        shared(&redis, "signing-keys")
            .contains("keys")
            .then_some(())
    });
    redis.cli(&["DEL", "rl:shared:signing-keys"]);
    until(HEARD_MAX, "and once more", || {
        shared(&redis, "signing-keys")
            .contains("keys")
            .then_some(())
    });
    assert_eq!(shared(&redis, "admin-key"), "");
    let log = server.stderr();
    assert!(!log.contains("other nodes take another admin key"), "{log}");

    // Taken away again, the key that this node made is shared again, and stays so.
    site.configure(&settings);
    let said = reload(&server, RELOADED);
    assert!(said.contains("the admin key has changed"), "{said}");
    assert_eq!(shared(&redis, "admin-key"), made);
    redis.cli(&["FLUSHALL"]);
    until(HEARD_MAX, "the key is shared again", || {
        (shared(&redis, "admin-key") == made).then_some(())
    });
    server.room(&site.admin_key());
}

#[test]
fn a_session_that_is_ended_on_one_node_is_ended_on_all() {
    let redis = TestRedis::start();
    let sites = [site(&redis), site(&redis)];
    let [here, there] = sites.each_ref().map(Site::start);
    let key = sites[0].admin_key();
    let (first, second) = (log_in(&here, &key), log_in(&there, &key));
    assert!(
        is_in(&there, &first) && is_in(&here, &second),
        "known at once"
    );
    let list = sites[0].ropeline("admin sessions list").result();
    let id = list.lines().nth(1).and_then(|line| line.split(' ').next());
    let end = format!("admin sessions end {}", id.expect("the oldest"));
    sites[0].ropeline(&end).result();
    until(HEARD_MAX, "the other node has heard of it", || {
        (!is_in(&there, &first)).then_some(())
    });
    assert!(!is_in(&here, &first));
    assert!(is_in(&here, &second) && is_in(&there, &second));
    here.kill();
    let here = sites[0].start();
    assert!(
        is_in(&here, &second) && !is_in(&here, &first),
        "after a restart, too"
    );
    let kept = shared(&redis, "admin-sessions");
    assert!(
        !kept.contains(second.rsplit('.').next().expect("a signature")),
        "{kept}"
    );
}
