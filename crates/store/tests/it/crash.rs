//! What is left after a crash.

use std::time::Duration;

use ropeline_core::{Joined, Live, Ordinal, Standing};

use crate::given::{Given, holder, policy};
use ropeline_store::Store;

#[tokio::test]
async fn everybody_is_at_the_same_place_after_a_crash() {
    let given = Given::room(policy()).await;
    for n in 1..=20 {
        given.join(&format!("user-{n}")).await;
    }
    given.advance(Duration::from_secs(10)).await;
    given
        .store
        .leave(&given.room, holder("user-9", 9))
        .await
        .unwrap();
    let before = given.view();
    let given = given.crash();
    let after = given.view();
    assert_eq!(after.header.version, before.header.version);
    for n in 1..=20 {
        assert_eq!(
            after.locate(Ordinal(n)),
            before.locate(Ordinal(n)),
            "ordinal {n}"
        );
    }
    assert_eq!(given.join("user-21").await.0, Joined::New(Ordinal(21)));
    assert_eq!(given.join("user-12").await.0, Joined::Already(Ordinal(12)));
}

#[tokio::test]
async fn a_pass_lives_on_after_a_crash_for_as_long_as_it_had_left() {
    let given = Given::room(policy()).await;
    given.join("ann").await;
    let Standing::Live(Live::Inside(pass)) = given.ask("ann", 1).await else {
        panic!()
    };
    let given = given.crash();
    // However long the server was away, room time stood still.
    let given = Given {
        clock: given.clock,
        ..given
    };
    assert_eq!(
        given.ask("ann", 1).await,
        Standing::Live(Live::Inside(pass))
    );
    given.advance(Duration::from_secs(31)).await;
    assert!(matches!(given.ask("ann", 1).await, Standing::Ended(_)));
}

#[tokio::test]
async fn a_repeated_request_is_recognised_after_a_crash() {
    let given = Given::room(policy()).await;
    let key = ropeline_core::JoinKey { key: 77, body: 1 };
    assert_eq!(
        given.join_with("ann", Some(key)).await.0,
        Joined::New(Ordinal(1))
    );
    let given = given.crash();
    assert_eq!(
        given.join_with("ann", Some(key)).await.0,
        Joined::Repeated(Ordinal(1))
    );
    let other = ropeline_core::JoinKey { body: 2, ..key };
    assert_eq!(
        given.join_with("bob", Some(other)).await.0,
        Joined::KeyReused
    );
}

#[tokio::test]
async fn a_reset_room_stays_empty_after_a_crash_and_counts_on() {
    let given = Given::room(policy()).await;
    for n in 1..=10 {
        given.join(&format!("user-{n}")).await;
    }
    given
        .store
        .operate(&given.room, ropeline_store::Operation::Reset)
        .await
        .unwrap();
    let given = given.crash();
    assert_eq!(given.view().waiting(), 0);
    assert!(matches!(given.ask("user-7", 7).await, Standing::Ended(_)));
    assert_eq!(given.join("user-7").await.0, Joined::New(Ordinal(11)));
}
