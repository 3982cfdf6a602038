//! `ropeline move`, with people in line before and after.

use ropeline_testing::TestRedis;
use serde_json::Value;

use crate::{
    Said,
    process::{Server, Site},
    visitor::{Place, join, leave, status, token_of, verify},
};

/// A bank counter for one in which nobody is ever absent.
const ROOM: &str = "\
[rooms.main]
every = \"30d\"
active_max = 1
pass_ttl = \"30d\"
pass_max = \"0s\"
presence_ttl = \"0s\"
";

fn on_redis(redis: &TestRedis) -> Site {
    Site::new(&format!("store = \"{}\"\n{ROOM}", redis.url()))
}

/// Ann is inside, Bob and Cat wait.
fn three(server: &Server) -> Vec<String> {
    let mut client = server.client();
    let users = ["ann", "bob", "cat"];
    users
        .iter()
        .map(|user| token_of(&mut client, user))
        .collect()
}

/// Everybody is where they were, and the line goes on.
#[track_caller]
fn goes_on(server: &Server, tokens: &[String]) {
    let mut client = server.client();
    assert_eq!(client.send(&verify(&tokens[0])).status, 204);
    for (token, ahead) in tokens[1..].iter().zip(0..) {
        assert_eq!(client.send(&verify(token)).status, 403);
        let place = Place::of(&client.send(&status(token))).expect("a place");
        assert_eq!((place.ordinal, place.ahead), (ahead + 2, ahead));
    }
    assert_eq!(client.send(&join("cat")).code(), "DUPLICATED_TOKEN");
    let new = Place::of(&client.send(&join("dan"))).expect("a place");
    assert_eq!((new.ordinal, new.ahead), (4, 2));
    assert_eq!(client.send(&leave(&tokens[0])).status, 204);
    assert_eq!(client.send(&verify(&tokens[1])).status, 204);
}

fn move_to(site: &Site, from: &str, to: &str) -> Said {
    site.ropeline(&format!("move --from {from} --to {to} --yes"))
}

/// A move may warn of a store beside its result.
#[track_caller]
fn moved(said: Said) -> String {
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    said.stdout
}

fn embedded(site: &Site) -> String {
    format!("embedded:{}", site.data().display())
}

#[test]
fn a_room_moves_to_redis_and_its_tokens_go_on_working_there() {
    let (redis, before) = (TestRedis::start(), Site::new(ROOM));
    let server = before.start();
    let tokens = three(&server);
    drop(server);
    let said = moved(move_to(&before, "embedded", &redis.url()));
    let figures = "3 places given: 1 inside, 0 at the door, 2 in line, 0 aside, 0 ended";
    assert!(said.contains(figures), "{said}");
    // On another machine, with another data directory.
    let after = on_redis(&redis);
    goes_on(&after.start(), &tokens);

    let old = before.start();
    assert_eq!(old.client().send(&join("eve")).status, 503);
    assert_eq!(old.client().send(&verify(&tokens[0])).status, 503);
    assert!(
        old.stderr().contains("main has moved to redis://"),
        "{}",
        old.stderr()
    );
}

#[test]
fn a_room_moves_off_redis_beside_a_running_node_which_lets_go_of_it() {
    let (redis, after) = (TestRedis::start(), Site::new(ROOM));
    let before = on_redis(&redis);
    let node = before.start();
    let tokens = three(&node);
    moved(move_to(&after, &redis.url(), "embedded"));
    assert_eq!(node.client().send(&join("eve")).status, 503);
    assert_eq!(node.client().send(&verify(&tokens[0])).status, 503);
    goes_on(&after.start(), &tokens);
    let view: Value = node.client().send(&status(&tokens[2])).json();
    assert_eq!(view["ahead"], 1, "what it last knew");
}

#[test]
fn every_room_moves_to_another_directory_and_back() {
    let other = "[rooms.other]\nactive_max = 5\n";
    let [one, two] = [0, 1].map(|_| Site::new(&format!("{ROOM}{other}")));
    let tokens = three(&one.start());
    let line = format!("move --from embedded --to {} --all --yes", embedded(&two));
    let said = moved(one.ropeline(&line));
    assert!(
        said.contains("main is in") && said.contains("other is in"),
        "{said}"
    );
    moved(two.ropeline(&format!(
        "move --from embedded --to {} --all --yes",
        embedded(&one)
    )));
    goes_on(&one.start(), &tokens);
}

