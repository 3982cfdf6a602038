//! Rooms that are carried from one store to another, in every direction.

use std::{cell::RefCell, path::Path, sync::Arc, time::Duration};

use ropeline_core::{
    Bounds, Command, Holder, Joined, Joiner, Live, Ordinal, Outcome, Policy, Room, RoomId,
    ServerId, Standing, Timestamp, View,
};
use ropeline_store::{
    CarryError, EmbeddedStore, Freeze, Inventory, Named, OpenError, Operation, Over, RedisOptions,
    RedisStore, RedisUrl, Stage, Store, StoreError, StoreTime, carry,
};
use ropeline_testing::{
    ManualClock, TestRedis,
    line::{Line, START, Settled, Suffered, stories, try_stories},
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::given::{holder, policy, visitor};

/// Kinds of stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Embedded,
    Redis,
}

const WAYS: [(Kind, Kind); 4] = [
    (Kind::Embedded, Kind::Redis),
    (Kind::Redis, Kind::Embedded),
    (Kind::Embedded, Kind::Embedded),
    (Kind::Redis, Kind::Redis),
];

/// A store on a server or in a directory of its own, with a clock that only the test moves.
struct Place {
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    kind: Kind,
    name: String,
    directory: TempDir,
    redis: Option<TestRedis>,
}

impl Place {
    async fn new(kind: Kind, clock: &Arc<ManualClock>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let redis = (kind == Kind::Redis).then(TestRedis::start);
        Self {
            store: open(directory.path(), redis.as_ref(), clock).await,
            clock: Arc::clone(clock),
            kind,
            name: format!("{kind:?}-{}", directory.path().display()),
            directory,
            redis,
        }
    }

    /// Opens it once more, as a node or a server that is started now.
    async fn open(&mut self) {
        self.store.close().await;
        // A directory is locked until the store that has it is dropped.
        let nowhere = tempfile::tempdir().unwrap();
        self.store = open(nowhere.path(), None, &self.clock).await;
        self.store = open(self.directory.path(), self.redis.as_ref(), &self.clock).await;
    }

    fn named(&self) -> Named<'_> {
        Named {
            store: &*self.store,
            name: &self.name,
        }
    }

    async fn join(&self, user: &str) -> Result<Joined, StoreError> {
        let joiner = Joiner {
            visitor: visitor(user),
            key: None,
        };
        Ok(self.store.join(&main(), joiner).await?.0)
    }

    async fn refresh(&self) {
        self.store.refresh(&main()).await;
    }
}

async fn open(
    directory: &Path,
    redis: Option<&TestRedis>,
    clock: &Arc<ManualClock>,
) -> Arc<dyn Store> {
    let Some(redis) = redis else {
        // A process that another test starts holds our locks until it has begun.
        loop {
            match EmbeddedStore::open(directory, Arc::clone(clock) as _) {
                Err(OpenError::InUse { .. }) => tokio::task::yield_now().await,
                store => return Arc::new(store.unwrap()),
            }
        }
    };
    let url: RedisUrl = redis.url().parse().unwrap();
    let options = RedisOptions {
        time: StoreTime::Given,
        ..RedisOptions::default()
    };
    let store = RedisStore::open_with(&url, Arc::clone(clock) as _, options);
    Arc::new(store.await.unwrap())
}

fn main() -> RoomId {
    RoomId::main()
}

/// A bank counter for two with four in it, and nobody absent.
async fn four_at(kind: Kind, clock: &Arc<ManualClock>) -> Place {
    let place = Place::new(kind, clock).await;
    let counter = Policy {
        batch: None,
        active_max: Some(2),
        ..policy()
    };
    let (room, digest) = (main(), Some("digest".into()));
    let created = place.store.create(&room, Arc::new(counter), digest);
    assert!(created.await.unwrap());
    for user in ["ann", "bob", "cat", "dan"] {
        place.join(user).await.unwrap();
    }
    place
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(START))
}

async fn move_to(from: &Place, to: &Place) -> Result<Inventory, CarryError> {
    carry(&main(), from.named(), to.named(), Over::Nothing, |_| {}).await
}

