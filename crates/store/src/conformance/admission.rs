//! Who is let in, and when.

use ropeline_core::{Live, Policy, Standing};

use super::{
    Fixture,
    given::{Given, bank, is_inside, park, secs},
};
use crate::Operation;

const IN_LINE: Standing = Standing::Live(Live::InLine);

/// Never more are inside than the cap says.
pub async fn never_more_are_inside_than_the_cap(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(3)).await;
    given.line(10).await;
    for _ in 0..3 {
        given.settle().await;
        assert_eq!(given.counts().await, [3, 0, 0, 7]);
    }
}

/// Who leaves is followed by the next one in line in the same transition.
pub async fn a_freed_place_inside_is_taken_at_once(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(2)).await;
    given.line(4).await;
    given.leave(1).await;
    assert!(is_inside(given.nth(3).await));
    assert_eq!(given.nth(4).await, IN_LINE);
}

/// Who stays beyond the time of a pass is followed by the next one in line.
pub async fn a_pass_that_ran_out_makes_room(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(2)).await;
    given.line(3).await;
    given.advance(secs(30)).await;
    assert!(is_inside(given.nth(3).await));
    assert_eq!(given.counts().await, [1, 0, 0, 0]);
}

/// So many are let in per tick as the batch says, and no more before the next.
pub async fn a_batch_is_let_in_per_tick(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(3)).await;
    given.line(10).await;
    for inside in [3, 6, 9, 10] {
        assert_eq!(given.view().await.inside, inside);
        given.advance(secs(9)).await;
        assert_eq!(given.view().await.inside, inside, "within the tick");
        given.advance(secs(1)).await;
    }
}

/// However many ticks were missed, the batch is let in once: no burst makes up for an outage.
pub async fn missed_ticks_are_one_tick(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(2)).await;
    given.line(9).await;
    given.advance(secs(35)).await;
    assert_eq!(given.view().await.inside, 4);
    given.advance(secs(4)).await;
    assert_eq!(given.view().await.inside, 4, "ticks keep their rhythm");
    given.advance(secs(1)).await;
    assert_eq!(given.view().await.inside, 6);
}

/// Where there is a batch and a cap, both hold.
pub async fn the_batch_is_let_in_up_to_the_cap(fixture: &mut impl Fixture) {
    let policy = Policy {
        active_max: Some(4),
        ..park(3)
    };
    let given = Given::room(fixture, policy).await;
    given.line(9).await;
    for inside in [3, 4, 4] {
        assert_eq!(given.view().await.inside, inside);
        given.advance(secs(10)).await;
    }
}

/// People are let in in the order of their places.
pub async fn the_line_is_let_in_in_its_order(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(2)).await;
    given.line(6).await;
    for head in [2, 4, 6] {
        for n in 1..=6 {
            let standing = given.nth(n).await;
            assert_eq!(is_inside(standing), n <= head, "{n}: {standing:?}");
        }
        given.advance(secs(10)).await;
    }
}

/// A tick that lets in more than one transition looks at is spent as a whole.
pub async fn a_large_tick_is_spent_as_a_whole(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1_500)).await;
    given.operate(Operation::Pause).await;
    given.crowd(1_600).await;
    given.operate(Operation::Resume).await;
    given.settle().await;
    assert_eq!(given.counts().await, [1_500, 0, 0, 100]);
}

/// An operator lets in more than the batch in this tick, and only in this one.
pub async fn an_operator_lets_in_more_in_this_tick(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.line(9).await;
    given.operate(Operation::Admit(4)).await;
    assert_eq!(given.view().await.inside, 5);
    given.advance(secs(10)).await;
    assert_eq!(given.view().await.inside, 6);
}

/// An operator who lets in more does not lift the cap.
pub async fn an_operator_lets_in_no_more_than_the_cap(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(2)).await;
    given.line(5).await;
    given.operate(Operation::Admit(4)).await;
    assert_eq!(given.view().await.inside, 2);
}
