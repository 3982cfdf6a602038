//! How long one may stay.

use ropeline_core::{Ending, Live, Policy, Standing};

use super::{
    Fixture,
    given::{Given, bank, holder, holder_of, is_inside, pass, secs},
};

const DONE: Standing = Standing::Ended(Ending::Done);

/// A pass runs out so long after it was given.
pub async fn a_pass_runs_out(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    let given_for = given.pass(1).await;
    assert_eq!(given_for.expires_at.since(given_for.since), secs(30));
    given.advance(secs(29)).await;
    assert_eq!(given.pass(1).await, given_for);
    given.advance(secs(1)).await;
    assert_eq!(given.nth(1).await, DONE);
}

/// A pass that is used lasts as long again from then on.
pub async fn a_used_pass_lasts_from_its_last_use(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    let first = given.pass(1).await;
    for n in 1..=4 {
        given.advance(secs(20)).await;
        let renewed = pass(given.renew(1).await);
        assert_eq!(renewed.expires_at, first.expires_at + secs(20 * n));
        assert_eq!(renewed.since, first.since);
    }
}

/// Asking where one stands uses no pass.
pub async fn asking_does_not_renew(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    for _ in 0..2 {
        given.advance(secs(14)).await;
        given.pass(1).await;
        given.mark(1);
    }
    given.advance(secs(2)).await;
    assert_eq!(given.nth(1).await, DONE);
}

/// However often it is used, a pass lasts no longer than the longest that the policy allows.
pub async fn a_pass_lasts_no_longer_than_the_longest(fixture: &mut impl Fixture) {
    let policy = Policy {
        pass_max: secs(45),
        ..bank(1)
    };
    let given = Given::room(fixture, policy).await;
    given.line(1).await;
    given.advance(secs(25)).await;
    let renewed = pass(given.renew(1).await);
    assert_eq!(renewed.expires_at, renewed.since + secs(45));
    given.advance(secs(20)).await;
    assert_eq!(given.renew(1).await, DONE);
}

/// A pass that ran out lets nobody through, even if nothing has been settled since.
pub async fn a_pass_that_ran_out_is_not_renewed(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    given.wait(secs(30));
    assert_eq!(given.renew(1).await, DONE);
}

/// Who waits and comes to the gate is told so.
pub async fn who_waits_is_not_let_through(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    assert_eq!(given.renew(2).await, Standing::Live(Live::InLine));
}

/// Who comes with the place of another is not let through, and uses nothing of it.
pub async fn nobody_is_let_through_with_the_place_of_another(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    let before = given.pass(1).await;
    given.advance(secs(10)).await;
    let stranger = holder_of("stranger", 1);
    let standing = given.store().renew(&given.room, stranger).await;
    assert_eq!(standing, Ok(Standing::Ended(Ending::Gone)));
    assert_eq!(given.pass(1).await, before);
}

/// Who comes with a place that nobody was given is told that it is not known.
pub async fn a_place_that_nobody_was_given_is_unknown(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    assert_eq!(given.renew(2).await, Standing::Unknown);
    assert_eq!(given.ask(holder(2)).await, Standing::Unknown);
}

/// A pass does not run out before the business that it is kept for.
pub async fn a_pass_is_kept_for_business(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    let first = given.pass(1).await;
    given.advance(secs(20)).await;
    let kept = pass(given.keep(1, secs(300)).await);
    assert_eq!(kept.expires_at, first.since + secs(320));
    // Neither a shorter business nor a use makes it shorter.
    assert_eq!(pass(given.keep(1, secs(5)).await), kept);
    assert_eq!(pass(given.renew(1).await), kept);
    given.advance(secs(299)).await;
    assert_eq!(given.pass(1).await, kept);
    given.advance(secs(1)).await;
    assert_eq!(given.nth(1).await, DONE);
    assert!(matches!(
        given.nth(2).await,
        Standing::Live(Live::Inside(_))
    ));
}

/// No business keeps anybody inside for longer than anybody may stay.
pub async fn a_pass_is_kept_no_longer_than_the_policy_says(fixture: &mut impl Fixture) {
    let policy = Policy {
        pass_max: secs(45),
        ..bank(1)
    };
    let given = Given::room(fixture, policy).await;
    given.line(1).await;
    let kept = pass(given.keep(1, secs(300)).await);
    assert_eq!(kept.expires_at, kept.since + secs(45));
}

/// When the business is over, the pass lasts as long as from a use at that moment.
pub async fn business_that_is_over_keeps_no_pass(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    let first = given.pass(1).await;
    given.keep(1, secs(300)).await;
    given.advance(secs(10)).await;
    let over = pass(given.keep(1, secs(0)).await);
    assert_eq!(over.expires_at, first.since + secs(40));
    // A pass that was never kept is not made longer by it.
    given.advance(secs(10)).await;
    assert_eq!(pass(given.keep(1, secs(0)).await), over);
}

/// And the next one is let in once that has passed, however long the business would have been.
pub async fn who_has_no_more_business_makes_room(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    given.keep(1, secs(300)).await;
    given.advance(secs(40)).await;
    given.settle().await;
    given.keep(1, secs(0)).await;
    given.advance(secs(29)).await;
    assert_eq!(given.nth(2).await, Standing::Live(Live::InLine));
    given.advance(secs(1)).await;
    given.settle().await;
    assert!(is_inside(given.nth(2).await));
}

/// Nothing is kept of who waits, whose pass ran out, or who comes with the place of another.
pub async fn only_who_is_inside_is_kept(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    assert_eq!(given.keep(2, secs(300)).await, Standing::Live(Live::InLine));
    let before = given.pass(1).await;
    let stranger = holder_of("stranger", 1);
    let kept = given.store().keep(&given.room, stranger, secs(300)).await;
    assert_eq!(kept, Ok(Standing::Ended(Ending::Gone)));
    assert_eq!(given.pass(1).await, before);
    given.wait(secs(30));
    assert_eq!(given.keep(1, secs(300)).await, DONE);
}

/// That a pass is kept is as durable as everything that is answered.
pub async fn a_kept_pass_is_kept_over_a_crash(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    let kept = pass(given.keep(1, secs(300)).await);
    given.crash().await;
    assert_eq!(given.pass(1).await, kept);
}
