//! The picture of a line, from which those who wait are told where they are.

use ropeline_core::{Live, Located, Ordinal, Standing};

use super::{
    Fixture,
    given::{Given, bank, holder, park, secs},
};
use crate::Operation;

/// What a picture says of a place agrees with what its holder is told.
pub async fn the_picture_agrees_with_the_answers(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(3)).await;
    given.line(12).await;
    for n in [5, 9, 12] {
        given.leave(n).await;
    }
    given.finish(2).await;
    given.revoke("user-7").await;
    let view = given.view().await;
    for n in 1..=13 {
        let agree = match (view.locate(Ordinal(n)), given.nth(n).await) {
            (Located::InLine { .. }, standing) => standing == Standing::Live(Live::InLine),
            (Located::PassedBy, Standing::Live(live)) => live != Live::InLine,
            (Located::Ended(seen), Standing::Ended(told)) => seen == told,
            (Located::Unknown, standing) => standing == Standing::Unknown,
            _ => false,
        };
        assert!(agree, "{n}");
    }
}

/// Everybody in line is shown how many are ahead and how many behind, without those who have left.
pub async fn the_picture_counts_those_ahead_and_behind(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(8).await;
    given.leave(3).await;
    given.leave(6).await;
    let view = given.view().await;
    for (rank, n) in [2, 4, 5, 7, 8].into_iter().enumerate() {
        let ahead = rank as u64;
        let behind = 4 - ahead;
        let located = view.locate(Ordinal(n));
        assert_eq!(located, Located::InLine { ahead, behind }, "{n}");
    }
}

/// Nobody is ever shown more ahead than before.
pub async fn nobody_is_shown_more_ahead_than_before(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(2)).await;
    given.line(20).await;
    let mut before = [u64::MAX; 20];
    for n in [20, 7, 13, 18, 9] {
        given.leave(n).await;
        given.join(&format!("late-{n}")).await;
        given.advance(secs(5)).await;
        let view = given.view().await;
        for (at, before) in (1..).zip(&mut before) {
            if let Located::InLine { ahead, .. } = view.locate(Ordinal(at)) {
                assert!(ahead <= *before, "{at}: {ahead} after {before}");
                *before = ahead;
            }
        }
    }
}

/// Whatever changes what a picture shows makes its version larger.
pub async fn every_change_has_a_version_of_its_own(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    let mut version = given.view().await.header.version;
    for step in 1..=8 {
        match step {
            1..=3 => drop(given.join(&format!("user-{step}")).await),
            4 => drop(given.leave(2).await),
            5 => drop(given.finish(1).await),
            6 => given.operate(Operation::Pause).await,
            7 => given.set(bank(2)).await,
            _ => drop(given.revoke("user-3").await),
        }
        let next = given.view().await.header.version;
        assert!(next > version, "step {step}: {next} after {version}");
        version = next;
    }
}

/// What changes nothing that a picture shows leaves its version as it is.
pub async fn what_changes_nothing_has_no_version(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    let version = given.view().await.header.version;
    given.renew(1).await;
    given.nth(2).await;
    given.mark(2);
    given.join("user-2").await;
    given.finish(2).await;
    given.find("user-2").await;
    assert_eq!(given.view().await.header.version, version);
}

/// A picture never shows less than was answered on the same node before.
pub async fn the_picture_shows_what_was_answered(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    let store = given.store();
    for n in 1..=20 {
        given.join(&format!("user-{n}")).await;
        let seen = store.view(&given.room).unwrap();
        assert!(seen.view.header.issued >= Ordinal(n), "{n}");
    }
    store.leave(&given.room, holder(20)).await.unwrap();
    let seen = store.view(&given.room).unwrap();
    let last = seen.view.locate(Ordinal(20));
    assert!(matches!(last, Located::Ended(_)), "{last:?}");
}

/// A refreshed picture is as new as the clock.
pub async fn a_refreshed_picture_is_as_new_as_the_clock(fixture: &mut impl Fixture) {
    let began = fixture.now();
    let given = Given::room(fixture, park(1)).await;
    given.advance(secs(7)).await;
    given.view().await;
    let seen = given.store().view(&given.room).unwrap();
    assert_eq!(seen.fresh_at, began + secs(7));
    assert_eq!(seen.view.now(seen.fresh_at), began + secs(7));
}
