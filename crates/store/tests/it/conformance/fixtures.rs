//! Our stores, with nothing in them, at a clock that only a story moves.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use ropeline_core::Timestamp;
use ropeline_store::{
    Clock, EmbeddedStore, RedisOptions, RedisStore, RedisUrl, Store, StoreTime,
    conformance::Fixture,
};
use ropeline_testing::{ManualClock, TestRedis, line::START};
use tempfile::TempDir;

use crate::given::{BOUNDS, copy_of, directory, open};

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
        self.store = open(self.directory.path(), &self.clock);
    }
}

/// A node on a Redis of its own that writes everything down at once.
pub(super) struct OnRedis {
    redis: TestRedis,
    clock: Arc<ManualClock>,
    nodes: Vec<Arc<RedisStore>>,
}

impl OnRedis {
    pub(super) async fn start() -> Self {
        let mut fixture = Self {
            redis: TestRedis::on_no_disk(),
            clock: Arc::new(ManualClock::at(START)),
            nodes: Vec::new(),
        };
        fixture.add_node().await;
        fixture
    }

    async fn add_node(&mut self) -> Arc<RedisStore> {
        let url: RedisUrl = self.redis.url().parse().unwrap();
        let clock = Arc::clone(&self.clock);
        let options = RedisOptions {
            bounds: BOUNDS,
            time: StoreTime::Given,
            ..RedisOptions::default()
        };
        let node = RedisStore::open_with(&url, clock, options).await.unwrap();
        self.nodes.push(Arc::new(node));
        Arc::clone(&self.nodes[self.nodes.len() - 1])
    }
}

#[async_trait]
impl Fixture for OnRedis {
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

    /// Redis is killed and started again, and so are all nodes: nobody remembers anything.
    async fn crash(&mut self) {
        for node in self.nodes.drain(..) {
            node.close().await;
        }
        self.redis.kill();
        self.redis.start_again();
        self.add_node().await;
    }
}
