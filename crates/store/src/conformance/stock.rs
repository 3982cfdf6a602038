//! What is left to sell, as those who wait are shown it.

use ropeline_core::{Joined, Ordinal};

use super::{
    Fixture,
    given::{Given, bank, is_inside},
};
use crate::Operation;

impl<F: Fixture> Given<'_, F> {
    async fn left(&self) -> Option<u64> {
        self.view().await.header.stock
    }
}

/// A room shows as many as it was last told, however many; at first nothing is told.
pub async fn a_room_shows_what_is_left(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    assert_eq!(given.left().await, None);
    for left in [120, 119, 0, 3, u64::MAX] {
        given.stock(Some(left)).await;
        assert_eq!(given.left().await, Some(left));
    }
}

/// What is told no more is not shown either.
pub async fn what_is_told_no_more_is_not_shown(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.stock(Some(5)).await;
    given.stock(None).await;
    assert_eq!(given.left().await, None);
}

/// To be told the same once more changes nothing that anybody sees; anything else has a version of its own.
pub async fn the_same_once_more_changes_nothing(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    let version = async || given.view().await.header.version;
    let before = version().await;
    given.stock(None).await;
    assert_eq!(version().await, before);
    given.stock(Some(5)).await;
    assert_eq!(version().await, before + 1);
    given.stock(Some(5)).await;
    assert_eq!(version().await, before + 1);
    given.stock(None).await;
    assert_eq!(version().await, before + 2);
}

/// Where nothing is left, joins and admissions go on.
pub async fn where_nothing_is_left_the_line_goes_on(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    given.stock(Some(0)).await;
    assert_eq!(given.join("user-3").await, Joined::New(Ordinal(3)));
    given.finish(1).await;
    assert!(is_inside(given.nth(2).await));
    assert_eq!(given.left().await, Some(0));
}

/// What one node was told is shown by the other, and is known there to be so already.
pub async fn what_one_node_was_told_the_other_shows(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(1)).await;
    let other = given.another_node().await;
    for left in [Some(5), Some(4), None] {
        given.stock(left).await;
        other.refresh(&given.room).await;
        let theirs = other.view(&given.room).unwrap().view;
        assert_eq!(theirs.header.stock, left);
        other.stock(&given.room, left).await.unwrap();
        assert_eq!(given.view().await.header.version, theirs.header.version);
    }
}

/// What was told is as durable as everything that is answered.
pub async fn what_is_left_outlives_a_crash(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(1)).await;
    given.stock(Some(5)).await;
    given.crash().await;
    assert_eq!(given.left().await, Some(5));
    given.stock(None).await;
    given.crash().await;
    assert_eq!(given.left().await, None);
}

/// A reset leaves what was told; of a deleted room nothing of it is left, and a room that is not there is told nothing.
pub async fn nothing_of_it_is_left_of_a_deleted_room(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.stock(Some(5)).await;
    given.operate(Operation::Reset).await;
    assert_eq!(given.left().await, Some(5));
    given.operate(Operation::Delete).await;
    let told = given.store().stock(&given.room, Some(5)).await;
    assert_eq!(told, Err(given.missing()));
    assert!(given.create(bank(1)).await);
    assert_eq!(given.left().await, None);
}

/// Of what the nodes know, that which was told last is so, in whatever order they say it.
pub async fn what_a_node_heard_last_is_so(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.stock(Some(5)).await;
    let lagging = given.view().await;
    given.stock(Some(4)).await;
    let mut ahead = given.view().await;
    ahead.header.version += 1;
    (ahead.header.stock, ahead.header.stock_version) = (Some(3), ahead.header.version);
    for memory in [&lagging, &ahead, &lagging] {
        given.merge(memory.clone()).await;
    }
    assert_eq!(given.left().await, Some(3));
}
