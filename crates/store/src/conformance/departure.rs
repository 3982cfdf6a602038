//! Leaving, finishing, being put out.

use ropeline_core::{Departure, Ending, Joined, Live, Located, Ordinal, Reason, Standing};

use super::{
    Fixture,
    given::{Given, bank, holder_of, is_inside, secs},
};
use crate::Operation;

const DONE: Standing = Standing::Ended(Ending::Done);
const GONE: Standing = Standing::Ended(Ending::Gone);

/// Who leaves the line is gone, and those behind move up.
pub async fn who_leaves_the_line_is_gone(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(4).await;
    assert_eq!(given.leave(2).await, Departure::Left);
    assert_eq!(given.nth(2).await, GONE);
    let last = given.view().await.locate(Ordinal(4));
    let (ahead, behind) = (1, 0);
    assert_eq!(last, Located::InLine { ahead, behind });
}

/// Who leaves while inside is done.
pub async fn who_leaves_while_inside_is_done(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    assert_eq!(given.leave(1).await, Departure::Finished);
    assert_eq!(given.nth(1).await, DONE);
}

/// The picture says why each place ended.
pub async fn everybody_can_be_told_why_their_place_ended(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(5).await;
    given.leave(2).await;
    given.revoke("user-3").await;
    given.finish(1).await;
    given.advance(secs(30)).await;
    given.operate(Operation::Reset).await;
    let view = given.view().await;
    let reasons: Vec<_> = (1..=6).map(|n| view.reason(Ordinal(n))).collect();
    let [finished, left, removed, expired, reset] = [
        Reason::Finished,
        Reason::Left,
        Reason::Removed,
        Reason::Expired,
        Reason::Reset,
    ]
    .map(Some);
    assert_eq!(reasons, [finished, left, removed, expired, reset, None]);
}

/// Leaving a second time does nothing.
pub async fn one_leaves_once(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    for n in [1, 2] {
        given.leave(n).await;
        assert_eq!(given.leave(n).await, Departure::Nothing);
        assert_eq!(given.finish(n).await, Departure::Nothing);
    }
}

/// Whose business is done is done, and makes room.
pub async fn who_finishes_makes_room(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    assert_eq!(given.finish(1).await, Departure::Finished);
    assert_eq!(given.nth(1).await, DONE);
    assert!(is_inside(given.nth(2).await));
}

/// Who waits has nothing to finish, and keeps the place.
pub async fn who_waits_has_nothing_to_finish(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    assert_eq!(given.finish(2).await, Departure::NotInside);
    assert_eq!(given.nth(2).await, Standing::Live(Live::InLine));
}

/// After a pass ran out there is nothing to finish or to leave.
pub async fn after_a_pass_ran_out_there_is_nothing_to_leave(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    given.wait(secs(30));
    assert_eq!(given.leave(1).await, Departure::Nothing);
}

/// Nobody leaves with the place of another, or with one that nobody was given.
pub async fn nobody_leaves_with_the_place_of_another(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    let store = given.store();
    for (user, ordinal) in [
        ("stranger", 1),
        ("stranger", 2),
        ("user-2", 1),
        ("user-2", 9),
    ] {
        let holder = holder_of(user, ordinal);
        let left = store.leave(&given.room, holder.clone()).await;
        assert_eq!(left, Ok(Departure::Nothing), "{holder:?}");
        let finished = store.finish(&given.room, holder.clone()).await;
        assert_eq!(finished, Ok(Departure::Nothing), "{holder:?}");
    }
    assert_eq!(given.counts().await, [1, 0, 0, 1]);
}

/// An old token does not give up the new place of the same visitor.
pub async fn an_old_token_does_not_act_for_a_new_place(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    given.leave(2).await;
    assert_eq!(given.join("user-2").await, Joined::New(Ordinal(3)));
    assert_eq!(given.leave(2).await, Departure::Nothing);
    assert_eq!(given.renew(2).await, GONE);
    let found = given.find("user-2").await.unwrap();
    assert_eq!(found.ordinal, Ordinal(3));
}

/// Who is put out is gone, inside and in line, and makes room.
pub async fn who_is_put_out_is_gone(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(3).await;
    for n in [3, 1] {
        let revoked = given.revoke(&format!("user-{n}")).await;
        assert_eq!(revoked, Some(Ordinal(n)));
        assert_eq!(given.nth(n).await, GONE);
    }
    assert!(is_inside(given.nth(2).await));
}

/// Who has no place cannot be put out.
pub async fn who_has_no_place_cannot_be_put_out(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    given.leave(1).await;
    assert_eq!(given.revoke("user-1").await, None);
    assert_eq!(given.revoke("nobody").await, None);
}

/// Every departure is counted as what it was.
pub async fn departures_are_counted(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(2)).await;
    given.line(6).await;
    given.finish(1).await;
    given.leave(5).await;
    given.revoke("user-6").await;
    given.advance(secs(30)).await;
    let counters = given.view().await.header.counters;
    let found = (counters.finished, counters.left, counters.revoked);
    assert_eq!(found, (1, 1, 1));
    assert_eq!((counters.admitted, counters.expired), (4, 2));
    assert_eq!(counters.departed, 3);
}
