//! Rooms on a Redis that any number of nodes share.
//!
//! Every transition is one call of a function, which holds the same rules as core's `Room`; a random model compares
//! the two after every step. A node keeps nothing but pictures of the rooms, from which it answers those who wait,
//! and what it needs to help a Redis that has forgotten. No node is special.
//!
//! `transit` carries out commands, `pump` gathers those of a kind into one call, `follow` keeps the pictures fresh
//! and settles on time, `heal` merges what the nodes know.

mod away;
mod carry;
mod check;
mod create;
mod durable;
mod encode;
mod fields;
mod follow;
mod heal;
mod keys;
mod knock;
mod library;
mod link;
mod list;
mod member;
mod picture;
mod pool;
mod pump;
mod recent;
mod record;
mod refusals;
mod room;
mod servers;
mod shared;
mod slot;
mod store;
mod transit;
mod url;
mod wire;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use ropeline_core::{Bounds, RoomId};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use durable::Durability;
pub use knock::Unreached;
pub use url::{RedisUrl, RedisUrlError};

use crate::{Clock, Health, StoreError, loops::LOOPS};
use away::Away;
use durable::Durable;
use keys::Lane;
use link::Link;
use pump::closed;

use record::{Past, Record};
use refusals::Refusals;
use room::RoomNode;
use servers::Servers;
use transit::{Failed, Links, Transit};

/// Rooms that other nodes have made are looked for this often.
const LOOK_FOR_ROOMS: Duration = Duration::from_secs(1);
/// Those who watch over the servers are asked this often which one is in charge.
const VOUCH_EVERY: Duration = Duration::from_millis(200);
/// And every so many times it is looked which replicas follow.
const REPLICAS_EVERY: u32 = 5;
/// A Redis that does not answer within this at the start is not there.
const KNOCK_MAX: Duration = Duration::from_secs(2);

/// Places that one call looks at: while a function runs, Redis does nothing else, and this many take it a few
/// milliseconds.
const LOOK_MAX: u64 = 500;

/// Where room time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreTime {
    /// Redis's own clock, so that the clocks of the nodes do not matter.
    Redis,
    /// The node's clock, which a test moves.
    Given,
}

/// What an operator, or a test, wants otherwise.
#[derive(Debug, Clone)]
pub struct RedisOptions {
    /// Limits on the work of one transition.
    pub bounds: Bounds,
    /// Where room time comes from.
    pub time: StoreTime,
    /// Who must have a write before it is answered; if nothing is said, what suits the address.
    pub durability: Option<Durability>,
    /// The node's own directory, where it writes down what it knows of the rooms; `None` for a node that is to remember
    /// nothing.
    pub record: Option<PathBuf>,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            bounds: Bounds {
                look_max: LOOK_MAX,
                ..Bounds::default()
            },
            time: StoreTime::Redis,
            durability: None,
            record: None,
        }
    }
}

/// Rooms on a Redis that any number of nodes share.
#[derive(Debug)]
pub struct RedisStore {
    inner: Arc<Inner>,
    warnings: Vec<String>,
}

/// What the tasks of a store share.
#[derive(Debug)]
struct Inner {
    transit: Transit,
    rooms: ArcSwap<BTreeMap<RoomId, Arc<RoomNode>>>,
    /// Held while a room is added.
    adding: Mutex<()>,
    list_away: Away,
    record: Option<Record>,
    /// Whether this node has served the store before, and so may have forgotten a room.
    has_past: bool,
    refusals: Refusals,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

impl RedisStore {
    /// Connects, checks the server's settings, loads the functions and finds the rooms.
    pub async fn open(url: &RedisUrl, clock: Arc<dyn Clock>) -> Result<Self, Unreached> {
        Self::open_with(url, clock, RedisOptions::default()).await
    }

