//! Two who use the same store.

use std::sync::Arc;

use ropeline_core::{Departure, Joined, Live, Ordinal, Standing};

use super::{
    Fixture,
    given::{Given, at_once, bank, holder, is_inside, joiner, park, secs, visitor},
};
use crate::Operation;

/// Those who join on two nodes are in one line.
pub async fn two_nodes_give_places_of_one_line(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(1)).await;
    let nodes = [given.store(), given.another_node().await];
    for n in 1..=10 {
        let node = &nodes[usize::try_from(n % 2).unwrap()];
        let joined = node.join(&given.room, joiner(&format!("user-{n}"))).await;
        assert_eq!(joined.unwrap().0, Joined::New(Ordinal(n)));
    }
}

/// A thousand who join on two nodes at once have the places from one to a thousand.
pub async fn a_thousand_joins_on_two_nodes_are_one_line(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(1)).await;
    let nodes = [given.store(), given.another_node().await];
    let joins = (0..1_000).map(|n| {
        let (node, room) = (Arc::clone(&nodes[n % 2]), given.room.clone());
        async move {
            let joined = node.join(&room, joiner(&format!("user-{n}"))).await;
            match joined.unwrap().0 {
                Joined::New(ordinal) => ordinal.0,
                other => panic!("{other:?}"),
            }
        }
    });
    let mut ordinals = at_once(joins).await;
    ordinals.sort_unstable();
    assert_eq!(ordinals, (1..=1_000).collect::<Vec<_>>());
}

/// Who joins on two nodes at once has one place.
pub async fn a_visitor_on_two_nodes_has_one_place(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(1)).await;
    let nodes = [given.store(), given.another_node().await];
    let joins = (0..100).map(|n: usize| {
        let (node, room) = (Arc::clone(&nodes[n % 2]), given.room.clone());
        async move { node.join(&room, joiner("ann")).await.unwrap().0 }
    });
    let joined = at_once(joins).await;
    let of = |wanted: Joined| joined.iter().filter(|one| **one == wanted).count();
    assert_eq!(of(Joined::New(Ordinal(1))), 1);
    assert_eq!(of(Joined::Already(Ordinal(1))), 99);
}

/// Who has a place from one node is known on the other.
pub async fn who_joined_on_one_node_is_known_on_the_other(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(1)).await;
    let (other, room) = (given.another_node().await, given.room.clone());
    given.line(2).await;
    assert!(is_inside(other.renew(&room, holder(1)).await.unwrap()));
    let waiting = other.ask(&room, holder(2)).await.unwrap();
    assert_eq!(waiting, Standing::Live(Live::InLine));
    let found = other.find(&room, &visitor("user-2")).await.unwrap();
    assert_eq!(found.unwrap().ordinal, Ordinal(2));
    let left = other.leave(&room, holder(2)).await;
    assert_eq!(left, Ok(Departure::Left));
}

/// What one node changes is in the other's picture once it is refreshed.
pub async fn what_one_node_changes_the_other_shows(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(1)).await;
    let (other, room) = (given.another_node().await, given.room.clone());
    given.line(5).await;
    given.leave(3).await;
    given.operate(Operation::Pause).await;
    given.set(bank(2)).await;
    let mine = given.view().await;
    other.refresh(&room).await;
    let theirs = other.view(&room).unwrap().view;
    assert_eq!(theirs.header.version, mine.header.version);
    assert_eq!(theirs.header.policy, mine.header.policy);
    assert!(theirs.header.paused);
    for n in 1..=5 {
        let ordinal = Ordinal(n);
        assert_eq!(theirs.locate(ordinal), mine.locate(ordinal), "{n}");
    }
}

/// A batch is spent once, however many nodes settle.
pub async fn two_nodes_spend_a_batch_once(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(5)).await;
    let nodes = [given.store(), given.another_node().await];
    given.line(40).await;
    for inside in [10, 15, 20] {
        given.wait(secs(10));
        let settles = (0..16).map(|n: usize| {
            let (node, room) = (Arc::clone(&nodes[n % 2]), given.room.clone());
            async move { node.settle(&room).await.unwrap() }
        });
        at_once(settles).await;
        assert_eq!(given.view().await.inside, inside);
    }
}

/// A room that one node has deleted is not there on the other, which needs nobody to tell it.
pub async fn a_room_that_one_node_deleted_is_gone_on_the_other(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, park(1)).await;
    let other = given.another_node().await;
    given.line(1).await;
    given.operate(Operation::Delete).await;
    let joined = other.join(&given.room, joiner("late")).await;
    assert_eq!(joined, Err(given.missing()));
    other.refresh(&given.room).await;
    assert!(other.view(&given.room).is_none());
}

/// A room that one node has made is not made by the other, and both use it.
pub async fn a_room_that_one_node_made_is_there_on_the_other(fixture: &mut impl Fixture) {
    let mut given = Given::no_room(fixture);
    let other = given.another_node().await;
    assert!(given.create(park(1)).await);
    let made = other.create(&given.room, Arc::new(park(7)), None).await;
    assert_eq!(made, Ok(false));
    let joined = other.join(&given.room, joiner("ann")).await.unwrap().0;
    assert_eq!(joined, Joined::New(Ordinal(1)));
    assert_eq!(given.join("ann").await, Joined::Already(Ordinal(1)));
}

/// A policy that one node has changed is not overwritten by the other's change of the one before.
pub async fn a_change_on_one_node_is_not_overwritten_by_the_other(fixture: &mut impl Fixture) {
    let mut given = Given::room(fixture, bank(1)).await;
    let other = given.another_node().await;
    given.set(bank(2)).await;
    let [old, new] = [bank(1), bank(3)].map(Arc::new);
    let changed = other.change_policy(&given.room, old, new).await;
    assert_eq!(changed, Ok(false));
    assert_eq!(*given.view().await.header.policy, bank(2));
}