#[tokio::test]
async fn everybody_is_where_they_were_and_the_line_goes_on() {
    for (from, to) in WAYS {
        let clock = clock();
        let (from, to) = (four_at(from, &clock).await, Place::new(to, &clock).await);
        let moved = move_to(&from, &to).await.unwrap();
        assert_eq!((moved.issued, moved.inside, moved.in_line), (4, 2, 2));
        to.refresh().await;
        let ask =
            async |user: &str, ordinal| to.store.ask(&main(), holder(user, ordinal)).await.unwrap();
        assert!(matches!(
            ask("ann", 1).await,
            Standing::Live(Live::Inside(_))
        ));
        assert_eq!(ask("cat", 3).await, Standing::Live(Live::InLine));
        assert_eq!(to.join("cat").await.unwrap(), Joined::Already(Ordinal(3)));
        assert_eq!(to.join("eve").await.unwrap(), Joined::New(Ordinal(5)));
        to.store.leave(&main(), holder("ann", 1)).await.unwrap();
        assert!(matches!(
            ask("cat", 3).await,
            Standing::Live(Live::Inside(_))
        ));
        let view = to.store.view(&main()).unwrap().view;
        assert_eq!(view.header.digest.as_deref(), Some("digest"));
        assert_eq!((view.waiting(), view.inside), (2, 2));
    }
}

#[tokio::test]
async fn where_a_room_was_nothing_changes_it_any_more_even_after_a_restart() {
    for (from, to) in WAYS {
        let clock = clock();
        let (mut from, to) = (four_at(from, &clock).await, Place::new(to, &clock).await);
        move_to(&from, &to).await.unwrap();
        for _ in 0..2 {
            let frozen = StoreError::Frozen {
                room: main(),
                why: Freeze::Left(to.name.clone()),
            };
            assert_eq!(from.join("eve").await, Err(frozen.clone()));
            let renewed = from.store.renew(&main(), holder("ann", 1)).await;
            assert_eq!(renewed, Err(frozen.clone()));
            let left = from.store.leave(&main(), holder("ann", 1)).await;
            assert_eq!(left, Err(frozen.clone()));
            let paused = from.store.operate(&main(), Operation::Pause).await;
            assert_eq!(paused, Err(frozen.clone()));
            clock.advance(Duration::from_secs(3_600));
            assert_eq!(from.store.settle(&main()).await, Err(frozen));
            assert_eq!(from.store.view(&main()).unwrap().view.inside, 2);
            from.open().await;
        }
    }
}

#[tokio::test]
async fn a_room_of_that_name_is_left_alone_and_the_other_goes_on() {
    for (from, to) in WAYS {
        let clock = clock();
        let (from, to) = (four_at(from, &clock).await, four_at(to, &clock).await);
        to.join("zoe").await.unwrap();
        let refused = move_to(&from, &to).await;
        assert!(
            matches!(refused, Err(CarryError::Occupied { .. })),
            "{refused:?}"
        );
        assert_eq!(from.join("eve").await.unwrap(), Joined::New(Ordinal(5)));
        assert_eq!(to.join("zoe").await.unwrap(), Joined::Already(Ordinal(5)));
    }
}

#[tokio::test]
async fn an_empty_room_gives_way_only_when_that_is_said() {
    for (from, to) in WAYS {
        let clock = clock();
        let (from, mut to) = (four_at(from, &clock).await, Place::new(to, &clock).await);
        clock.advance(Duration::from_secs(1));
        to.store
            .create(&main(), Arc::new(policy()), None)
            .await
            .unwrap();
        let refused = move_to(&from, &to).await;
        assert!(
            matches!(refused, Err(CarryError::Occupied { .. })),
            "{refused:?}"
        );
        let moved = carry(&main(), from.named(), to.named(), Over::Empty, |_| {}).await;
        assert_eq!(moved.unwrap().issued, 4);
        to.open().await;
        assert_eq!(to.join("dan").await.unwrap(), Joined::Already(Ordinal(4)));
    }
}

#[tokio::test]
async fn nodes_that_know_the_empty_room_take_the_one_that_came_for_it() {
    let clock = clock();
    let (from, to) = (
        four_at(Kind::Embedded, &clock).await,
        Place::new(Kind::Redis, &clock).await,
    );
    clock.advance(Duration::from_secs(1));
    let room = main();
    let created = to.store.create(&room, Arc::new(policy()), None);
    assert!(created.await.unwrap());
    let other = open(to.directory.path(), to.redis.as_ref(), &clock).await;
    assert_eq!(other.view(&room).unwrap().view.header.issued, Ordinal(0));
    let moved = carry(&room, from.named(), to.named(), Over::Empty, |_| {}).await;
    assert_eq!(moved.unwrap().issued, 4);
    for node in [&other, &to.store] {
        node.refresh(&room).await;
        let view = node.view(&room).unwrap().view;
        assert_eq!((view.header.issued, view.inside), (Ordinal(4), 2));
        let asked = node.ask(&room, holder("dan", 4)).await;
        assert_eq!(asked, Ok(Standing::Live(Live::InLine)));
    }
}