    /// As [`RedisStore::open`], with other limits, or with room time from `clock`.
    pub async fn open_with(
        url: &RedisUrl,
        clock: Arc<dyn Clock>,
        options: RedisOptions,
    ) -> Result<Self, Unreached> {
        url.knock(KNOCK_MAX).await?;
        let servers = Arc::new(Servers::of(url));
        let link = || Link::to(url, &servers);
        let durability = options.durability.unwrap_or_else(|| Durability::of(url));
        let durable = Arc::new(Durable::new(durability, &servers));
        let links = Links {
            writer: link().durable(&durable),
            joins: (0..Lane::COUNT).map(|_| link().durable(&durable)).collect(),
            gates: (0..LOOPS).map(|_| link()).collect(),
            feed: link(),
        };
        // Who is to be checked must be found first; and one that is too old has no functions.
        servers.owner(list::slot()).await.map_err(Failed::from)?;
        let warnings = check::check(&links.feed, &servers).await?;
        links.feed.load(list::slot()).await?;
        let transit = Transit::new(
            links,
            servers,
            clock,
            options.time,
            options.bounds,
            node_id(),
        );
        let record = options.record.as_deref();
        let record = record.map(|directory| Record::in_directory(directory, url.to_string()));
        let past = record.as_ref().map_or(Past::None, Record::read);
        let inner = Arc::new(Inner {
            transit,
            rooms: ArcSwap::default(),
            adding: Mutex::default(),
            list_away: Away::default(),
            record,
            has_past: matches!(past, Past::Known(_)),
            refusals: Refusals::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
        });
        inner.remember(past).await?;
        inner.find_rooms().await?;
        inner.wait_for_joins().await;
        inner.tasks.spawn(Arc::clone(&inner).record_for_ever());
        let finder = Arc::clone(&inner).find_rooms_for_ever();
        inner.tasks.spawn(finder);
        inner.tasks.spawn(Arc::clone(&inner).watch_for_ever());
        Ok(Self { inner, warnings })
    }

    /// What Redis's settings put at risk, worded for the operator.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Drop for RedisStore {
    /// Nobody follows rooms for a store that is gone.
    fn drop(&mut self) {
        self.inner.stopping.cancel();
    }
}

impl Inner {
    fn get(&self, room: &RoomId) -> Option<Arc<RoomNode>> {
        self.rooms.load().get(room).cloned()
    }

    /// A room that was not deleted, while the store is open.
    fn live(&self, room: &RoomId) -> Result<Arc<RoomNode>, StoreError> {
        self.with_live(room, |room| Ok(Arc::clone(room)))
    }

