//! Which rooms there are.

use std::sync::Arc;

use ropeline_core::{Joined, Ordinal, RoomState, Standing};

use super::{
    Fixture,
    given::{Given, at_once, bank, holder, joiner, room, secs, visitor},
};
use crate::{Health, Operation, StoreError};

/// A room is made once; who makes it a second time is told that it is there, and changes nothing.
pub async fn a_room_is_made_once(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    assert!(!given.create(bank(7)).await);
    assert_eq!(*given.view().await.header.policy, bank(1));
}

/// Of many who make the same room at once, one has made it.
pub async fn of_many_who_make_a_room_one_has_made_it(fixture: &mut impl Fixture) {
    let given = Given::no_room(fixture);
    let makers = (1..=20).map(|_| {
        let (store, name) = (given.store(), given.room.clone());
        async move { store.create(&name, Arc::new(bank(1)), None).await }
    });
    let made = at_once(makers).await;
    assert_eq!(made.iter().filter(|made| **made == Ok(true)).count(), 1);
    assert_eq!(made.iter().filter(|made| **made == Ok(false)).count(), 19);
}

/// A new room is open, empty, and begins when it is made.
pub async fn a_new_room_is_open_and_empty(fixture: &mut impl Fixture) {
    let began = fixture.now();
    let given = Given::room(fixture, bank(1)).await;
    let header = given.view().await.header;
    let found = (header.state, header.paused, header.issued, header.epoch);
    assert_eq!(found, (RoomState::Open, false, Ordinal(0), began));
}

/// The rooms are listed in the order of their names.
pub async fn rooms_are_listed_by_name(fixture: &mut impl Fixture) {
    let given = Given::no_room(fixture);
    let store = given.store();
    for name in ["b", "c", "a"] {
        let made = store.create(&room(name), Arc::new(bank(1)), None).await;
        assert_eq!(made, Ok(true));
    }
    assert_eq!(store.rooms(), ["a", "b", "c"].map(room));
}

/// A visitor's places in two rooms have nothing to do with each other.
pub async fn rooms_do_not_mix(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    let (store, other) = (given.store(), room("other"));
    store.create(&other, Arc::new(bank(1)), None).await.unwrap();
    given.line(1).await;
    let joined = store.join(&other, joiner("user-1")).await.unwrap().0;
    assert_eq!(joined, Joined::New(Ordinal(1)));
    given.leave(1).await;
    let standing = store.ask(&other, holder(1)).await.unwrap();
    assert!(matches!(standing, Standing::Live(_)), "{standing:?}");
}

/// Whatever is asked of a room that is not there is answered with its name.
pub async fn a_room_that_is_not_there_is_named(fixture: &mut impl Fixture) {
    let given = Given::no_room(fixture);
    let (store, name) = (given.store(), &given.room);
    let [from, to] = [bank(1), bank(2)].map(Arc::new);
    let answers: [Result<(), StoreError>; 11] = [
        store.join(name, joiner("ann")).await.map(drop),
        store.renew(name, holder(1)).await.map(drop),
        store.ask(name, holder(1)).await.map(drop),
        store.leave(name, holder(1)).await.map(drop),
        store.finish(name, holder(1)).await.map(drop),
        store.find(name, &visitor("ann")).await.map(drop),
        store.revoke(name, visitor("ann")).await.map(drop),
        store.operate(name, Operation::Open).await,
        store.change_policy(name, from, to).await.map(drop),
        store.import(name, Vec::new(), secs(1)).await.map(drop),
        store.settle(name).await,
    ];
    for (at, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer, Err(given.missing()), "the answer at {at}");
    }
    assert!(store.view(name).is_none());
}

/// A store that can be used says so.
pub async fn a_store_that_takes_joins_is_up(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    assert_eq!(given.store().health(), Health::Up);
}
