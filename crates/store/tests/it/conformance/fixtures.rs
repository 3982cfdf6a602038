//! Our stores, with nothing in them, at a clock that only a story moves.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use ropeline_core::Timestamp;
use ropeline_store::{
    Clock, EmbeddedStore, RedisOptions, RedisStore, RedisUrl, Store, StoreTime, Unreached,
    conformance::Fixture,
};
use ropeline_testing::{ManualClock, line::START};
use tempfile::TempDir;

use crate::backing::Backing;
use crate::given::{BOUNDS, copy_of, directory, open};

/// How long a store is down when it crashes. To those in it that must not matter.
const DOWN_FOR: Duration = Duration::from_secs(600);

/// A store in files of its own.
pub(super) struct OnFiles {
    directory: TempDir,
    clock: Arc<ManualClock>,
    store: Arc<EmbeddedStore>,
}

impl OnFiles {
    pub(super) fn start() -> Self {
        let directory = directory();
        let clock = Arc::new(ManualClock::at(START));
        let store = open(directory.path(), &clock);
        Self {
            directory,
            clock,
            store,
        }
    }
}

#[async_trait]
impl Fixture for OnFiles {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as _
    }

    async fn another_node(&mut self) -> Arc<dyn Store> {
        self.store()
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Opened from a copy of the files as they are at this instant.
    async fn crash(&mut self) {
        self.directory = copy_of(&self.directory);
        self.clock.advance(DOWN_FOR);
        self.store = open(self.directory.path(), &self.clock);
    }
}

/// Nodes on a Redis of their own that writes everything down at once, or on several that have it all.
pub(super) struct OnRedis<B> {
    backing: B,
    clock: Arc<ManualClock>,
    nodes: Vec<Arc<RedisStore>>,
    crashed: bool,
}

impl<B: Backing> OnRedis<B> {
    pub(super) async fn start(backing: B) -> Self {
        let mut fixture = Self {
            backing,
            clock: Arc::new(ManualClock::at(START)),
            nodes: Vec::new(),
            crashed: false,
        };
        fixture.add_node().await;
        fixture
    }

    /// Nobody remembers anything of what was.
    pub(super) async fn begin_again(&mut self) {
        self.close_all().await;
        if std::mem::take(&mut self.crashed) {
            self.backing.recover();
        }
        self.backing.flush();
        self.clock = Arc::new(ManualClock::at(START));
        self.add_node().await;
    }

    async fn close_all(&mut self) {
        for node in self.nodes.drain(..) {
            node.close().await;
        }
    }

    async fn add_node(&mut self) -> Arc<RedisStore> {
        let url: RedisUrl = self.backing.url().parse().unwrap();
        let clock = Arc::clone(&self.clock);
        let options = RedisOptions {
            bounds: BOUNDS,
            time: StoreTime::Given,
            ..RedisOptions::default()
        };
        let open = || RedisStore::open_with(&url, Arc::clone(&clock) as _, options.clone());
        let mut opened = open().await;
        // As a server does: after a crash others may be about to take over.
        while let Err(Unreached::Away(_)) = opened {
            opened = open().await;
        }
        self.nodes.push(Arc::new(opened.unwrap()));
        Arc::clone(&self.nodes[self.nodes.len() - 1])
    }
}

#[async_trait]
impl<B: Backing> Fixture for OnRedis<B> {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.nodes[0]) as _
    }

    async fn another_node(&mut self) -> Arc<dyn Store> {
        self.add_node().await
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Redis dies, and so do all nodes: nobody remembers anything that it has not kept.
    async fn crash(&mut self) {
        self.close_all().await;
        self.backing.crash();
        self.clock.advance(DOWN_FOR);
        self.crashed = true;
        self.add_node().await;
    }
}
