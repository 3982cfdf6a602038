//! What visitors are answered while the store is away, over real sockets.

use std::{sync::Arc, time::Duration};

use ropeline_store::{Clock, EmbeddedStore, Store};
use ropeline_testing::{
    ManualClock,
    http::{Ask, Client, Reply},
    line::START,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::cut::Cut;
use crate::{
    config::{Overrides, Settings},
    start::{Opened, Ready},
};

const STATUS: &str = "/api/v1/queue/status";
const SERVICE_KEY: &str = "the-service-key-of-these-tests";
const VERIFY: &str = "/api/v1/queue/verify";
/// One is let in at once, and another every ten seconds; passes of a minute.
const ROOM: &str = "store = 'redis://unused'\n[rooms.main]\nevery = '10s'\nbatch = 1\n\
                    pass_ttl = '60s'\npass_max = '0s'\npresence_ttl = '0s'\n";

/// A server whose store can be cut off. One is inside, and two wait.
struct Site {
    client: Client,
    clock: Arc<ManualClock>,
    store: Arc<Cut>,
    inside: String,
    waiting: String,
    last: String,
    _runtime: Runtime,
    _data: TempDir,
}

impl Site {
    fn new(settings: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(START));
        let overrides = Overrides {
            listen: Some("127.0.0.1:0".into()),
            data: Some(data.path().to_owned()),
            service_key: Some(SERVICE_KEY.into()),
            ..Overrides::default()
        };
        let settings = Settings::from_text(&format!("{settings}{ROOM}"), &overrides).unwrap();
        let any_clock = Arc::clone(&clock) as Arc<dyn Clock>;
        let store = EmbeddedStore::open(data.path(), Arc::clone(&any_clock)).unwrap();
        let store = Arc::new(Cut::new(store, Arc::clone(&any_clock)));
        let opened = Opened {
            store: Arc::clone(&store) as Arc<dyn Store>,
            shared: None,
            warnings: Vec::new(),
        };
        let runtime = Runtime::new().unwrap();
        let ready = runtime.block_on(Ready::on(opened, settings, any_clock));
        let ready = ready.unwrap();
        let mut client = {
            let address = ready.started().address;
            runtime.spawn(ready.serve(std::future::pending()));
            Client::connect(address).unwrap()
        };
        let [inside, waiting, last] = ["ann", "bob", "cid"].map(|user| {
            let join = Ask::post("/api/v1/queue/tokens").json(&json!({"userId": user}));
            let token = client.send(&join).json()["token"].clone();
            token.as_str().unwrap().to_owned()
        });
        Self {
            client,
            clock,
            store,
            inside,
            waiting,
            last,
            _runtime: runtime,
            _data: data,
        }
    }

    fn after(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    fn status(&mut self, token: &str) -> Reply {
        self.client.send(&Ask::get(STATUS).token(token))
    }

    fn verify(&mut self, token: &str) -> Reply {
        self.client.send(&Ask::get(VERIFY).token(token))
    }

    /// The gate's question of a service.
    fn service_verify(&mut self, token: &str) -> Reply {
        let ask = Ask::post("/api/v1/service/rooms/main/verify").token(token);
        let ask = ask.header("Authorization", &format!("Bearer {SERVICE_KEY}"));
        self.client.send(&ask)
    }

    /// What a service asks for its own health check.
    fn service_ready(&mut self) -> Reply {
        let ask = Ask::get("/api/v1/service/rooms/main/ready");
        let ask = ask.header("Authorization", &format!("Bearer {SERVICE_KEY}"));
        self.client.send(&ask)
    }

    /// Parts that `/readyz` names as degraded.
    fn degraded(&mut self) -> Vec<String> {
        let ready = self.client.send(&Ask::get("/readyz"));
        assert_eq!(ready.status, 200);
        let ready = ready.json();
        let parts = ready["degraded"].as_array().unwrap().iter();
        let parts = parts.map(|part| part["part"].as_str().unwrap().to_owned());
        parts.collect()
    }

    fn unchecked(&mut self) -> String {
        let metrics = self.client.send(&Ask::get("/metrics"));
        let text = String::from_utf8(metrics.body).unwrap();
        let mut lines = text.lines();
        let count = lines.find_map(|line| line.strip_prefix("ropeline_gate_unchecked_total "));
        count.unwrap().to_owned()
    }
}

fn refused(reply: &Reply) -> bool {
    let retry = reply.header("retry-after");
    let in_time = retry.is_some_and(|seconds| ["2", "3", "4", "5"].contains(&seconds));
    reply.status == 503 && reply.code() == "STORE_UNAVAILABLE" && in_time
}

fn parts(reply: &Reply, names: [&str; 3]) -> [Value; 3] {
    assert_eq!(reply.status, 200, "{}", reply.json());
    names.map(|name| reply.json()[name].clone())
}

#[test]
fn a_service_is_told_whether_joins_are_taken() {
    let mut site = Site::new("");
    assert_eq!(site.service_ready().status, 204);
    site.store.cut();
    let cut = site.service_ready();
    assert!(refused(&cut), "{}", cut.json());
    site.store.mend();
    assert_eq!(site.service_ready().status, 204);
}

#[test]
fn who_waits_goes_on_seeing_the_line_as_it_was_and_how_old_that_is() {
    let mut site = Site::new("");
    let (waiting, last) = (site.waiting.clone(), site.last.clone());
    site.after(5);
    site.store.cut();
    site.after(60);
    let as_of = json!("2023-11-14T22:13:25.000Z");
    let shown = ["status", "position", "asOf"];
    let expected = [json!("WAITING"), json!(1), as_of.clone()];
    assert_eq!(parts(&site.status(&waiting), shown), expected);
    let expected = [json!("WAITING"), json!(2), as_of];
    assert_eq!(parts(&site.status(&last), shown), expected);
    assert_eq!(site.verify(&last).status, 403);
    assert_eq!(site.verify(&last).json()["position"], 2);
    let new = site.client.send(&Ask::post("/api/v1/queue/tokens"));
    assert!(refused(&new), "{}", new.json());
    assert_eq!(site.degraded(), ["store"]);
}

#[test]
fn who_was_seen_inside_is_shown_inside_until_the_pass_runs_out() {
    let mut site = Site::new("");
    let inside = site.inside.clone();
    site.after(20);
    assert_eq!(site.verify(&inside).status, 204);
    site.store.cut();
    site.after(59);
    let shown = ["status", "expiresAt", "asOf"];
    let expected = [
        "ACTIVE",
        "2023-11-14T22:14:40.000Z",
        "2023-11-14T22:13:40.000Z",
    ];
    let expected = expected.map(|text| json!(text));
    assert_eq!(parts(&site.status(&inside), shown), expected);
    assert!(refused(&site.verify(&inside)), "the gate is closed");
    site.after(1);
    assert!(refused(&site.status(&inside)), "nobody knows any more");
    site.store.mend();
    assert_eq!(site.status(&inside).code(), "TOKEN_EXPIRED");
    assert_eq!(site.unchecked(), "0");
}

#[test]
fn a_client_that_has_seen_more_is_not_shown_less() {
    let mut site = Site::new("");
    let waiting = site.waiting.clone();
    let ask = |version: &str| {
        let ask = Ask::get(STATUS).token(&waiting);
        ask.header("X-Queue-Version", version)
    };
    let newer = ask("999");
    assert_eq!(site.client.send(&newer).status, 200, "the newest there is");
    site.store.cut();
    site.after(1);
    assert!(refused(&site.client.send(&newer)));
    assert_eq!(site.client.send(&ask("1")).status, 200);
}

#[test]
fn an_open_gate_lets_everybody_through_and_says_only_what_is_signed() {
    let mut site = Site::new("on_store_error = 'open'\n");
    let last = site.last.clone();
    assert_eq!(
        site.verify(&last).status,
        403,
        "closed while the store is there"
    );
    site.store.cut();
    let reply = site.verify(&last);
    assert_eq!(reply.status, 204);
    assert_eq!(reply.header("x-queue-user"), Some("cid"));
    assert_eq!(reply.header("x-queue-expires-at"), None);
    let (_, signature) = last.rsplit_once('.').unwrap();
    let forged = last.replace(signature, &signature.chars().rev().collect::<String>());
    for token in ["", "x", &forged] {
        let reply = site.verify(token);
        assert_eq!(reply.status, 204, "{token}");
        assert_eq!(reply.header("x-queue-user"), None, "{token}");
    }
    let elsewhere = Ask::get(&format!("{VERIFY}?room=other")).token(&last);
    let elsewhere = site.client.send(&elsewhere);
    assert_eq!(
        (elsewhere.status, elsewhere.header("x-queue-user")),
        (204, None)
    );
    assert_eq!(site.unchecked(), "5");
    assert_eq!(site.degraded(), ["store", "gate"]);
    site.store.mend();
    assert_eq!(site.verify(&last).status, 403);
    assert!(site.degraded().is_empty());
}

#[test]
fn a_service_hears_whether_the_store_was_asked() {
    let mut site = Site::new("on_store_error = 'open'\n");
    let (inside, last) = (site.inside.clone(), site.last.clone());
    assert_eq!(site.service_verify(&inside).json()["checked"], true);
    assert_eq!(site.service_verify(&last).code(), "NOT_ADMITTED");
    site.store.cut();
    let known = json!({
        "checked": false, "visitor": "u:cid", "userId": "cid", "ordinal": 3, "verified": false,
        "remainingMs": null,
    });
    assert_eq!(site.service_verify(&last).json(), known);
    let unknown = json!({
        "checked": false, "visitor": null, "userId": null, "ordinal": null, "verified": null,
        "remainingMs": null,
    });
    assert_eq!(site.service_verify("x").json(), unknown);
    let mut closed = Site::new("");
    closed.store.cut();
    let inside = closed.inside.clone();
    assert!(refused(&closed.service_verify(&inside)));
}

#[test]
fn a_lease_lets_those_go_on_who_were_inside_and_nobody_new() {
    for (settings, seconds) in [
        ("on_store_error = 'lease'\n", 60),
        ("on_store_error = 'lease'\nlease_max = '30s'\n", 30),
    ] {
        let mut site = Site::new(settings);
        let (inside, waiting) = (site.inside.clone(), site.waiting.clone());
        site.store.cut();
        site.after(seconds - 1);
        let reply = site.verify(&inside);
        assert_eq!(reply.status, 204, "{settings}");
        assert_eq!(reply.header("x-queue-user"), Some("ann"));
        assert!(reply.header("x-queue-expires-at").is_some());
        assert_eq!(site.status(&inside).json()["status"], "ACTIVE");
        assert_eq!(site.verify(&waiting).status, 403, "{settings}");
        assert_eq!(site.verify("x").status, 401, "{settings}");
        site.after(1);
        assert!(refused(&site.verify(&inside)), "{settings}");
        assert_eq!(site.unchecked(), "1");
        assert_eq!(site.degraded(), ["store", "gate"]);
    }
}

#[test]
fn a_lease_tells_when_it_ends_and_not_when_the_turn_came() {
    let mut site = Site::new("on_store_error = 'lease'\nlease_max = '2m'\n");
    let inside = site.inside.clone();
    site.store.cut();
    site.after(90);
    let shown = ["expiresAt", "remainingSeconds", "admitAt"];
    let expected = [json!("2023-11-14T22:15:20.000Z"), json!(30), Value::Null];
    assert_eq!(parts(&site.status(&inside), shown), expected);
}
