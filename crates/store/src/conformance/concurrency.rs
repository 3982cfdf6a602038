//! Many at once.

use ropeline_core::{Departure, Ending, Joined, Ordinal, Standing};

use super::{
    Fixture,
    given::{Given, at_once, bank, holder, is_inside, joiner, park, secs, visitor},
};

/// A thousand who join at once have the places from one to a thousand.
pub async fn a_thousand_who_join_at_once_are_one_line(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    let holders = given.crowd(1_000).await;
    let ordinals: Vec<_> = holders.iter().map(|holder| holder.ordinal.0).collect();
    assert_eq!(ordinals, (1..=1_000).collect::<Vec<_>>());
    assert_eq!(given.counts().await, [1, 0, 0, 999]);
}

/// Who joins a thousand times at once has one place, and is told so.
pub async fn who_joins_a_thousand_times_at_once_has_one_place(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    let joins = (0..1_000).map(|_| {
        let (store, room) = (given.store(), given.room.clone());
        async move { store.join(&room, joiner("ann")).await.unwrap().0 }
    });
    let joined = at_once(joins).await;
    let of = |wanted: Joined| joined.iter().filter(|one| **one == wanted).count();
    assert_eq!(of(Joined::New(Ordinal(1))), 1);
    assert_eq!(of(Joined::Already(Ordinal(1))), 999);
}

/// Who was answered before somebody else asked is ahead of them.
pub async fn who_was_answered_before_is_ahead(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    let first = given.crowd(50).await;
    let latest = first.last().unwrap().ordinal;
    let second = (1..=50).map(|n| {
        let (store, room) = (given.store(), given.room.clone());
        async move { store.join(&room, joiner(&format!("later-{n}"))).await }
    });
    for joined in at_once(second).await {
        match joined.unwrap().0 {
            Joined::New(ordinal) => assert!(ordinal > latest, "{ordinal}"),
            other => panic!("{other:?}"),
        }
    }
}

/// However many settle at once, no more are inside than the cap says.
pub async fn settling_at_once_never_goes_above_the_cap(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(5)).await;
    given.line(30).await;
    for _ in 0..3 {
        given.wait(secs(30));
        settle_at_once(&given).await;
        assert_eq!(given.view().await.inside, 5);
    }
    assert_eq!(given.view().await.header.counters.admitted, 20);
}

/// However many settle at once, no more are let in per tick than the batch says.
pub async fn settling_at_once_never_goes_above_the_batch(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(5)).await;
    given.line(30).await;
    for inside in [10, 15, 20] {
        given.wait(secs(10));
        settle_at_once(&given).await;
        assert_eq!(given.view().await.inside, inside);
    }
}

async fn settle_at_once<F: Fixture>(given: &Given<'_, F>) {
    let settles = (0..20).map(|_| {
        let (store, room) = (given.store(), given.room.clone());
        async move { store.settle(&room).await.unwrap() }
    });
    at_once(settles).await;
}

/// Each who leaves at once with others is followed by one, and never are more inside than the cap says.
pub async fn each_who_leaves_is_followed_by_one(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(20)).await;
    given.line(50).await;
    let leaves = (1..=20).map(|n| {
        let (store, room) = (given.store(), given.room.clone());
        async move { store.leave(&room, holder(n)).await.unwrap() }
    });
    let departures = at_once(leaves).await;
    assert_eq!(departures, [Departure::Finished; 20]);
    assert_eq!(given.counts().await, [20, 0, 0, 10]);
    assert_eq!(given.view().await.header.counters.admitted, 40);
}

/// A pass that is finished many times at once is finished once.
pub async fn a_pass_is_finished_once(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(3).await;
    let ends = (0..40).map(|n| {
        let (store, room) = (given.store(), given.room.clone());
        async move {
            match n % 2 {
                0 => store.finish(&room, holder(1)).await.unwrap(),
                _ => store.leave(&room, holder(1)).await.unwrap(),
            }
        }
    });
    let departures = at_once(ends).await;
    let of = |wanted| departures.iter().filter(|one| **one == wanted).count();
    assert_eq!((of(Departure::Finished), of(Departure::Nothing)), (1, 39));
    assert_eq!(given.counts().await, [1, 0, 0, 1]);
}

/// A pass that is used and finished at once is used or over, and over in the end.
pub async fn a_pass_that_is_finished_while_used_is_over(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    let uses = (0..40).map(|n| {
        let (store, room) = (given.store(), given.room.clone());
        async move {
            if n == 20 {
                let departure = store.finish(&room, holder(1)).await;
                assert_eq!(departure, Ok(Departure::Finished));
            }
            store.renew(&room, holder(1)).await.unwrap()
        }
    });
    for standing in at_once(uses).await {
        let over = standing == Standing::Ended(Ending::Done);
        assert!(over || is_inside(standing), "{standing:?}");
    }
    assert_eq!(given.renew(1).await, Standing::Ended(Ending::Done));
}

/// A visitor who is put out many times at once is put out once.
pub async fn a_visitor_is_put_out_once(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    let revokes = (0..20).map(|_| {
        let (store, room) = (given.store(), given.room.clone());
        async move { store.revoke(&room, visitor("user-2")).await.unwrap() }
    });
    let revoked = at_once(revokes).await;
    let places: Vec<_> = revoked.into_iter().flatten().collect();
    assert_eq!(places, [Ordinal(2)]);
}

/// Everybody who joins, asks, uses a pass and leaves, all at once, is counted once.
pub async fn a_crowd_that_comes_and_goes_is_counted_once(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(10)).await;
    let visits = (1..=200).map(|n| {
        let (store, room) = (given.store(), given.room.clone());
        async move {
            let joined = store.join(&room, joiner(&format!("user-{n}"))).await;
            let Joined::New(ordinal) = joined.unwrap().0 else {
                panic!("nobody has joined before");
            };
            let mut holder = holder(n);
            holder.ordinal = ordinal;
            store.ask(&room, holder.clone()).await.unwrap();
            store.renew(&room, holder.clone()).await.unwrap();
            store.leave(&room, holder).await.unwrap()
        }
    });
    let departures = at_once(visits).await;
    assert!(!departures.contains(&Departure::Nothing));
    assert_eq!(given.counts().await, [0, 0, 0, 0]);
    let counters = given.view().await.header.counters;
    assert_eq!(counters.finished + counters.left, 200);
    assert_eq!(counters.admitted, counters.departed);
}
