//! Places of another queue.

use std::time::Duration;

use ropeline_core::{ImportRow, Imported, Joined, Live, Located, Ordinal, Policy, Standing, Was};

use super::{
    Fixture,
    given::{Given, bank, is_inside, secs, visitor, watchful_park},
};
use crate::Operation;

const GRACE: Duration = Duration::from_secs(60);

fn rows(was: Was, users: impl IntoIterator<Item = u64>) -> Vec<ImportRow> {
    let rows = users.into_iter().map(|n| ImportRow {
        visitor: visitor(&format!("user-{n}")),
        was,
    });
    rows.collect()
}

impl<F: Fixture> Given<'_, F> {
    async fn import(&self, rows: Vec<ImportRow>) -> Vec<Imported> {
        let imported = self.store().import(&self.room, rows, GRACE).await;
        imported.unwrap()
    }
}

/// A room for two with 1 to 3 taken over as inside and 4 to 6 as waiting.
async fn imported<F: Fixture>(fixture: &mut F) -> Given<'_, F> {
    let given = Given::room(fixture, bank(2)).await;
    let all = [rows(Was::Inside, 1..=3), rows(Was::Waiting, 4..=6)].concat();
    let placed = (1..=6).map(|n| Imported::Placed(Ordinal(n)));
    assert_eq!(given.import(all).await, placed.collect::<Vec<_>>());
    given
}

/// Imported places stand as they did: inside up to the cap, then at the door, then in line.
pub async fn imported_places_stand_as_they_did(fixture: &mut impl Fixture) {
    let given = imported(fixture).await;
    let standing = async |n| given.find(&format!("user-{n}")).await.unwrap().standing;
    for n in 1..=2 {
        assert!(is_inside(standing(n).await), "{n}");
    }
    assert_eq!(
        standing(3).await,
        Standing::Live(Live::AtDoor { before: 0 })
    );
    assert_eq!(standing(4).await, Standing::Live(Live::InLine));
    assert_eq!(given.counts().await, [2, 0, 1, 3]);
}

/// Everybody at the door knows how many go in first, and nobody in line is told of them.
pub async fn everybody_at_the_door_knows_how_many_are_before(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.import(rows(Was::Inside, 1..=5)).await;
    given.import(rows(Was::Waiting, 6..=7)).await;
    let before = async |n| match given.nth(n).await {
        Standing::Live(Live::AtDoor { before }) => before,
        standing => panic!("{n} stands {standing:?}"),
    };
    for n in 2..=5 {
        assert_eq!(before(n).await, n - 2);
    }
    let view = given.view().await;
    let first_in_line = view.locate(Ordinal(6));
    assert!(matches!(first_in_line, Located::InLine { ahead: 0, .. }));
    given.leave(3).await;
    assert_eq!(before(2).await, 0);
    assert_eq!(before(5).await, 2);
    // One out, one in.
    given.leave(1).await;
    assert!(is_inside(given.nth(2).await));
    assert_eq!(before(4).await, 0);
    assert_eq!(before(5).await, 1);
}

/// An imported place goes to the first join of its visitor, and to no other.
pub async fn an_imported_place_is_claimed_once(fixture: &mut impl Fixture) {
    let given = imported(fixture).await;
    assert_eq!(given.join("user-5").await, Joined::Claimed(Ordinal(5)));
    assert_eq!(given.join("user-5").await, Joined::Already(Ordinal(5)));
    assert_eq!(given.join("late").await, Joined::New(Ordinal(7)));
}

/// Rows that were taken over before are answered as they were, and change nothing.
pub async fn a_row_is_taken_over_once(fixture: &mut impl Fixture) {
    let given = imported(fixture).await;
    given.join("user-5").await;
    let again = given.import(rows(Was::Waiting, [4, 5])).await;
    let (four, five) = (Ordinal(4), Ordinal(5));
    assert_eq!(again, [Imported::Repeated(four), Imported::Already(five)]);
    assert_eq!(given.view().await.header.issued, Ordinal(6));
}

/// Nobody is taken over as inside past those who wait here.
pub async fn nobody_is_taken_over_past_the_line(fixture: &mut impl Fixture) {
    let given = imported(fixture).await;
    let late = given.import(rows(Was::Inside, [7])).await;
    assert_eq!(late, [Imported::LineAhead]);
}

/// A full line takes over nobody.
pub async fn a_full_line_takes_over_nobody(fixture: &mut impl Fixture) {
    let policy = Policy {
        waiting_max: 1,
        ..bank(1)
    };
    let given = Given::room(fixture, policy).await;
    let answers = given.import(rows(Was::Waiting, 1..=3)).await;
    let (one, two) = (Ordinal(1), Ordinal(2));
    let placed = [Imported::Placed(one), Imported::Placed(two)];
    assert_eq!(answers, [&placed[..], &[Imported::Full]].concat());
}

/// Who has not joined yet counts as present for the time of grace, and no longer.
pub async fn the_grace_ends(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, watchful_park(3)).await;
    given.import(rows(Was::Waiting, 1..=12)).await;
    for _ in 0..2 {
        given.advance(secs(10)).await;
    }
    assert_eq!(given.counts().await, [9, 0, 0, 3], "still in the grace");
    given.operate(Operation::Pause).await;
    for _ in 0..4 {
        given.advance(secs(10)).await;
    }
    given.operate(Operation::Resume).await;
    assert_eq!(given.counts().await, [9, 3, 0, 0], "no more");
}

/// Imported places stand as they did after a crash.
pub async fn imported_places_outlive_a_crash(fixture: &mut impl Fixture) {
    let mut given = imported(fixture).await;
    given.crash().await;
    assert_eq!(given.counts().await, [2, 0, 1, 3]);
    let door = given.find("user-3").await.unwrap();
    assert_eq!(door.standing, Standing::Live(Live::AtDoor { before: 0 }));
}

/// What was claimed before a crash is not claimed again.
pub async fn a_claim_outlives_a_crash(fixture: &mut impl Fixture) {
    let mut given = imported(fixture).await;
    given.join("user-5").await;
    given.crash().await;
    assert_eq!(given.join("user-5").await, Joined::Already(Ordinal(5)));
    assert_eq!(given.join("user-6").await, Joined::Claimed(Ordinal(6)));
}

/// Who has not joined yet counts as present after a crash, too.
pub async fn the_grace_outlives_a_crash(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, watchful_park(3)).await;
    given.import(rows(Was::Waiting, 1..=12)).await;
    given.crash().await;
    for _ in 0..2 {
        given.advance(secs(10)).await;
    }
    assert_eq!(given.counts().await, [9, 0, 0, 3]);
}

/// Nothing of an import is left of a deleted room.
pub async fn nothing_of_an_import_is_left_of_a_deleted_room(fixture: &mut impl Fixture) {
    let given = imported(fixture).await;
    given.operate(Operation::Delete).await;
    given.create(bank(1)).await;
    assert_eq!(given.join("user-5").await, Joined::New(Ordinal(1)));
    assert_eq!(given.join("user-5").await, Joined::Already(Ordinal(1)));
}

/// A line that everybody has left holds up nobody who was inside elsewhere.
pub async fn an_empty_line_is_no_line_ahead(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(3).await;
    given.leave(2).await;
    given.leave(3).await;
    let late = given.import(rows(Was::Inside, [4])).await;
    assert_eq!(late, [Imported::Placed(Ordinal(4))]);
}
