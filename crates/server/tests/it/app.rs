//! A server of the test's own.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use ropeline_core::{ImportRow, RoomId, UserId, Visitor, Was};
use ropeline_gate::Gatekeeper;
use ropeline_server::{
    Beside, Ready,
    config::{Overrides, Settings},
};
use ropeline_store::Store;
use ropeline_testing::{
    ManualClock,
    http::{Ask, Client, Reply},
    line::START,
};
use ropeline_web::Report;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{runtime::Runtime, task::JoinHandle};
use tokio_util::sync::CancellationToken;

pub(crate) const TOKENS: &str = "/api/v1/queue/tokens";
pub(crate) const STATUS: &str = "/api/v1/queue/status";
pub(crate) const VERIFY: &str = "/api/v1/queue/verify";
pub(crate) const ADMIN_KEY: &str = "the-admin-key-of-these-tests";
pub(crate) const SERVICE_KEY: &str = "the-service-key-of-these-tests";

/// A server with a clock that only the test moves. It stops when it is dropped.
pub(crate) struct TestApp {
    pub(crate) address: SocketAddr,
    pub(crate) clock: Arc<ManualClock>,
    client: Client,
    store: Option<Arc<dyn Store>>,
    gatekeeper: Option<Arc<dyn Gatekeeper>>,
    stop: CancellationToken,
    served: Option<JoinHandle<Report>>,
    runtime: Option<Runtime>,
    data: TempDir,
}

impl TestApp {
    /// A server with the settings of a `ropeline.toml`.
    pub(crate) fn with(config: &str) -> Self {
        Self::begin(config, Some(SERVICE_KEY), |ready| ready)
    }

    /// As [`TestApp::with`], where no service is believed.
    pub(crate) fn without_service_key(config: &str) -> Self {
        Self::begin(config, None, |ready| ready)
    }

    /// As [`TestApp::with`], with a service beside the rooms.
    pub(crate) fn beside(config: &str, service: Beside) -> Self {
        Self::begin(config, Some(SERVICE_KEY), |ready| ready.beside(service))
    }

    /// The same server after a stop and a start, on another port.
    pub(crate) fn restarted(mut self) -> Self {
        self.stop();
        self.started_again()
    }

    /// As [`TestApp::restarted`], with the files of the rooms gone.
    pub(crate) fn restarted_without_rooms(mut self) -> Self {
        self.stop();
        for name in ["rooms.redb", "rooms.journal"] {
            std::fs::remove_file(self.data.path().join("data").join(name)).unwrap();
        }
        self.started_again()
    }

    fn started_again(mut self) -> Self {
        let data = std::mem::replace(&mut self.data, tempfile::tempdir().unwrap());
        let clock = Arc::clone(&self.clock);
        Self::start(data, clock, Some(SERVICE_KEY), |ready| ready)
    }

    fn begin(config: &str, service_key: Option<&str>, dress: impl FnOnce(Ready) -> Ready) -> Self {
        let data = tempfile::tempdir().unwrap();
        std::fs::write(data.path().join("test.toml"), config).unwrap();
        Self::start(data, Arc::new(ManualClock::at(START)), service_key, dress)
    }

    fn start(
        data: TempDir,
        clock: Arc<ManualClock>,
        service_key: Option<&str>,
        dress: impl FnOnce(Ready) -> Ready,
    ) -> Self {
        let config = data.path().join("test.toml");
        let listens = std::fs::read_to_string(&config).unwrap().contains("listen");
        let overrides = Overrides {
            config: Some(config),
            listen: (!listens).then(|| "127.0.0.1:0".into()),
            data: Some(data.path().join("data")),
            admin_key: Some(ADMIN_KEY.into()),
            service_key: service_key.map(str::to_owned),
            ..Overrides::default()
        };
        let settings = Settings::load(&overrides).unwrap();
        let runtime = Runtime::new().unwrap();
        let ready = runtime
            .block_on(Ready::prepare(settings, Arc::clone(&clock) as _))
            .unwrap();
        let ready = dress(ready);
        let address = ready.started().address;
        let (store, gatekeeper) = (ready.store(), ready.gatekeeper());
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let served = runtime.spawn(ready.serve(async move { stopped.cancelled().await }));
        let client = Client::connect(address).unwrap();
        Self {
            address,
            clock,
            client,
            store: Some(store),
            gatekeeper: Some(gatekeeper),
            stop,
            served: Some(served),
            runtime: Some(runtime),
            data,
        }
    }

    fn stop(&mut self) {
        self.stop.cancel();
        self.store = None;
        self.gatekeeper = None;
        let (runtime, served) = (self.runtime.take(), self.served.take());
        if let (Some(runtime), Some(served)) = (runtime, served) {
            runtime.block_on(served).ok();
            runtime.shutdown_timeout(Duration::from_secs(5));
        }
    }

    /// Whom a service of the same process asks.
    pub(crate) fn gatekeeper(&self) -> Arc<dyn Gatekeeper> {
        Arc::clone(self.gatekeeper.as_ref().unwrap())
    }

    /// Waits for what a service of the same process asks.
    pub(crate) fn run<F: Future>(&self, asked: F) -> F::Output {
        self.runtime.as_ref().unwrap().block_on(asked)
    }

    /// Stops answering, while the process goes on.
    pub(crate) fn stop_serving(&mut self) {
        self.stop.cancel();
        let served = self.served.take().unwrap();
        self.run(served).unwrap();
    }

    /// A room that admits one at once and the next a tick of 10 s later; passes of 60 s.
    pub(crate) fn new() -> Self {
        Self::with(
            "[rooms.main]\nevery = \"10s\"\nbatch = 1\npass_ttl = \"60s\"\npass_max = \"0s\"\n\
             presence_ttl = \"0s\"\n",
        )
    }

    /// A file of the data directory.
    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Where a file of the data directory is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.data.path().join("data").join(name)
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

    /// The service behind the room says how many seats it has left.
    pub(crate) fn stock(&mut self, left: Option<u64>) {
        let runtime = self.runtime.as_ref().unwrap();
        let store = self.store.as_ref().unwrap();
        runtime
            .block_on(store.stock(&RoomId::main(), left))
            .unwrap();
    }

    /// Takes over users of another queue, who were all inside there or all waiting.
    pub(crate) fn import(&mut self, users: &[&str], was: Was) {
        let rows = users.iter().map(|user| ImportRow {
            visitor: Visitor::stated(&UserId::parse(user).unwrap()),
            was,
        });
        let runtime = self.runtime.as_ref().unwrap();
        let store = self.store.as_ref().unwrap();
        let grace = Duration::from_secs(60);
        runtime
            .block_on(store.import(&RoomId::main(), rows.collect(), grace))
            .unwrap();
    }

    /// Moves the clock and makes sure that what is due has happened.
    pub(crate) fn advance(&mut self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
        let runtime = self.runtime.as_ref().unwrap();
        let store = self.store.as_ref().unwrap();
        runtime.block_on(store.settle(&RoomId::main())).unwrap();
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn token(reply: &Reply) -> String {
    reply.json()["token"].as_str().unwrap().to_owned()
}

pub(crate) fn field(reply: &Reply, name: &str) -> Value {
    reply.json()[name].clone()
}
