//! Many at once.

use std::{collections::BTreeSet, sync::Barrier};

use ropeline_testing::http::{Ask, Client, Reply};
use serde_json::json;

use crate::app::{TOKENS, TestApp};

const CROWD: usize = 1_000;

/// A thousand joins that are all sent before the first is answered.
fn rush(app: &TestApp, user: impl Fn(usize) -> String + Sync) -> Vec<Reply> {
    let barrier = Barrier::new(CROWD);
    std::thread::scope(|scope| {
        let visitors: Vec<_> = (0..CROWD)
            .map(|n| {
                let (barrier, user, address) = (&barrier, &user, app.address);
                scope.spawn(move || {
                    let mut client = Client::connect(address).unwrap();
                    barrier.wait();
                    client.send(&Ask::post(TOKENS).json(&json!({"userId": user(n)})))
                })
            })
            .collect();
        visitors
            .into_iter()
            .map(|visitor| visitor.join().unwrap())
            .collect()
    })
}

#[test]
fn a_thousand_users_get_the_ordinals_one_to_a_thousand() {
    let app = TestApp::new();
    let replies = rush(&app, |n| format!("user-{n}"));
    assert!(replies.iter().all(|reply| reply.status == 201));
    let ordinals: BTreeSet<_> = replies
        .iter()
        .map(|reply| reply.json()["ordinal"].as_u64().unwrap())
        .collect();
    assert!(ordinals.into_iter().eq(1..=1_000));
}

#[test]
fn a_thousand_joins_of_one_user_give_one_place() {
    let app = TestApp::new();
    let replies = rush(&app, |_| "ann".to_owned());
    let count = |status| {
        replies
            .iter()
            .filter(|reply| reply.status == status)
            .count()
    };
    assert_eq!((count(201), count(409)), (1, 999));
}