    /// As [`Inner::live`], without a count of who has it that all cores would write to.
    fn with_live<T>(
        &self,
        room: &RoomId,
        then: impl FnOnce(&Arc<RoomNode>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.tasks.is_closed() {
            return Err(closed());
        }
        match self.rooms.load().get(room) {
            Some(room) if room.is_live() => then(room),
            _ => Err(StoreError::NoSuchRoom(room.clone())),
        }
    }

    /// The room of that name, which is tended to from now on.
    fn room(self: &Arc<Self>, name: &RoomId) -> Arc<RoomNode> {
        self.add(RoomNode::new(name.clone(), &self.transit.node))
    }

    /// Tends to a room from now on, unless there is one of that name.
    fn add(self: &Arc<Self>, room: RoomNode) -> Arc<RoomNode> {
        let _one_at_a_time = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = self.get(&room.name) {
            return room;
        }
        let room = Arc::new(room);
        let mut rooms = BTreeMap::clone(&self.rooms.load());
        rooms.insert(room.name.clone(), Arc::clone(&room));
        self.rooms.store(Arc::new(rooms));
        self.tasks
            .spawn(Arc::clone(self).tend_for_ever(Arc::clone(&room)));
        room
    }

    /// Takes up what this node knew when it was stopped, and restores rooms that Redis has forgotten meanwhile.
    async fn remember(self: &Arc<Self>, past: Past) -> Result<(), Failed> {
        let Past::Known(rooms) = past else {
            return Ok(());
        };
        for (name, record) in rooms {
            let (view, reserve) = record.recall();
            let room = RoomNode::remembered(name, &self.transit.node, &view, reserve);
            let room = self.add(room);
            match self.transit.refresh(&room).await {
                Ok(()) | Err(Failed::Frozen(_) | Failed::Refused(StoreError::NoSuchRoom(_))) => {}
                Err(failed) => return Err(failed),
            }
        }
        Ok(())
    }

    /// A node is ready when joins are taken: they are held for a moment after a room was restored or merged.
    async fn wait_for_joins(&self) {
        let rooms = self.rooms.load_full();
        let held = rooms
            .values()
            .filter_map(|room| room.joins_held_for(self.transit.clock.now()));
        if let Some(longest) = held.max() {
            tokio::time::sleep(longest).await;
        }
    }

    /// Takes in rooms that others have made, and puts back on the list what a Redis has forgotten.
    async fn find_rooms(self: &Arc<Self>) -> Result<(), Failed> {
        let listed = self.transit.listed().await?;
        for name in &listed {
            if self.get(name).is_none() {
                let room = self.room(name);
                match self.transit.refresh(&room).await {
                    Ok(())
                    | Err(Failed::Frozen(_) | Failed::Refused(StoreError::NoSuchRoom(_))) => {}
                    Err(failed) => return Err(failed),
                }
            }
        }
        for name in self.rooms.load().keys() {
            if !listed.contains(name) && self.live(name).is_ok() {
                self.transit.list(name).await?;
            }
        }
        Ok(())
    }

    async fn find_rooms_for_ever(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = tokio::time::sleep(LOOK_FOR_ROOMS) => {}
            }
            // In a Cluster the list may be away while rooms are not: then only rooms of other nodes are not heard of.
            match self.find_rooms().await {
                Ok(()) => self.note_up(&self.list_away),
                Err(failed) if self.rooms.load().is_empty() => {
                    self.note_down(&self.list_away, &failed.into());
                }
                Err(failed) => tracing::debug!(?failed, "the list of rooms cannot be read"),
            }
        }
    }

    /// Follows the servers where they go, also while nobody calls them.
    async fn watch_for_ever(self: Arc<Self>) {
        for round in 1_u32.. {
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = tokio::time::sleep(VOUCH_EVERY) => {}
            }
            // Callers are told what is wrong.
            self.transit.servers.review().await.ok();
            if round.is_multiple_of(REPLICAS_EVERY)
                && let Some(durable) = self.transit.writer.durability()
            {
                durable.review(&self.transit.feed).await;
            }
        }
    }

    /// One word for all rooms that went away together.
    fn note_up(&self, away: &Away) {
        if away.end() && self.away().is_none() {
            tracing::info!("Redis is back; joins are taken");
        }
    }

    fn note_down(&self, away: &Away, error: &StoreError) {
        let reason = match error {
            StoreError::Unavailable(reason) => Arc::clone(reason),
            other => other.to_string().into(),
        };
        if self.away().is_none() {
            tracing::error!(%reason, "Redis cannot be used; joins are refused until it works again");
        }
        away.begin(reason);
    }

    fn health(&self) -> Health {
        self.health_from(self.away())
    }

    fn health_of(&self, room: &RoomId) -> Health {
        self.health_from(self.get(room).and_then(|room| room.away.reason()))
    }

    fn health_from(&self, away: Option<Arc<str>>) -> Health {
        let now = self.transit.clock.now();
        match away.or_else(|| self.refusals.reason(now)) {
            None => Health::Up,
            Some(reason) => Health::Down(reason),
        }
    }

    /// Why some room cannot be reached, if so; without any, the list of them.
    fn away(&self) -> Option<Arc<str>> {
        let rooms = self.rooms.load();
        if rooms.is_empty() {
            return self.list_away.reason();
        }
        rooms.values().find_map(|room| room.away.reason())
    }
}

/// A name that no other node has.
fn node_id() -> String {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    format!("{:016x}", u64::from_ne_bytes(bytes))
}
