//! The words in which stories are told.

use std::{sync::Arc, time::Duration};

use ropeline_core::{
    Departure, Holder, Identity, JoinKey, Joined, Joiner, Live, Ordinal, Pass, Policy, RoomId,
    Standing, UserId, View, Visitor,
};
use tokio::task::JoinSet;

use super::Fixture;
use crate::{Found, Operation, Store, StoreError};

/// After a crash joins and admission may be held for this long, until every node has merged what it knows.
const HELD_FOR: Duration = Duration::from_millis(2_500);

/// A store with a room in it.
pub(super) struct Given<'a, F> {
    fixture: &'a mut F,
    pub(super) room: RoomId,
}

impl<'a, F: Fixture> Given<'a, F> {
    /// An empty room with this policy.
    pub(super) async fn room(fixture: &'a mut F, policy: Policy) -> Self {
        let given = Self::no_room(fixture);
        assert!(given.create(policy).await, "there was no such room");
        given
    }

    /// The name of a room that is not there.
    pub(super) fn no_room(fixture: &'a mut F) -> Self {
        // The room whose server a fixture of several servers lets crash.
        let room = room("main");
        Self { fixture, room }
    }

    pub(super) fn store(&self) -> Arc<dyn Store> {
        self.fixture.store()
    }

    pub(super) async fn another_node(&mut self) -> Arc<dyn Store> {
        self.fixture.another_node().await
    }

    pub(super) async fn create(&self, policy: Policy) -> bool {
        let (store, policy) = (self.store(), Arc::new(policy));
        store.create(&self.room, policy, None).await.unwrap()
    }

    pub(super) async fn join(&self, user: &str) -> Joined {
        self.join_with(user, None).await
    }

    pub(super) async fn join_with(&self, user: &str, key: Option<JoinKey>) -> Joined {
        let joiner = Joiner {
            visitor: visitor(user),
            key,
        };
        let (joined, _) = self.store().join(&self.room, joiner).await.unwrap();
        joined
    }

    /// So many join one after the other: `user-1` has the first ordinal, and so on.
    pub(super) async fn line(&self, count: u64) {
        for n in 1..=count {
            let joined = self.join(&format!("user-{n}")).await;
            assert_eq!(joined, Joined::New(Ordinal(n)));
        }
    }

    /// So many join at once; the holders in the order of their ordinals.
    pub(super) async fn crowd(&self, count: u64) -> Vec<Holder> {
        let joins = (1..=count).map(|n| {
            let (store, room) = (self.store(), self.room.clone());
            let joiner = joiner(&format!("user-{n}"));
            async move {
                let visitor = joiner.visitor.clone();
                match store.join(&room, joiner).await.unwrap() {
                    (Joined::New(ordinal), _) => Holder { visitor, ordinal },
                    other => panic!("{visitor:?}: {other:?}"),
                }
            }
        });
        let mut holders = at_once(joins).await;
        holders.sort_by_key(|holder| holder.ordinal);
        holders
    }

    pub(super) async fn ask(&self, holder: Holder) -> Standing {
        self.store().ask(&self.room, holder).await.unwrap()
    }

    /// Where the n-th of a [`Given::line`] stands, who is heard of by that.
    pub(super) async fn nth(&self, n: u64) -> Standing {
        self.ask(holder(n)).await
    }

    /// As [`Given::nth`], of one who is inside.
    pub(super) async fn pass(&self, n: u64) -> Pass {
        pass(self.nth(n).await)
    }

    pub(super) async fn renew(&self, n: u64) -> Standing {
        self.store().renew(&self.room, holder(n)).await.unwrap()
    }

    pub(super) async fn keep(&self, n: u64, business: Duration) -> Standing {
        let kept = self.store().keep(&self.room, holder(n), business).await;
        kept.unwrap()
    }

    pub(super) async fn leave(&self, n: u64) -> Departure {
        self.store().leave(&self.room, holder(n)).await.unwrap()
    }

    pub(super) async fn finish(&self, n: u64) -> Departure {
        self.store().finish(&self.room, holder(n)).await.unwrap()
    }

    pub(super) async fn revoke(&self, user: &str) -> Option<Ordinal> {
        let store = self.store();
        store.revoke(&self.room, visitor(user)).await.unwrap()
    }

    pub(super) async fn find(&self, user: &str) -> Option<Found> {
        let store = self.store();
        store.find(&self.room, &visitor(user)).await.unwrap()
    }

