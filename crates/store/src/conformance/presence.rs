//! Those who are not there neither hold up the line nor lose their place at once.

use ropeline_core::{Ending, Joined, Live, Ordinal, Policy, Reason, Standing};

use super::{
    Fixture,
    given::{Given, is_inside, park, secs, watchful_park},
};
use crate::Operation;

/// Nobody is let in for so long that only those are there who are heard of: `there`.
async fn a_minute_passes<F: Fixture>(given: &Given<'_, F>, there: &[u64]) {
    given.operate(Operation::Pause).await;
    for _ in 0..12 {
        given.advance(secs(5)).await;
        for n in there {
            given.mark(*n);
        }
    }
    given.advance(secs(1)).await;
}

/// Who is not there when their turn comes is set aside, and the next one is let in.
pub async fn who_is_not_there_is_stepped_over(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, watchful_park(1)).await;
    given.operate(Operation::Pause).await;
    given.line(3).await;
    a_minute_passes(&given, &[3]).await;
    given.operate(Operation::Resume).await;
    given.settle().await;
    assert_eq!(given.counts().await, [1, 2, 0, 0]);
    let aside = given.find("user-1").await.unwrap().standing;
    assert!(matches!(aside, Standing::Live(Live::Aside(_))), "{aside:?}");
    assert!(is_inside(given.nth(3).await));
}

/// Of a thousand in line, the hundred who are there are inside as fast as if they were alone.
pub async fn of_a_thousand_in_line_those_who_are_there_are_let_in(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, watchful_park(100)).await;
    given.operate(Operation::Pause).await;
    let holders = given.crowd(1_000).await;
    let there: Vec<_> = (1..=100).map(|n| n * 10).collect();
    a_minute_passes(&given, &there).await;
    given.operate(Operation::Resume).await;
    given.settle().await;
    assert_eq!(given.counts().await, [100, 900, 0, 0]);
    for n in there {
        let holder = &holders[usize::try_from(n).unwrap() - 1];
        let found = given.store().find(&given.room, &holder.visitor).await;
        let standing = found.unwrap().unwrap().standing;
        assert!(is_inside(standing), "{n}: {standing:?}");
    }
}

/// Who comes back in time is at the door, and let in before the line.
pub async fn who_comes_back_in_time_is_served_first(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, watchful_park(1)).await;
    given.operate(Operation::Pause).await;
    given.line(2).await;
    a_minute_passes(&given, &[2]).await;
    given.operate(Operation::Resume).await;
    assert_eq!(
        given.nth(1).await,
        Standing::Live(Live::AtDoor { before: 0 })
    );
    assert_eq!(given.join("behind").await, Joined::New(Ordinal(3)));
    given.advance(secs(10)).await;
    assert!(is_inside(given.nth(1).await));
    assert_eq!(given.counts().await, [2, 0, 0, 1]);
}

/// A mark alone brings somebody back who missed a turn.
pub async fn a_mark_brings_back_who_missed_a_turn(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, watchful_park(1)).await;
    given.operate(Operation::Pause).await;
    given.line(2).await;
    a_minute_passes(&given, &[2]).await;
    given.operate(Operation::Resume).await;
    given.mark(1);
    given.settle().await;
    assert_eq!(given.counts().await, [1, 0, 1, 0]);
}

/// Who does not come back in time has lost the place.
pub async fn who_does_not_come_back_is_gone(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, watchful_park(1)).await;
    given.operate(Operation::Pause).await;
    given.line(2).await;
    a_minute_passes(&given, &[2]).await;
    given.operate(Operation::Resume).await;
    given.advance(secs(60)).await;
    assert_eq!(given.nth(1).await, Standing::Ended(Ending::Gone));
    let view = given.view().await;
    assert_eq!(view.header.counters.missed, 1);
    assert_eq!(view.reason(Ordinal(1)), Some(Reason::Missed));
}

/// Who asks is there, as well as who is marked.
pub async fn who_asks_is_there(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, watchful_park(1)).await;
    given.operate(Operation::Pause).await;
    given.line(1).await;
    for _ in 0..12 {
        given.advance(secs(5)).await;
        assert_eq!(given.nth(1).await, Standing::Live(Live::InLine));
    }
    given.settle().await;
    given.operate(Operation::Resume).await;
    assert!(is_inside(given.nth(1).await));
}

/// Where presence does not matter, nobody is stepped over.
pub async fn nobody_is_stepped_over_where_presence_does_not_matter(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(2)).await;
    given.operate(Operation::Pause).await;
    given.line(2).await;
    a_minute_passes(&given, &[]).await;
    given.operate(Operation::Resume).await;
    assert_eq!(given.counts().await, [2, 0, 0, 0]);
}

/// An hour in which nobody could ask makes nobody absent.
pub async fn an_outage_makes_nobody_absent(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, watchful_park(1)).await;
    given.line(2).await;
    given.wait(secs(3_600));
    given.crash().await;
    given.advance(secs(10)).await;
    let found = given.find("user-2").await.unwrap().standing;
    assert!(is_inside(found), "{found:?}");
}

/// With no time to come back, who is not there has lost the place at once.
pub async fn a_missed_turn_may_be_the_end(fixture: &mut impl Fixture) {
    let policy = Policy {
        missed_turn_ttl: secs(0),
        ..watchful_park(1)
    };
    let given = Given::room(fixture, policy).await;
    given.operate(Operation::Pause).await;
    given.line(2).await;
    a_minute_passes(&given, &[2]).await;
    given.operate(Operation::Resume).await;
    assert_eq!(given.nth(1).await, Standing::Ended(Ending::Gone));
    assert!(is_inside(given.nth(2).await));
}

/// Who was heard of less than the time of presence ago is there, whenever within a round that was.
pub async fn who_was_heard_of_lately_is_there(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, watchful_park(1)).await;
    given.operate(Operation::Pause).await;
    given.line(1).await;
    given.advance(secs(9)).await;
    given.mark(1);
    given.settle().await;
    for seconds in [1, 10, 8] {
        given.advance(secs(seconds)).await;
    }
    given.operate(Operation::Resume).await;
    assert_eq!(
        given.counts().await,
        [1, 0, 0, 0],
        "heard of 19 seconds ago"
    );
}
