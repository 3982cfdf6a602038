//! An import into a Redis, beside a node that serves from it.

use std::fmt::Write;

use ropeline_testing::TestRedis;
use serde_json::json;

use super::{ROOM, import, tokens};
use crate::{
    process::Site,
    visitor::{Place, join, status, verify},
};

#[test]
fn rows_are_taken_over_beside_a_running_node_whose_keys_sign_their_tokens() {
    let redis = TestRedis::start();
    let settings = format!("store = \"{}\"\n{ROOM}", redis.url());
    // On two machines, each with a data directory of its own.
    let [site, desk] = [0, 1].map(|_| Site::new(&settings));
    let node = site.start();
    let mut rows = String::new();
    for n in 1..=1_200 {
        let word = if n <= 4 { "ACTIVE" } else { "WAITING" };
        let row = json!({"userId": n, "issuedAt": n, "status": word});
        writeln!(rows, "{row}").unwrap();
    }
    let file = desk.with_file("queue.jsonl", rows.as_bytes());
    let said = import(&desk, &format!("import {}", file.display()));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let figures = "1,200 rows taken over by the room main; there are now 3 inside, 1 at the door and 1,196 in line";
    assert!(said.stderr.contains(figures), "{}", said.stderr);

    let tokens = tokens(&desk);
    let mut client = node.client();
    assert_eq!(client.send(&verify(&tokens[0].1)).status, 204);
    assert_eq!(client.send(&verify(&tokens[3].1)).status, 403);
    let place = Place::of(&client.send(&status(&tokens[1_199].1))).unwrap();
    assert_eq!((place.ordinal, place.ahead), (1_200, 1_195));
    let claimed = client.send(&join("700"));
    assert_eq!(claimed.status, 201, "{}", claimed.json());
    assert_eq!(Place::of(&claimed).unwrap().ordinal, 700);
    assert_eq!(client.send(&join("700")).code(), "DUPLICATED_TOKEN");
    let new = Place::of(&client.send(&join("newcomer"))).unwrap();
    assert_eq!((new.ordinal, new.ahead), (1_201, 1_196));
}
