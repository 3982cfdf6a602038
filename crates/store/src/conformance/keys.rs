//! Requests that are sent again because their answer was lost.

use ropeline_core::{JoinKey, Joined, Joiner, Ordinal};

use super::{
    Fixture,
    given::{Given, at_once, park, secs, visitor},
};
use crate::Operation;

const KEY: JoinKey = JoinKey { key: 77, body: 1 };
/// The same key with another request.
const OTHER: JoinKey = JoinKey { key: 77, body: 2 };

/// The same request is answered with the same place, and said to be repeated.
pub async fn a_repeated_request_is_recognised(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    let first = given.join_with("ann", Some(KEY)).await;
    assert_eq!(first, Joined::New(Ordinal(1)));
    let again = given.join_with("ann", Some(KEY)).await;
    assert_eq!(again, Joined::Repeated(Ordinal(1)));
}

/// A second request with another key is no repetition.
pub async fn another_key_is_no_repetition(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.join_with("ann", Some(KEY)).await;
    let other = JoinKey { key: 78, ..KEY };
    let second = given.join_with("ann", Some(other)).await;
    assert_eq!(second, Joined::Already(Ordinal(1)));
}

/// A key that was used for another request is refused, and no place is given.
pub async fn a_key_is_not_used_for_another_request(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.join_with("ann", Some(KEY)).await;
    let reused = given.join_with("bob", Some(OTHER)).await;
    assert_eq!(reused, Joined::KeyReused);
    assert_eq!(given.view().await.header.issued, Ordinal(1));
}

/// A key is remembered for ten minutes at the least.
pub async fn a_key_is_remembered_for_ten_minutes(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.join_with("ann", Some(KEY)).await;
    given.advance(secs(599)).await;
    let reused = given.join_with("bob", Some(OTHER)).await;
    assert_eq!(reused, Joined::KeyReused);
}

/// A key is forgotten after twenty minutes at the most.
pub async fn a_key_is_forgotten_after_twenty_minutes(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.join_with("ann", Some(KEY)).await;
    given.advance(secs(1_200)).await;
    let fresh = given.join_with("bob", Some(OTHER)).await;
    assert_eq!(fresh, Joined::New(Ordinal(2)));
}

/// A request that was refused has not used up its key.
pub async fn a_refused_request_keeps_its_key(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.operate(Operation::Close).await;
    assert_eq!(given.join_with("ann", Some(KEY)).await, Joined::Closed);
    given.operate(Operation::Open).await;
    let other = given.join_with("bob", Some(OTHER)).await;
    assert_eq!(other, Joined::New(Ordinal(1)));
}

/// Of the same request sent many times at once, one is new and the others are repetitions.
pub async fn of_a_request_sent_often_at_once_one_is_new(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    let joins = (1..=50).map(|_| {
        let (store, room) = (given.store(), given.room.clone());
        let joiner = Joiner {
            visitor: visitor("ann"),
            key: Some(KEY),
        };
        async move { store.join(&room, joiner).await.unwrap().0 }
    });
    let joined = at_once(joins).await;
    let of = |wanted: Joined| joined.iter().filter(|one| **one == wanted).count();
    assert_eq!(of(Joined::New(Ordinal(1))), 1);
    assert_eq!(of(Joined::Repeated(Ordinal(1))), 49);
}