#[tokio::test]
async fn a_room_comes_back_to_where_it_was() {
    for (from, to) in WAYS {
        let clock = clock();
        let (mut from, to) = (four_at(from, &clock).await, Place::new(to, &clock).await);
        move_to(&from, &to).await.unwrap();
        to.join("eve").await.unwrap();
        move_to(&to, &from).await.unwrap();
        from.open().await;
        assert_eq!(from.join("eve").await.unwrap(), Joined::Already(Ordinal(5)));
        assert!(matches!(
            to.join("fay").await,
            Err(StoreError::Frozen { .. })
        ));
    }
}

#[tokio::test]
async fn a_pass_lasts_as_long_as_it_had_left_however_long_the_move_takes() {
    for (from, to) in WAYS {
        let clock = clock();
        let (from, to) = (four_at(from, &clock).await, Place::new(to, &clock).await);
        clock.advance(Duration::from_secs(10));
        // The last stages are slow.
        let slow = |stage| {
            if matches!(stage, Stage::Reading | Stage::Switching) {
                clock.advance(Duration::from_secs(600));
            }
        };
        carry(&main(), from.named(), to.named(), Over::Nothing, slow)
            .await
            .unwrap();
        to.refresh().await;
        let inside = async || {
            to.store.settle(&main()).await.unwrap();
            to.store.view(&main()).unwrap().view.inside
        };
        clock.advance(Duration::from_millis(19_999));
        assert_eq!(inside().await, 2, "{:?}", to.kind);
        clock.advance(Duration::from_millis(1));
        let ann = to.store.ask(&main(), holder("ann", 1)).await.unwrap();
        assert!(matches!(ann, Standing::Ended(_)), "{ann:?}");
        to.store.settle(&main()).await.unwrap();
        let next = to.store.ask(&main(), holder("cat", 3)).await.unwrap();
        assert!(matches!(next, Standing::Live(Live::Inside(_))), "{next:?}");
    }
}

#[tokio::test]
async fn an_interrupted_move_can_be_undone() {
    for kind in [Kind::Embedded, Kind::Redis] {
        let clock = clock();
        let mut place = four_at(kind, &clock).await;
        let leaving = Freeze::Leaving("elsewhere".into());
        place.store.freeze(&main(), leaving.clone()).await.unwrap();
        place.open().await;
        assert_eq!(place.store.frozen(&main()).await, Ok(Some(leaving)));
        clock.advance(Duration::from_secs(3_600));
        assert_eq!(place.store.thaw(&main()).await, Ok(true));
        assert_eq!(place.store.thaw(&main()).await, Ok(false));
        assert_eq!(place.join("eve").await.unwrap(), Joined::New(Ordinal(5)));
        place.open().await;
        assert_eq!(place.store.frozen(&main()).await, Ok(None));
        assert_eq!(
            place.store.view(&main()).unwrap().view.inside,
            2,
            "no time has passed"
        );
    }
}

#[tokio::test]
async fn an_arrival_that_came_to_no_end_serves_nobody_and_makes_room_for_another() {
    for (from, to) in WAYS {
        let clock = clock();
        let (from, mut to) = (four_at(from, &clock).await, Place::new(to, &clock).await);
        from.store
            .freeze(&main(), Freeze::Leaving(to.name.clone()))
            .await
            .unwrap();
        let saved = from.store.export(&main()).await.unwrap();
        let adopted = to
            .store
            .adopt(&main(), saved, &from.name, Over::Nothing)
            .await;
        assert_eq!(adopted, Ok(true));
        to.open().await;
        let arriving = Freeze::Arriving(from.name.clone());
        assert_eq!(to.store.frozen(&main()).await, Ok(Some(arriving)));
        assert!(matches!(
            to.join("eve").await,
            Err(StoreError::Frozen { .. })
        ));
        // The process that moved it has ended; another begins anew.
        assert_eq!(move_to(&from, &to).await.unwrap().in_line, 2);
        assert_eq!(to.join("eve").await.unwrap(), Joined::New(Ordinal(5)));
        assert_eq!(
            to.store.discard(&main()).await,
            Ok(false),
            "it is no arrival any more"
        );
    }
}

#[tokio::test]
async fn an_arrival_can_be_discarded() {
    for kind in [Kind::Embedded, Kind::Redis] {
        let clock = clock();
        let (from, mut to) = (
            four_at(Kind::Embedded, &clock).await,
            Place::new(kind, &clock).await,
        );
        from.store
            .freeze(&main(), Freeze::Leaving(to.name.clone()))
            .await
            .unwrap();
        let saved = from.store.export(&main()).await.unwrap();
        to.store
            .adopt(&main(), saved, &from.name, Over::Nothing)
            .await
            .unwrap();
        assert_eq!(to.store.discard(&main()).await, Ok(true));
        to.open().await;
        assert!(to.store.view(&main()).is_none());
        assert_eq!(to.store.rooms(), []);
        if let Some(redis) = &to.redis {
            assert_eq!(redis.cli(&["KEYS", "rl:*"]), "");
        }
        assert!(
            to.store
                .create(&main(), Arc::new(policy()), None)
                .await
                .unwrap()
        );
    }
}

