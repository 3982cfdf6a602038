//! Rooms that are deleted, and rooms that begin again.

use std::sync::Arc;

use ropeline_core::{Joined, Live, Ordinal, Standing};
use ropeline_store::{Operation, Store, StoreError};

use crate::given::{Given, holder, policy, visitor};

async fn delete(given: &Given) -> Result<(), StoreError> {
    given.store.operate(&given.room, Operation::Delete).await
}

async fn create(given: &Given) -> bool {
    let made = given.store.create(&given.room, Arc::new(policy()), None);
    made.await.unwrap()
}

#[tokio::test]
async fn a_deleted_room_is_not_there_for_anybody_also_after_a_crash() {
    let given = Given::room(policy()).await;
    given.join("ann").await;
    delete(&given).await.unwrap();
    for given in [&given, &Given::crash_of(&given)] {
        let missing = StoreError::NoSuchRoom(given.room.clone());
        assert!(given.store.rooms().is_empty());
        assert!(given.store.view(&given.room).is_none());
        let asked = given.store.ask(&given.room, holder("ann", 1)).await;
        assert_eq!(asked.unwrap_err(), missing);
        let found = given.store.find(&given.room, &visitor("ann")).await;
        assert_eq!(found.unwrap_err(), missing);
        assert_eq!(delete(given).await.unwrap_err(), missing);
    }
}

#[tokio::test]
async fn a_room_that_begins_again_remembers_nobody_also_after_a_crash() {
    let given = Given::room(policy()).await;
    for n in 1..=5 {
        given.join(&format!("user-{n}")).await;
    }
    given
        .store
        .leave(&given.room, holder("user-4", 4))
        .await
        .unwrap();
    let epoch = given.view().header.epoch;
    delete(&given).await.unwrap();
    assert!(create(&given).await);
    assert!(!create(&given).await, "it is there");
    assert!(given.view().header.epoch > epoch);
    let given = given.crash();
    assert_eq!(given.view().header.issued, Ordinal(0));
    for n in 1..=5 {
        let (joined, _) = given.join(&format!("again-{n}")).await;
        assert_eq!(joined, Joined::New(Ordinal(n)));
    }
    assert_eq!(given.view().waiting(), 2, "nobody of before is gone here");
    let given = given.crash();
    assert_eq!(given.view().waiting(), 2);
}

#[tokio::test]
async fn joins_that_were_on_their_way_are_told_that_the_room_is_gone() {
    let given = Given::room(policy()).await;
    let (deleted, joined) = tokio::join!(
        delete(&given),
        given.store.join(
            &given.room,
            ropeline_core::Joiner {
                visitor: visitor("late"),
                key: None,
            },
        )
    );
    deleted.unwrap();
    assert_eq!(
        joined.unwrap_err(),
        StoreError::NoSuchRoom(given.room.clone())
    );
}

#[tokio::test]
async fn a_visitor_is_found_wherever_they_are() {
    let given = Given::room(policy()).await;
    for n in 1..=4 {
        given.join(&format!("user-{n}")).await;
    }
    let find = async |user| {
        let found = given.store.find(&given.room, &visitor(user)).await;
        found.unwrap()
    };
    let inside = find("user-1").await.unwrap();
    assert_eq!(inside.ordinal, Ordinal(1));
    assert!(matches!(inside.standing, Standing::Live(Live::Inside(_))));
    let waiting = find("user-4").await.unwrap();
    assert_eq!(waiting.ordinal, Ordinal(4));
    assert_eq!(waiting.standing, Standing::Live(Live::InLine));
    assert_eq!(find("nobody").await, None);
}
