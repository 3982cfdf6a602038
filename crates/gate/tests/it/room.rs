//! A real server with a clock that only the test moves.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use ropeline_core::RoomId;
use ropeline_gate::{Gatekeeper, HttpGatekeeper, HttpOptions};
use ropeline_server::{
    Ready,
    config::{Overrides, Settings},
};
use ropeline_store::Store;
use ropeline_testing::{
    ManualClock,
    http::{Ask, Client},
    line::START,
};
use ropeline_web::Tasks;
use tempfile::TempDir;

const ADMIN_KEY: &str = "the-admin-key-of-these-tests";
const SERVICE_KEY: &str = "the-service-key-of-these-tests";

/// One inside, and one in line; passes of a minute.
const SMALL: &str = "[rooms.main]\nactive_max = 1\nwaiting_max = 1\npass_ttl = \"60s\"\npass_max = \"0s\"\n\
                     presence_ttl = \"0s\"\n";

pub(crate) struct Room {
    pub(crate) address: SocketAddr,
    pub(crate) in_process: Arc<dyn Gatekeeper>,
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    tasks: Tasks,
    _data: TempDir,
}

impl Room {
    pub(crate) async fn open() -> Self {
        let data = tempfile::tempdir().unwrap();
        let overrides = Overrides {
            listen: Some("127.0.0.1:0".into()),
            data: Some(data.path().join("data")),
            admin_key: Some(ADMIN_KEY.into()),
            service_key: Some(SERVICE_KEY.into()),
            ..Overrides::default()
        };
        let settings = Settings::from_text(SMALL, &overrides).unwrap();
        let clock = Arc::new(ManualClock::at(START));
        let ready = Ready::prepare(settings, Arc::clone(&clock) as _).await;
        let ready = ready.unwrap();
        let (address, store) = (ready.started().address, ready.store());
        let in_process = ready.gatekeeper();
        let tasks = Tasks::new();
        let stopping = tasks.stopping();
        tasks.spawn(ready.serve(async move { stopping.cancelled().await }));
        Self {
            address,
            in_process,
            store,
            clock,
            tasks,
            _data: data,
        }
    }

    /// Asks over HTTP with this key.
    pub(crate) fn asked_with(&self, key: &str) -> Arc<dyn Gatekeeper> {
        let url = format!("http://{}", self.address);
        Arc::new(HttpGatekeeper::new(&url, key, HttpOptions::default()).unwrap())
    }

    pub(crate) fn over_http(&self) -> Arc<dyn Gatekeeper> {
        self.asked_with(SERVICE_KEY)
    }

    /// Moves the clock and makes sure that what is due has happened.
    pub(crate) async fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
        self.store.settle(&RoomId::main()).await.unwrap();
    }

    /// An operator's word.
    pub(crate) async fn operate(&self, word: &'static str) {
        let address = self.address;
        let done = tokio::task::spawn_blocking(move || {
            let path = format!("/api/v1/admin/rooms/main/{word}");
            let bearer = format!("Bearer {ADMIN_KEY}");
            let ask = Ask::post(&path).header("Authorization", &bearer);
            Client::connect(address).unwrap().send(&ask).status
        });
        assert_eq!(done.await.unwrap(), 200, "{word}");
    }

    pub(crate) async fn close(self) {
        self.tasks.stop();
        self.tasks.finish(Duration::from_secs(10)).await;
    }
}
