//! Rooms that stand still while they are carried to another store.

use std::time::Duration;

use ropeline_core::{Joined, Ordinal, Saved};

use super::{
    Fixture,
    given::{Given, bank, holder, is_inside, joiner, room, secs, visitor},
};
use crate::{Freeze, Operation, Over, StoreError};

fn leaving() -> Freeze {
    Freeze::Leaving("elsewhere".to_owned())
}

impl<F: Fixture> Given<'_, F> {
    async fn freeze(&self) {
        let frozen = self.store().freeze(&self.room, leaving()).await;
        frozen.unwrap();
    }

    async fn thaw(&self) -> bool {
        self.store().thaw(&self.room).await.unwrap()
    }

    async fn frozen(&self) -> Option<Freeze> {
        self.store().frozen(&self.room).await.unwrap()
    }

    /// The whole of the room, which stands still from then on.
    async fn read_out(&self) -> Saved {
        self.freeze().await;
        self.store().export(&self.room).await.unwrap()
    }
}

/// A room for two that has four in it.
async fn four<F: Fixture>(fixture: &mut F) -> Given<'_, F> {
    let given = Given::room(fixture, bank(2)).await;
    given.line(4).await;
    given
}

/// A frozen room takes no change, and says why.
pub async fn a_frozen_room_takes_no_change(fixture: &mut impl Fixture) {
    let given = four(fixture).await;
    given.freeze().await;
    let (store, name) = (given.store(), &given.room);
    let answers = [
        store.join(name, joiner("late")).await.map(drop),
        store.renew(name, holder(1)).await.map(drop),
        store.leave(name, holder(3)).await.map(drop),
        store.finish(name, holder(1)).await.map(drop),
        store.revoke(name, visitor("user-2")).await.map(drop),
        store.operate(name, Operation::Pause).await,
        store.stock(name, Some(7)).await,
        store.settle(name).await,
    ];
    let (room, why) = (name.clone(), leaving());
    let frozen = StoreError::Frozen { room, why };
    for (at, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer, Err(frozen.clone()), "the answer at {at}");
    }
}

/// A frozen room is shown as it was, however much time passes.
pub async fn a_frozen_room_is_shown_as_it_was(fixture: &mut impl Fixture) {
    let given = four(fixture).await;
    given.freeze().await;
    given.wait(secs(3_600));
    let store = given.store();
    store.refresh(&given.room).await;
    let view = store.view(&given.room).unwrap().view;
    assert_eq!((view.inside, view.waiting()), (2, 2));
}

/// A room says why it is frozen, and that it is not; the last reason counts.
pub async fn a_room_says_why_it_is_frozen(fixture: &mut impl Fixture) {
    let given = four(fixture).await;
    assert_eq!(given.frozen().await, None);
    given.freeze().await;
    assert_eq!(given.frozen().await, Some(leaving()));
    let left = Freeze::Left("elsewhere".to_owned());
    let again = given.store().freeze(&given.room, left.clone()).await;
    assert_eq!(again, Ok(()));
    assert_eq!(given.frozen().await, Some(left));
}

/// A frozen room is still frozen after a crash.
pub async fn a_frozen_room_outlives_a_crash(fixture: &mut impl Fixture) {
    let mut given = four(fixture).await;
    given.freeze().await;
    given.crash().await;
    assert_eq!(given.frozen().await, Some(leaving()));
    let joined = given.store().join(&given.room, joiner("late")).await;
    assert!(
        matches!(joined, Err(StoreError::Frozen { .. })),
        "{joined:?}"
    );
}

/// A room that is thawed goes on as if no time had passed.
pub async fn a_thawed_room_goes_on(fixture: &mut impl Fixture) {
    let given = four(fixture).await;
    given.advance(secs(10)).await;
    given.freeze().await;
    given.wait(secs(3_600));
    assert!(given.thaw().await);
    given.advance(Duration::from_millis(19_999)).await;
    assert!(is_inside(given.nth(1).await));
    assert_eq!(given.join("late").await, Joined::New(Ordinal(5)));
    given.advance(Duration::from_millis(1)).await;
    assert!(is_inside(given.nth(3).await));
}

/// A room is thawed once.
pub async fn a_room_is_thawed_once(fixture: &mut impl Fixture) {
    let given = four(fixture).await;
    assert!(!given.thaw().await);
    given.freeze().await;
    assert!(given.thaw().await);
    assert!(!given.thaw().await);
}

/// A room that is not frozen is not read out, since it would change meanwhile.
pub async fn only_a_frozen_room_is_read_out(fixture: &mut impl Fixture) {
    let given = four(fixture).await;
    assert!(given.store().export(&given.room).await.is_err());
}

/// A room that was read out and taken in again is the same room, once it is thawed.
pub async fn what_was_read_out_is_taken_in(fixture: &mut impl Fixture) {
    let mut given = four(fixture).await;
    given.leave(4).await;
    given.stock(Some(7)).await;
    let saved = given.read_out().await;
    let (store, copy) = (given.store(), room("copy"));
    let taken = store.adopt(&copy, saved, "here", Over::Nothing).await;
    assert_eq!(taken, Ok(true));
    let arriving = Freeze::Arriving("here".to_owned());
    assert_eq!(store.frozen(&copy).await, Ok(Some(arriving)));
    assert_eq!(store.thaw(&copy).await, Ok(true));
    given.room = copy;
    assert_eq!(given.counts().await, [2, 0, 0, 1]);
    assert_eq!(given.view().await.header.stock, Some(7));
    assert_eq!(given.join("user-3").await, Joined::Already(Ordinal(3)));
    assert_eq!(given.join("user-4").await, Joined::New(Ordinal(5)));
}

/// A room with people in it is not replaced by one that arrives.
pub async fn nobody_is_put_out_by_an_arrival(fixture: &mut impl Fixture) {
    let given = four(fixture).await;
    let saved = given.read_out().await;
    given.thaw().await;
    let (store, name) = (given.store(), &given.room);
    let taken = store.adopt(name, saved, "here", Over::Empty).await;
    assert_eq!(taken, Ok(false));
    assert_eq!(given.join("late").await, Joined::New(Ordinal(5)));
}

/// An arrival that came to no end can be discarded, and nothing else can.
pub async fn only_an_arrival_is_discarded(fixture: &mut impl Fixture) {
    let given = four(fixture).await;
    let saved = given.read_out().await;
    let (store, copy) = (given.store(), room("copy"));
    let taken = store.adopt(&copy, saved, "here", Over::Nothing).await;
    assert_eq!(taken, Ok(true));
    assert_eq!(store.discard(&given.room).await, Ok(false));
    assert_eq!(store.discard(&copy).await, Ok(true));
    store.refresh(&copy).await;
    assert!(store.view(&copy).is_none());
    assert_eq!(store.discard(&copy).await, Ok(false));
}
