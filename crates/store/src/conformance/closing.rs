//! The end of a store.

use std::sync::Arc;

use ropeline_core::{Joined, Ordinal};

use super::{
    Fixture,
    given::{Given, bank, holder, joiner, room, secs, visitor},
};
use crate::{Operation, StoreError};

/// A store that was closed refuses to change anything.
pub async fn a_closed_store_refuses(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    let memory = Arc::new(given.view().await);
    let (store, name) = (given.store(), &given.room);
    let [one, two] = [bank(1), bank(2)].map(Arc::new);
    store.close().await;
    let answers = [
        store
            .create(&room("other"), Arc::clone(&one), None)
            .await
            .map(drop),
        store.join(name, joiner("late")).await.map(drop),
        store.leave(name, holder(2)).await.map(drop),
        store.finish(name, holder(1)).await.map(drop),
        store.revoke(name, visitor("user-2")).await.map(drop),
        store.operate(name, Operation::Pause).await,
        store.change_policy(name, one, two).await.map(drop),
        store.merge(name, memory).await,
        store.import(name, Vec::new(), secs(1)).await.map(drop),
        store.settle(name).await,
    ];
    for (at, answer) in answers.into_iter().enumerate() {
        let refused = matches!(answer, Err(StoreError::Unavailable(_)));
        assert!(refused, "the answer at {at}: {answer:?}");
    }
}

/// What was answered before a store was closed is there when it is opened again.
pub async fn what_was_answered_is_there_again(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(1)).await;
    given.line(3).await;
    given.leave(2).await;
    given.store().close().await;
    given.crash().await;
    assert_eq!(given.join("user-3").await, Joined::Already(Ordinal(3)));
    assert_eq!(given.counts().await, [1, 0, 0, 1]);
}
