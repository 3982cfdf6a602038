//! Taking a place.

use ropeline_core::{Joined, Joiner, Live, Ordinal, Policy, Standing, UserId, Visitor};

use super::{
    Fixture,
    given::{Given, bank, is_inside, joiner, park, secs},
};
use crate::Operation;

/// Places are counted from one, without a gap, in the order in which they were given.
pub async fn ordinals_are_given_in_order(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    for n in 1..=5 {
        let joined = given.join(&format!("user-{n}")).await;
        assert_eq!(joined, Joined::New(Ordinal(n)));
    }
}

/// Who has a place keeps it, however often they join.
pub async fn a_second_join_is_answered_with_the_same_place(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.line(3).await;
    for n in [3, 1, 3] {
        let joined = given.join(&format!("user-{n}")).await;
        assert_eq!(joined, Joined::Already(Ordinal(n)));
    }
    assert_eq!(given.view().await.header.issued, Ordinal(3));
}

/// While there is room and nobody waits, who joins is inside.
pub async fn who_joins_where_there_is_room_is_inside(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    let joined = given.store().join(&given.room, joiner("ann")).await;
    let (joined, standing) = joined.unwrap();
    assert_eq!(joined, Joined::New(Ordinal(1)));
    assert!(is_inside(standing), "{standing:?}");
}

/// A join says where the place stands, one that is already there as well.
pub async fn a_join_tells_where_the_place_stands(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    for _ in 0..2 {
        let joined = given.store().join(&given.room, joiner("bob")).await;
        assert_eq!(joined.unwrap().1, Standing::Live(Live::InLine));
    }
}

/// A join without a place stands nowhere.
pub async fn a_refused_join_stands_nowhere(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.operate(Operation::Close).await;
    let joined = given.store().join(&given.room, joiner("ann")).await;
    assert_eq!(joined.unwrap(), (Joined::Closed, Standing::Unknown));
}

/// Who joins when a turn has come, and nobody has looked since, is behind those whose turn it is.
pub async fn nobody_overtakes_those_who_wait(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.line(2).await;
    given.wait(secs(10));
    let late = given.store().join(&given.room, joiner("late")).await;
    assert_eq!(late.unwrap().1, Standing::Live(Live::InLine));
    assert!(is_inside(given.nth(2).await));
}

/// A closed room gives no new place, and knows those that it gave.
pub async fn a_closed_room_gives_no_place(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.line(2).await;
    given.operate(Operation::Close).await;
    assert_eq!(given.join("late").await, Joined::Closed);
    assert_eq!(given.join("user-2").await, Joined::Already(Ordinal(2)));
}

/// A line that is as long as it may be takes nobody, until somebody in it has left.
pub async fn a_full_line_takes_nobody(fixture: &mut impl Fixture) {
    let policy = Policy {
        waiting_max: 2,
        ..bank(1)
    };
    let given = Given::room(fixture, policy).await;
    given.line(3).await;
    assert_eq!(given.join("late").await, Joined::Full);
    given.leave(2).await;
    assert_eq!(given.join("late").await, Joined::New(Ordinal(4)));
}

/// Who has left and joins again is behind everybody.
pub async fn who_left_joins_again_behind_everybody(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(3).await;
    given.leave(2).await;
    assert_eq!(given.join("user-2").await, Joined::New(Ordinal(4)));
}

/// Who joins after their pass ran out gets a new place, even if nobody has looked since.
pub async fn who_joins_after_a_pass_ran_out_gets_a_new_place(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    given.wait(secs(31));
    assert_eq!(given.join("user-1").await, Joined::New(Ordinal(2)));
}

/// A visitor without a name is never one with a name, whatever it is.
pub async fn a_nameless_visitor_is_nobody_else(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    let nameless = Visitor::anonymous(7);
    let namesake = nameless.as_str().to_owned();
    let visitor = nameless.clone();
    let joiner = Joiner { visitor, key: None };
    given.store().join(&given.room, joiner).await.unwrap();
    assert_eq!(given.join(&namesake).await, Joined::New(Ordinal(2)));
    let found = given.store().find(&given.room, &nameless).await.unwrap();
    assert_eq!(found.unwrap().ordinal, Ordinal(1));
}

/// A verified user has a place of their own, whoever states the same user id, and whether that is a UUID or not.
pub async fn a_verified_user_and_whoever_states_the_id_have_two_places(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    let (store, room) = (given.store(), &given.room);
    let mut ordinal = 0;
    for id in ["ann", "7d44a0e3-0a0d-4c5b-8000-00ff10203040"] {
        let id = UserId::parse(id).unwrap();
        let visitors = [Visitor::stated(&id), Visitor::verified(&id)];
        for visitor in visitors.clone() {
            ordinal += 1;
            let joiner = Joiner { visitor, key: None };
            let (joined, _) = store.join(room, joiner).await.unwrap();
            assert_eq!(joined, Joined::New(Ordinal(ordinal)));
        }
        let [stated, verified] = visitors;
        let (stated_at, verified_at) = (Ordinal(ordinal - 1), Ordinal(ordinal));
        let put_out = store.revoke(room, stated).await.unwrap();
        assert_eq!(put_out, Some(stated_at));
        let found = store.find(room, &verified).await.unwrap();
        assert_eq!(found.unwrap().ordinal, verified_at);
    }
}
