//! Rooms that are deleted, and rooms that begin again.

use ropeline_core::{Counters, JoinKey, Joined, Ordinal};

use super::{
    Fixture,
    given::{Given, bank, holder, joiner, park, secs, visitor},
};
use crate::Operation;

/// A deleted room is not there for anybody, whatever is asked.
pub async fn a_deleted_room_is_not_there(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    given.operate(Operation::Delete).await;
    let (store, room) = (given.store(), &given.room);
    store.refresh(room).await;
    assert!(store.view(room).is_none());
    assert!(!store.rooms().contains(room));
    let missing = given.missing();
    let asked = store.ask(room, holder(2)).await;
    assert_eq!(asked, Err(missing.clone()));
    let renewed = store.renew(room, holder(1)).await;
    assert_eq!(renewed, Err(missing.clone()));
    let joined = store.join(room, joiner("late")).await;
    assert_eq!(joined, Err(missing.clone()));
    let found = store.find(room, &visitor("user-1")).await;
    assert_eq!(found, Err(missing.clone()));
    let settled = store.settle(room).await;
    assert_eq!(settled, Err(missing));
}

/// A room is deleted once.
pub async fn a_room_is_deleted_once(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.operate(Operation::Delete).await;
    let again = given.store().operate(&given.room, Operation::Delete).await;
    assert_eq!(again, Err(given.missing()));
}

/// A deleted room is still deleted after a crash.
pub async fn a_deletion_outlives_a_crash(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    given.operate(Operation::Delete).await;
    given.crash().await;
    assert!(given.store().view(&given.room).is_none());
    let asked = given.store().ask(&given.room, holder(1)).await;
    assert_eq!(asked, Err(given.missing()));
}

/// A room that begins again has a later epoch, even within the same millisecond.
pub async fn a_room_that_begins_again_has_a_later_epoch(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    let epoch = given.view().await.header.epoch;
    given.operate(Operation::Delete).await;
    assert!(given.create(bank(1)).await);
    assert!(given.view().await.header.epoch > epoch);
}

/// A room that begins again counts its versions on, so that no picture of before looks newer.
pub async fn a_room_that_begins_again_counts_its_versions_on(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(5).await;
    let version = given.view().await.header.version;
    given.operate(Operation::Delete).await;
    given.create(bank(1)).await;
    assert!(given.view().await.header.version > version);
}

/// A room that begins again has its new policy, and nobody of before in it.
pub async fn a_room_that_begins_again_is_empty(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(5).await;
    given.leave(4).await;
    given.operate(Operation::Pause).await;
    given.operate(Operation::Delete).await;
    assert!(given.create(park(2)).await);
    let header = given.view().await.header;
    assert_eq!((*header.policy).clone(), park(2));
    assert_eq!((header.issued, header.paused), (Ordinal(0), false));
    assert_eq!(header.counters, Counters::default());
    given.line(5).await;
    assert_eq!(given.counts().await, [2, 0, 0, 3], "nobody is gone here");
}

/// A room that begins again is the same after a crash.
pub async fn a_new_beginning_outlives_a_crash(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(2)).await;
    given.line(4).await;
    given.leave(3).await;
    given.operate(Operation::Delete).await;
    given.create(park(2)).await;
    let epoch = given.view().await.header.epoch;
    given.line(3).await;
    given.crash().await;
    assert_eq!(given.view().await.header.epoch, epoch);
    assert_eq!(given.counts().await, [2, 0, 0, 1]);
    assert_eq!(given.join("late").await, Joined::New(Ordinal(4)));
}

/// A join beside a deletion has a place or is told that there is no room; then there is none.
pub async fn a_join_beside_a_deletion_leaves_no_room(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    let store = given.store();
    let (deleted, joined) = tokio::join!(
        store.operate(&given.room, Operation::Delete),
        store.join(&given.room, joiner("late"))
    );
    assert_eq!(deleted, Ok(()));
    match joined {
        Ok((joined, _)) => assert_eq!(joined, Joined::New(Ordinal(1))),
        Err(error) => assert_eq!(error, given.missing()),
    }
    let settled = store.settle(&given.room).await;
    assert_eq!(settled, Err(given.missing()));
}

/// What a node remembers from before a deletion brings nothing back.
pub async fn a_memory_of_before_brings_nothing_back(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.line(3).await;
    let memory = given.view().await;
    given.operate(Operation::Delete).await;
    given.wait(secs(1));
    given.create(park(1)).await;
    given.merge(memory).await;
    let header = given.view().await.header;
    assert_eq!(header.issued, Ordinal(0));
    assert_eq!(given.join("user-2").await, Joined::New(Ordinal(1)));
}

/// A room that begins again knows no request of before.
pub async fn a_room_that_begins_again_knows_no_request_of_before(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    let key = JoinKey { key: 77, body: 1 };
    given.join_with("ann", Some(key)).await;
    given.operate(Operation::Delete).await;
    given.create(park(1)).await;
    let other = JoinKey { body: 2, ..key };
    let joined = given.join_with("bob", Some(other)).await;
    assert_eq!(joined, Joined::New(Ordinal(1)));
}