    pub(super) fn mark(&self, n: u64) {
        self.store().mark(&self.room, Ordinal(n));
    }

    /// An operator's word, and all that follows from it.
    pub(super) async fn operate(&self, operation: Operation) {
        let store = self.store();
        store.operate(&self.room, operation).await.unwrap();
        match store.settle(&self.room).await {
            Ok(()) => {}
            Err(error) => assert_eq!(error, self.missing(), "it was a deletion"),
        }
    }

    /// Sets a policy, whatever it was before.
    pub(super) async fn set(&self, policy: Policy) {
        let policy = Arc::new(policy);
        let digest = None;
        self.operate(Operation::SetPolicy { policy, digest }).await;
    }

    pub(super) async fn stock(&self, left: Option<u64>) {
        self.store().stock(&self.room, left).await.unwrap();
    }

    pub(super) async fn merge(&self, memory: View) {
        let merged = self.store().merge(&self.room, Arc::new(memory)).await;
        merged.unwrap();
    }

    /// The picture of the room, as new as the store is, when nothing is left to settle.
    pub(super) async fn view(&self) -> View {
        let store = self.store();
        self.settle().await;
        store.refresh(&self.room).await;
        View::clone(&store.view(&self.room).unwrap().view)
    }

    /// How many are inside, aside, at the door and in line.
    pub(super) async fn counts(&self) -> [u64; 4] {
        let view = self.view().await;
        [view.inside, view.aside, view.door, view.waiting()]
    }

    /// Time passes, and what is due has happened.
    pub(super) async fn advance(&self, by: Duration) {
        self.wait(by);
        self.settle().await;
    }

    /// Time passes, and nobody calls.
    pub(super) fn wait(&self, by: Duration) {
        self.fixture.advance(by);
    }

    pub(super) async fn settle(&self) {
        self.store().settle(&self.room).await.unwrap();
    }

    /// The store stops without a word and begins again, and joins are taken.
    pub(super) async fn crash(&mut self) {
        self.fixture.crash().await;
        self.wait(HELD_FOR);
    }

    pub(super) fn missing(&self) -> StoreError {
        StoreError::NoSuchRoom(self.room.clone())
    }
}

/// Does all of it at once; what each came to, in no order.
pub(super) async fn at_once<T: Send + 'static>(
    tasks: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    tasks.into_iter().collect::<JoinSet<_>>().join_all().await
}

pub(super) fn room(name: &str) -> RoomId {
    RoomId::parse(name).unwrap()
}

pub(super) fn visitor(user: &str) -> Visitor {
    Visitor::stated(&UserId::parse(user).unwrap())
}

pub(super) fn joiner(user: &str) -> Joiner {
    Joiner {
        visitor: visitor(user),
        key: None,
    }
}

/// The token of the n-th of a [`Given::line`].
pub(super) fn holder(n: u64) -> Holder {
    holder_of(&format!("user-{n}"), n)
}

pub(super) fn holder_of(user: &str, ordinal: u64) -> Holder {
    Holder {
        visitor: visitor(user),
        ordinal: Ordinal(ordinal),
    }
}

/// The pass of one who must be inside.
#[track_caller]
pub(super) fn pass(standing: Standing) -> Pass {
    match standing {
        Standing::Live(Live::Inside(pass)) => pass,
        standing => panic!("not inside but {standing:?}"),
    }
}

pub(super) fn is_inside(standing: Standing) -> bool {
    matches!(standing, Standing::Live(Live::Inside(_)))
}

pub(super) fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// At most so many are inside, each for 30 seconds after the last use.
pub(super) fn bank(active_max: u64) -> Policy {
    Policy {
        every: secs(10),
        batch: None,
        active_max: Some(active_max),
        pass_ttl: secs(30),
        pass_max: Duration::ZERO,
        presence_ttl: Duration::ZERO,
        missed_turn_ttl: secs(60),
        waiting_max: 1_000_000,
        identity: Identity::Open,
    }
}

/// So many are let in every ten seconds, and stay for long.
pub(super) fn park(batch: u64) -> Policy {
    Policy {
        batch: Some(batch),
        active_max: None,
        pass_ttl: secs(3_600),
        ..bank(1)
    }
}

/// As [`park`], where who is not heard of for 20 seconds misses the turn.
pub(super) fn watchful_park(batch: u64) -> Policy {
    Policy {
        presence_ttl: secs(20),
        ..park(batch)
    }
}
