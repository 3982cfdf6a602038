//! A server of the test's own.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use ropeline_core::RoomId;
use ropeline_server::{
    Ready,
    config::{Overrides, Settings},
};
use ropeline_store::Store;
use ropeline_testing::{
    ManualClock,
    http::{Ask, Client, Reply},
    line::START,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

pub(crate) const TOKENS: &str = "/api/v1/queue/tokens";
pub(crate) const STATUS: &str = "/api/v1/queue/status";
pub(crate) const VERIFY: &str = "/api/v1/queue/verify";
pub(crate) const ADMIN_KEY: &str = "the-admin-key-of-these-tests";

/// A server with a clock that only the test moves. It stops when it is dropped.
pub(crate) struct TestApp {
    pub(crate) address: SocketAddr,
    pub(crate) clock: Arc<ManualClock>,
    client: Client,
    store: Arc<dyn Store>,
    stop: CancellationToken,
    runtime: Option<Runtime>,
    _data: TempDir,
}

impl TestApp {
    /// A server with the settings of a `ropeline.toml`.
    pub(crate) fn with(config: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("test.toml");
        std::fs::write(&file, config).unwrap();
        let overrides = Overrides {
            config: Some(file),
            listen: Some("127.0.0.1:0".into()),
            data: Some(data.path().join("data")),
            admin_key: Some(ADMIN_KEY.into()),
            ..Overrides::default()
        };
        let settings = Settings::load(&overrides).unwrap();
        let clock = Arc::new(ManualClock::at(START));
        let runtime = Runtime::new().unwrap();
        let ready = runtime
            .block_on(Ready::prepare(settings, Arc::clone(&clock) as _))
            .unwrap();
        let address = ready.started().address;
        let store = ready.store();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        runtime.spawn(ready.serve(async move { stopped.cancelled().await }));
        let client = Client::connect(address).unwrap();
        Self {
            address,
            clock,
            client,
            store,
            stop,
            runtime: Some(runtime),
            _data: data,
        }
    }

    /// A room that admits one at once and the next a tick of 10 s later; passes of 60 s.
    pub(crate) fn new() -> Self {
        Self::with(
            "[rooms.main]\nevery = \"10s\"\nbatch = 1\npass_ttl = \"60s\"\npass_max = \"0s\"\n\
             presence_ttl = \"0s\"\n",
        )
    }

    #[expect(clippy::needless_pass_by_value, reason = "requests are made in place")]
    pub(crate) fn send(&mut self, ask: Ask) -> Reply {
        self.client.send(&ask)
    }

    pub(crate) fn join(&mut self, user: &str) -> Reply {
        self.send(Ask::post(TOKENS).json(&json!({"userId": user})))
    }

    /// Joins as a new user and gives the token.
    pub(crate) fn token_of(&mut self, user: &str) -> String {
        let reply = self.join(user);
        assert_eq!(reply.status, 201, "{}", reply.json());
        token(&reply)
    }

    pub(crate) fn status(&mut self, token: &str) -> Reply {
        self.send(Ask::get(STATUS).token(token))
    }

    pub(crate) fn verify(&mut self, token: &str) -> Reply {
        self.send(Ask::get(VERIFY).token(token))
    }

    /// Moves the clock and makes sure that what is due has happened.
    pub(crate) fn advance(&mut self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
        let runtime = self.runtime.as_ref().unwrap();
        runtime
            .block_on(self.store.settle(&RoomId::main()))
            .unwrap();
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(5));
        }
    }
}

pub(crate) fn token(reply: &Reply) -> String {
    reply.json()["token"].as_str().unwrap().to_owned()
}

pub(crate) fn field(reply: &Reply, name: &str) -> Value {
    reply.json()[name].clone()
}