#[test]
fn a_room_that_is_there_is_left_alone_unless_nobody_ever_joined_it() {
    let redis = TestRedis::start();
    let (before, after) = (Site::new(ROOM), on_redis(&redis));
    let tokens = three(&before.start());
    let node = after.start();
    let refused = move_to(&before, "embedded", &redis.url());
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("has a room main already"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("--replace-empty"),
        "{}",
        refused.stderr
    );
    // Nothing has changed by that.
    assert_eq!(
        before.start().client().send(&verify(&tokens[0])).status,
        204
    );
    let line = format!(
        "move --from embedded --to {} --replace-empty --yes",
        redis.url()
    );
    moved(before.ropeline(&line));
    let place = crate::wait::until(
        std::time::Duration::from_secs(10),
        "the node sees it",
        || Place::of(&node.client().send(&status(&tokens[2]))),
    );
    assert_eq!((place.ordinal, place.ahead), (3, 1));
    goes_on(&node, &tokens);
}

#[test]
fn nothing_is_moved_unasked() {
    let site = Site::new(ROOM);
    drop(site.start());
    let to = site.data().with_file_name("elsewhere");
    let line = format!("move --from embedded --to embedded:{}", to.display());
    let complaint = site.ropeline(&line).complaint(1);
    assert!(complaint.contains("add --yes"), "{complaint}");
    site.start().client().send(&join("ann"));
}

#[test]
fn a_move_beside_the_server_of_an_embedded_store_is_refused_with_its_process() {
    let site = Site::new(ROOM);
    let server = site.start();
    let to = format!(
        "embedded:{}",
        site.data().with_file_name("elsewhere").display()
    );
    let complaint = move_to(&site, "embedded", &to).complaint(1);
    for part in [format!("pid {}", server.pid()), "server stopped".to_owned()] {
        assert!(complaint.contains(&part), "{complaint}");
    }
}

#[test]
fn a_move_that_makes_no_sense_is_refused() {
    let site = Site::new(ROOM);
    drop(site.start());
    let complaint = move_to(&site, "embedded", "embedded").complaint(1);
    assert!(complaint.contains("are both embedded:"), "{complaint}");
    let elsewhere = site.data().with_file_name("elsewhere");
    let to = elsewhere.display();
    let line = format!("move --from embedded --to embedded:{to} --room nowhere --yes");
    let complaint = site.ropeline(&line).complaint(1);
    assert!(
        !elsewhere.exists(),
        "nothing is made for a room that is not there"
    );
    assert!(
        complaint.contains("there is no room nowhere"),
        "{complaint}"
    );
    let complaint = site.ropeline("move --from embedded").complaint(2);
    assert!(complaint.contains("--to"), "{complaint}");
    let complaint = move_to(&site, "embedded", "redis://127.0.0.1:1").complaint(1);
    assert!(
        complaint.contains("cannot use the store redis://127.0.0.1:1"),
        "{complaint}"
    );
    let thaw = site.ropeline("move --thaw --from embedded").complaint(1);
    assert!(thaw.contains("the room main is not frozen"), "{thaw}");
}

#[test]
fn a_room_whose_move_was_interrupted_goes_on_where_it_was() {
    let redis = TestRedis::start();
    let (site, elsewhere) = (on_redis(&redis), Site::new(ROOM));
    let node = site.start();
    let tokens = three(&node);
    // As a move leaves it that was killed.
    redis.set_room_field("frozen", Some("leaving embedded:/srv/data"));
    assert_eq!(node.client().send(&join("eve")).status, 503);
    let line = format!("move --thaw --from {}", redis.url());
    let said = moved(elsewhere.ropeline(&line));
    assert!(said.contains("main goes on in redis://"), "{said}");
    goes_on(&node, &tokens);
}
