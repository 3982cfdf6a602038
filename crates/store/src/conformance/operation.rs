//! An operator's word.

use ropeline_core::{Ending, Joined, Live, Ordinal, RoomState, Standing};

use super::{
    Fixture,
    given::{Given, bank, is_inside, park, secs},
};
use crate::Operation;

const GONE: Standing = Standing::Ended(Ending::Gone);

/// In a paused room nobody is let in, and joins wait; those inside stay.
pub async fn a_paused_room_lets_nobody_in(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.line(2).await;
    given.operate(Operation::Pause).await;
    given.advance(secs(60)).await;
    assert_eq!(given.join("late").await, Joined::New(Ordinal(3)));
    assert_eq!(given.counts().await, [1, 0, 0, 2]);
}

/// Once a pause is over, those who waited are let in at once, one batch of them.
pub async fn a_pause_ends_at_once(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(2)).await;
    given.operate(Operation::Pause).await;
    given.line(5).await;
    given.advance(secs(60)).await;
    given.operate(Operation::Resume).await;
    assert_eq!(given.counts().await, [2, 0, 0, 3]);
}

/// In a closed room the line goes on.
pub async fn the_line_of_a_closed_room_goes_on(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(3).await;
    given.operate(Operation::Close).await;
    given.finish(1).await;
    assert!(is_inside(given.nth(2).await));
    assert_eq!(given.view().await.header.state, RoomState::Closed);
}

/// A room that was closed and is opened takes joins again.
pub async fn an_opened_room_takes_joins(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.operate(Operation::Close).await;
    given.operate(Operation::Open).await;
    assert_eq!(given.join("ann").await, Joined::New(Ordinal(1)));
}

/// A room that is drained takes no joins, serves those in it, and is closed once it is empty.
pub async fn a_drained_room_is_closed_once_empty(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    given.operate(Operation::Drain).await;
    assert_eq!(given.join("late").await, Joined::Closed);
    given.finish(1).await;
    assert_eq!(given.view().await.header.state, RoomState::Draining);
    given.finish(2).await;
    assert_eq!(given.view().await.header.state, RoomState::Closed);
}

/// A reset puts everybody out, wherever they are.
pub async fn a_reset_puts_everybody_out(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(2)).await;
    given.line(5).await;
    given.operate(Operation::Reset).await;
    for n in 1..=5 {
        assert_eq!(given.nth(n).await, GONE, "{n}");
    }
    assert_eq!(given.counts().await, [0, 0, 0, 0]);
}

/// After a reset counting goes on, and everybody may join again.
pub async fn counting_goes_on_after_a_reset(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(3).await;
    given.operate(Operation::Reset).await;
    assert_eq!(given.join("user-2").await, Joined::New(Ordinal(4)));
    assert_eq!(given.join("user-1").await, Joined::New(Ordinal(5)));
    assert_eq!(given.counts().await, [1, 0, 0, 1]);
}

/// A word that says what is already so changes nothing that anybody sees.
pub async fn a_word_that_holds_already_changes_nothing(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.line(2).await;
    given.operate(Operation::Pause).await;
    let version = given.view().await.header.version;
    for operation in [Operation::Pause, Operation::Open] {
        given.operate(operation).await;
    }
    assert_eq!(given.view().await.header.version, version);
    assert_eq!(given.nth(2).await, Standing::Live(Live::InLine));
}