#[tokio::test]
async fn a_room_that_is_not_frozen_is_not_read_out() {
    for kind in [Kind::Embedded, Kind::Redis] {
        let place = four_at(kind, &clock()).await;
        assert!(place.store.export(&main()).await.is_err());
    }
}

#[tokio::test]
async fn a_room_that_arrives_otherwise_than_it_left_does_not_go_on_there() {
    let clock = clock();
    let (from, to) = (
        four_at(Kind::Embedded, &clock).await,
        Place::new(Kind::Redis, &clock).await,
    );
    let places = "rl:{main}:places";
    let lose_one = |stage| {
        if stage == Stage::Checking {
            let redis = to.redis.as_ref().unwrap();
            assert_eq!(redis.cli(&["ZREM", places, "u:dan"]), "1");
        }
    };
    let moved = carry(&main(), from.named(), to.named(), Over::Nothing, lose_one).await;
    assert!(
        matches!(moved, Err(CarryError::Differs { .. })),
        "{moved:?}"
    );
    assert_eq!(from.join("eve").await.unwrap(), Joined::New(Ordinal(5)));
    assert!(to.join("eve").await.is_err());
}

/// A room with nothing round it, which is carried through both kinds of stores after every few steps.
struct Wanderer<'a> {
    room: Room,
    clock: Timestamp,
    at: Arc<ManualClock>,
    runtime: &'a Runtime,
    places: &'a RefCell<[Place; 2]>,
    steps: u32,
}

impl Wanderer<'_> {
    /// Into the one, over to the other, and back out: the same room as before.
    fn wander(&mut self) {
        let room = RoomId::parse("wandering").unwrap();
        let places = self.places.borrow();
        self.runtime.block_on(async {
            for (from, to) in [(&places[0], &places[1]), (&places[1], &places[0])] {
                let saved = self.room.saved();
                let left = Inventory::of(&saved);
                assert!(
                    from.store
                        .adopt(&room, saved, "nowhere", Over::Empty)
                        .await
                        .unwrap()
                );
                let carried = carry(&room, from.named(), to.named(), Over::Empty, |_| {})
                    .await
                    .unwrap();
                assert_eq!(carried, left);
                to.store
                    .freeze(&room, Freeze::Arriving("nowhere".into()))
                    .await
                    .unwrap();
                let mut back = to.store.export(&room).await.unwrap();
                assert_eq!(Inventory::of(&back), left);
                back.header.server = server();
                back.header.version = self.room.header().version;
                let mut back = Room::load(back, Bounds::default()).unwrap();
                back.resume_at(self.clock);
                self.room = back;
                from.store
                    .freeze(&room, Freeze::Arriving("nowhere".into()))
                    .await
                    .unwrap();
            }
        });
    }
}

impl Line for Wanderer<'_> {
    fn apply(&mut self, command: Command) -> Outcome {
        self.steps += 1;
        if self.steps.is_multiple_of(12)
            && self.room.header().state != ropeline_core::RoomState::Deleted
        {
            self.wander();
        }
        self.room.apply(command, self.clock)
    }
    fn view(&mut self) -> View {
        self.room.view(self.clock)
    }
    fn standing(&mut self, holder: &Holder) -> Standing {
        self.room.standing(holder, self.clock)
    }
    fn advance(&mut self, by: Duration) -> Settled {
        self.clock = self.clock + by;
        self.at.advance(by);
        Settled::NotYet
    }
    fn suffer(&mut self, _: u64) -> Suffered {
        Suffered::Nothing
    }
}

fn server() -> ServerId {
    ServerId("wanderer".into())
}

#[test]
fn a_room_that_wanders_between_stores_keeps_every_promise() {
    let runtime = Runtime::new().unwrap();
    let at = clock();
    let places = runtime.block_on(async {
        [
            Place::new(Kind::Embedded, &at).await,
            Place::new(Kind::Redis, &at).await,
        ]
    });
    let places = RefCell::new(places);
    try_stories(24, stories(120, 0), |story| Wanderer {
        room: Room::new(
            story.policy.clone(),
            server(),
            ropeline_store::Clock::now(&*at),
            Bounds::default(),
        ),
        clock: ropeline_store::Clock::now(&*at),
        at: Arc::clone(&at),
        runtime: &runtime,
        places: &places,
        steps: 0,
    });
}
