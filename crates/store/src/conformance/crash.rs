//! What is left after a crash.

use std::sync::Arc;

use ropeline_core::{Departure, Ending, JoinKey, Joined, Ordinal, Policy, RoomState, Standing};

use super::{
    Fixture,
    given::{Given, bank, park, pass, secs},
};
use crate::Operation;

/// Everybody is at the same place after a crash, and the next one gets the next.
pub async fn everybody_is_at_the_same_place(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(3)).await;
    given.line(20).await;
    given.advance(secs(10)).await;
    given.leave(9).await;
    given.finish(2).await;
    let before = given.view().await;
    given.crash().await;
    let after = given.view().await;
    for n in 1..=20 {
        let ordinal = Ordinal(n);
        assert_eq!(after.locate(ordinal), before.locate(ordinal), "{n}");
    }
    assert_eq!(given.join("user-21").await, Joined::New(Ordinal(21)));
    assert_eq!(given.join("user-12").await, Joined::Already(Ordinal(12)));
}

/// The version of a picture never falls, after a crash neither.
pub async fn the_version_does_not_fall(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(3)).await;
    given.line(9).await;
    let before = given.view().await.header.version;
    given.crash().await;
    assert!(given.view().await.header.version >= before);
}

/// A pass lives on after a crash for as long as it had left.
pub async fn a_pass_lives_on(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    let before = given.pass(1).await;
    given.crash().await;
    assert_eq!(given.pass(1).await, before);
    given.advance(secs(31)).await;
    assert_eq!(given.nth(1).await, Standing::Ended(Ending::Done));
}

/// A use of a pass that was answered more than a second before a crash is not forgotten.
pub async fn a_renewal_is_kept_after_a_second(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    given.advance(secs(20)).await;
    let renewed = pass(given.renew(1).await);
    given.advance(secs(2)).await;
    given.crash().await;
    assert_eq!(given.pass(1).await, renewed);
}

/// How a place ended is known after a crash.
pub async fn who_has_ended_stays_ended(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(2)).await;
    given.line(4).await;
    given.leave(4).await;
    given.revoke("user-3").await;
    given.finish(2).await;
    given.crash().await;
    let ends = [(2, Ending::Done), (3, Ending::Gone), (4, Ending::Gone)];
    for (n, ending) in ends {
        assert_eq!(given.nth(n).await, Standing::Ended(ending), "{n}");
        assert_eq!(given.leave(n).await, Departure::Nothing, "{n}");
    }
}

/// A repeated request is recognised after a crash, and so is a key that is used again.
pub async fn a_repeated_request_is_recognised(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(1)).await;
    let key = JoinKey { key: 77, body: 1 };
    let first = given.join_with("ann", Some(key)).await;
    assert_eq!(first, Joined::New(Ordinal(1)));
    given.crash().await;
    let again = given.join_with("ann", Some(key)).await;
    assert_eq!(again, Joined::Repeated(Ordinal(1)));
    let other = JoinKey { body: 2, ..key };
    let reused = given.join_with("bob", Some(other)).await;
    assert_eq!(reused, Joined::KeyReused);
}

/// A reset room is empty after a crash, and counts on.
pub async fn a_reset_room_stays_empty(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(3)).await;
    given.line(10).await;
    given.operate(Operation::Reset).await;
    given.crash().await;
    assert_eq!(given.counts().await, [0, 0, 0, 0]);
    assert_eq!(given.nth(7).await, Standing::Ended(Ending::Gone));
    assert_eq!(given.join("user-7").await, Joined::New(Ordinal(11)));
}

/// What an operator said holds after a crash.
pub async fn an_operators_word_holds(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(1)).await;
    let policy = Arc::new(Policy {
        pass_max: secs(9_999),
        ..bank(7)
    });
    let digest = Some("a file".to_owned());
    let set = Operation::SetPolicy {
        policy: Arc::clone(&policy),
        digest: digest.clone(),
    };
    for operation in [set, Operation::Pause, Operation::Close] {
        given.operate(operation).await;
    }
    given.crash().await;
    let header = given.view().await.header;
    assert_eq!((header.state, header.paused), (RoomState::Closed, true));
    assert_eq!((header.policy, header.digest), (policy, digest));
}

/// What was let in in a tick is known after a crash: the batch is not let in again.
pub async fn a_batch_is_not_let_in_again(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(3)).await;
    given.line(9).await;
    given.crash().await;
    given.settle().await;
    assert_eq!(given.view().await.inside, 3);
}

/// The totals of a room go on after a crash.
pub async fn totals_go_on(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(2)).await;
    given.line(5).await;
    given.leave(5).await;
    given.finish(1).await;
    let before = given.view().await.header.counters;
    given.crash().await;
    assert_eq!(given.view().await.header.counters, before);
}
