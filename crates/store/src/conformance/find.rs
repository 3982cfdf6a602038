//! Looking for a visitor.

use ropeline_core::{Live, Ordinal, Standing};

use super::{
    Fixture,
    given::{Given, bank, is_inside, secs, watchful_park},
};
use crate::Operation;

/// A visitor is found with the place that they have, inside and in line.
pub async fn a_visitor_is_found_inside_and_in_line(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    let inside = given.find("user-1").await.unwrap();
    assert_eq!(inside.ordinal, Ordinal(1));
    assert!(is_inside(inside.standing), "{inside:?}");
    let waiting = given.find("user-2").await.unwrap();
    assert_eq!(waiting.ordinal, Ordinal(2));
    assert_eq!(waiting.standing, Standing::Live(Live::InLine));
}

/// A visitor is found aside and at the door; looking for them does not bring them there.
pub async fn a_visitor_is_found_aside_and_at_the_door(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, watchful_park(1)).await;
    given.operate(Operation::Pause).await;
    given.line(1).await;
    for _ in 0..4 {
        given.advance(secs(10)).await;
    }
    given.operate(Operation::Resume).await;
    for _ in 0..2 {
        let aside = given.find("user-1").await.unwrap().standing;
        assert!(matches!(aside, Standing::Live(Live::Aside(_))), "{aside:?}");
    }
    given.operate(Operation::Pause).await;
    given.nth(1).await;
    let door = given.find("user-1").await.unwrap().standing;
    assert_eq!(door, Standing::Live(Live::AtDoor { before: 0 }));
}

/// Looking for somebody does not count as their being there.
pub async fn looking_for_a_visitor_marks_nobody(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, watchful_park(1)).await;
    given.operate(Operation::Pause).await;
    given.line(1).await;
    for _ in 0..4 {
        given.find("user-1").await.unwrap();
        given.advance(secs(10)).await;
    }
    given.operate(Operation::Resume).await;
    assert_eq!(given.view().await.aside, 1);
}

/// Looking for somebody renews no pass.
pub async fn looking_for_a_visitor_renews_nothing(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    given.advance(secs(20)).await;
    given.find("user-1").await.unwrap();
    given.advance(secs(10)).await;
    assert_eq!(given.find("user-1").await, None);
}

/// Who has no place, or none any more, is not found.
pub async fn who_has_no_place_is_not_found(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    given.leave(2).await;
    given.revoke("user-1").await;
    for user in ["user-1", "user-2", "nobody"] {
        assert_eq!(given.find(user).await, None, "{user}");
    }
}
