//! What `docs/REDIS.md` says of Redis holds on a real one.

use std::fs;

use ropeline_testing::{
    TestRedis,
    http::{Ask, Client},
};
use serde_json::json;

use crate::{
    process::Site,
    visitor::{leave, status, token_of, verify},
};

fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/REDIS.md");
    fs::read_to_string(path).expect("the document is there")
}

/// The rights of the user that the document recommends, as `ACL SETUSER` takes them.
fn rights(document: &str) -> Vec<&str> {
    let line = document
        .lines()
        .find(|line| line.starts_with("user ropeline "));
    let line = line.expect("the document has the user");
    line.split(' ').skip(2).collect()
}

/// The server, and what an operator shows it.
struct Desk<'a> {
    client: Client,
    key: &'a str,
}

impl Desk<'_> {
    fn say(&mut self, ask: Ask) {
        let ask = ask.header("Authorization", &format!("Bearer {}", self.key));
        let reply = self.client.send(&ask);
        let body = String::from_utf8_lossy(&reply.body);
        assert!((200..300).contains(&reply.status), "{ask:?}: {body}");
    }
}

#[test]
fn the_user_of_the_document_may_do_all_that_is_needed() {
    let redis = TestRedis::start();
    let document = document();
    let user = [&["ACL", "SETUSER", "ropeline"], &*rights(&document)].concat();
    assert_eq!(redis.cli(&user), "OK");
    let store = format!("redis://ropeline:PASSWORD@127.0.0.1:{}", redis.port());
    let site = Site::new(&format!(
        "store = '{store}'\n[rooms.main]\nactive_max = 1\npresence_ttl = '3s'\n"
    ));
    let server = site.start();
    live_through_everything(&mut Desk {
        client: server.client(),
        key: &site.admin_key(),
    });
    drop(server);
    // A second start finds what the first has left.
    assert_eq!(
        site.start().client().send(&Ask::get("/readyz")).json()["degraded"],
        json!([])
    );
    assert_eq!(redis.cli(&["ACL", "LOG"]), "", "everything was allowed");
}

/// Every kind of request that reaches the store.
fn live_through_everything(desk: &mut Desk<'_>) {
    const ROOMS: &str = "/api/v1/admin/rooms";
    let ann = token_of(&mut desk.client, "ann");
    let bob = token_of(&mut desk.client, "bob");
    let keyed = Ask::post("/api/v1/queue/tokens").header("Idempotency-Key", "k");
    desk.say(keyed.clone().json(&json!({"userId": "cid"})));
    desk.say(keyed.json(&json!({"userId": "cid"})));
    assert_eq!(desk.client.send(&status(&bob)).status, 200);
    assert_eq!(desk.client.send(&verify(&ann)).status, 204);
    assert_eq!(desk.client.send(&leave(&ann)).status, 204);
    desk.say(Ask::get(&format!("{ROOMS}/main/visitors/bob")));
    desk.say(Ask::delete(&format!("{ROOMS}/main/visitors/cid")));
    for word in ["pause", "resume", "close", "open", "drain", "open", "reset"] {
        desk.say(Ask::post(&format!("{ROOMS}/main/{word}")));
    }
    desk.say(Ask::post(&format!("{ROOMS}/main/admit")).json(&json!({"count": 5})));
    desk.say(Ask::patch(&format!("{ROOMS}/main")).json(&json!({"policy": {"presenceTtl": "0s"}})));
    desk.say(Ask::patch(&format!("{ROOMS}/main")).json(&json!({"policy": {"presenceTtl": "90s"}})));
    desk.say(Ask::post(ROOMS).json(&json!({"room": "other", "policy": {"activeMax": 1}})));
    desk.say(Ask::delete(&format!("{ROOMS}/other")));
}

#[test]
fn the_user_of_the_document_may_do_nothing_else() {
    let redis = TestRedis::start();
    let document = document();
    let user = [&["ACL", "SETUSER", "ropeline"], &*rights(&document)].concat();
    assert_eq!(redis.cli(&user), "OK");
    let login = [
        "--user",
        "ropeline",
        "--pass",
        "PASSWORD",
        "--no-auth-warning",
    ];
    for refused in [
        &["KEYS", "*"][..],
        &["FLUSHALL"],
        &["GET", "somebody-elses"],
    ] {
        let said = redis.cli(&[&login, refused].concat());
        assert!(said.contains("NOPERM"), "{refused:?}: {said}");
    }
    assert_eq!(
        redis.cli(&[&login, &["GET", "rl:shared:x"][..]].concat()),
        ""
    );
}

#[test]
fn every_command_of_the_functions_is_among_the_rights() {
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/src/redis/library");
    let document = document();
    let rights = rights(&document);
    let mut commands = 0;
    for file in fs::read_dir(library).expect("the library is there") {
        let text = fs::read_to_string(file.expect("a file").path()).expect("a file of Lua");
        for call in text.split("call('").skip(1) {
            let command = call.split('\'').next().unwrap_or_default();
            let right = format!("+{}", command.to_lowercase());
            assert!(rights.contains(&right.as_str()), "{right}");
            commands += 1;
        }
    }
    assert!(commands > 50, "the functions call Redis: {commands}");
}
