//! A concert house of the test's own: a box office and the waiting room before it.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use http::{Method, StatusCode};
use ropeline_boxoffice::{
    SeatId, UserId,
    http::{LOGIN_AUDIENCE, LOGIN_ISSUER, Logins, Operators, Parts, Service, Standalone},
};
use ropeline_core::{Clock, Holder, Ordinal, RoomId, Timestamp, UserId as SiteUser, Visitor};
use ropeline_gate::{Cookies, Gate, Gatekeeper};
use ropeline_server::{
    Ready,
    config::{Overrides, Settings},
    problems::EXPLAINED,
};
use ropeline_store::Store;
use ropeline_testing::{ManualClock, http as client, login::LoginKey};
use ropeline_web::{RateLimits, Rates, Tasks, TrustedProxies};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{ask::Ask, switch::Switch};
use crate::given::{Given, NOW, PRICE};

pub(crate) const ADMIN_KEY: &str = "the-admin-key-of-these-tests";
pub(crate) const SECRET: [u8; 32] = *b"thirty-two bytes that sign login";

/// Room for everybody, and passes of five minutes.
const WIDE: &str = "[rooms.main]\nactive_max = 100000\npresence_ttl = \"0s\"\npass_max = \"0s\"\n";

/// A box office before a room, with a clock that only the test moves.
pub(crate) struct House {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) room: Arc<Switch>,
    service: Service,
    router: Router,
    operators: Operators,
    store: Arc<dyn Store>,
    /// Where the room itself is answered for.
    address: SocketAddr,
    _served: Served,
    _data: TempDir,
}

/// Somebody who has logged in.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) id: UserId,
    pub(crate) login: String,
}

impl House {
    /// A house with a room that takes everybody.
    pub(crate) async fn wide(given: &Given) -> Self {
        Self::with(given, WIDE).await
    }

    /// A house whose room lets so many in at once.
    pub(crate) async fn for_so_many(given: &Given, active_max: u32) -> Self {
        let room = WIDE.replace("100000", &active_max.to_string());
        Self::with(given, &room).await
    }

    /// A house with the rooms of a `ropeline.toml`.
    pub(crate) async fn with(given: &Given, config: &str) -> Self {
        Self::at(given, config, NOW).await
    }

    /// A house whose own clock shows `now`.
    pub(crate) async fn at(given: &Given, config: &str, now: Timestamp) -> Self {
        let data = tempfile::tempdir().unwrap();
        std::fs::write(data.path().join("test.toml"), config).unwrap();
        let overrides = Overrides {
            config: Some(data.path().join("test.toml")),
            listen: Some("127.0.0.1:0".into()),
            data: Some(data.path().join("data")),
            admin_key: Some(ADMIN_KEY.into()),
            ..Overrides::default()
        };
        let clock = Arc::new(ManualClock::at(now));
        let settings = Settings::load(&overrides).unwrap();
        let ready = Ready::prepare(settings, Arc::clone(&clock) as _).await;
        let ready = ready.unwrap();
        let room = Arc::new(Switch::before(ready.gatekeeper()));
        let operators = Operators::by_key(ready.admin_key());
        let service = service(given, &room, &operators, &clock);
        Self {
            router: service.router(),
            service,
            clock,
            room,
            operators,
            store: ready.store(),
            address: ready.started().address,
            _served: Served::begin(ready),
            _data: data,
        }
    }

    /// The same house with a new process to sell in it. The room is as it was.
    pub(crate) fn restarted(self, given: &Given) -> Self {
        let service = service(given, &self.room, &self.operators, &self.clock);
        let router = service.router();
        Self {
            service,
            router,
            ..self
        }
    }

    /// The same house where buyers come over https.
    pub(crate) fn over_https(self, given: &Given) -> Self {
        let service = Service::new(Parts {
            cookies: Cookies::HostOnly,
            ..parts(given, &self.room, &self.operators, &self.clock)
        });
        self.answering(service.router())
    }

    /// The same house with a box office that limits addresses as the settings say.
    pub(crate) fn limiting(self, given: &Given, settings: &str) -> Self {
        let settings = Settings::from_text(settings, &Overrides::default()).unwrap();
        let service = Service::new(Parts {
            rates: Arc::new(Rates::new(settings.rate_limits)),
            trusted_proxies: settings.trusted_proxies,
            ..parts(given, &self.room, &self.operators, &self.clock)
        });
        let router = service.router();
        Self {
            service,
            router,
            ..self
        }
    }

    /// The same house with its box office served alone, and the work that belongs to it until the second is dropped.
    pub(crate) fn served_alone(self) -> (Self, Standalone, AtWork) {
        let alone = Standalone::new(self.service.clone(), EXPLAINED);
        let tasks = Tasks::new();
        alone.run(&tasks);
        let router = alone.router();
        (Self { router, ..self }, alone, AtWork(tasks))
    }

    /// The same house with another router, to see whether a test would notice.
    pub(crate) fn answering(self, router: Router) -> Self {
        Self { router, ..self }
    }

    pub(crate) fn router(&self) -> Router {
        self.router.clone()
    }

    /// The workers, until they are dropped.
    pub(crate) fn at_work(&self) -> AtWork {
        let tasks = Tasks::new();
        self.service.run(&tasks);
        AtWork(tasks)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Moves the clock and makes sure that what is due in the room has happened.
    pub(crate) async fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.settle().await;
    }

    async fn settle(&self) {
        self.store.settle(&RoomId::main()).await.unwrap();
    }

    pub(crate) fn ask(&self, method: Method, path: impl Into<String>) -> Ask {
        Ask::of(self.router.clone(), method, path.into())
    }

    pub(crate) fn get(&self, path: impl Into<String>) -> Ask {
        self.ask(Method::GET, path)
    }

    pub(crate) fn post(&self, path: impl Into<String>) -> Ask {
        self.ask(Method::POST, path)
    }

    /// Somebody new.
    pub(crate) async fn person(&self) -> Person {
        let made = self.post("/user").json(&json!({"name": "Kim"})).await;
        assert_eq!(made.status, StatusCode::CREATED);
        let id = made.body["userId"].as_i64().unwrap();
        let login = made.body["accessToken"].as_str().unwrap().to_owned();
        let id = UserId(id);
        Person { id, login }
    }

    /// Somebody new with the price of so many seats.
    pub(crate) async fn person_with_price_of(&self, seats: i64) -> Person {
        let person = self.person().await;
        let charged = self
            .charge(&person, &json!({"amount": PRICE * seats}))
            .await;
        assert_eq!(charged.status, StatusCode::OK);
        person
    }

    pub(crate) fn charge(&self, person: &Person, body: &Value) -> Ask {
        let path = format!("/user/charge/{}/point", person.id);
        self.ask(Method::PATCH, path).login(person).json(body)
    }

    pub(crate) async fn balance(&self, person: &Person) -> i64 {
        let points = self
            .get(format!("/user/{}/point", person.id))
            .login(person)
            .await;
        assert_eq!(points.status, StatusCode::OK);
        points.body["balance"].as_i64().unwrap()
    }

    /// Joins the line, or comes back to it.
    pub(crate) async fn ticket(&self, person: &Person) -> Value {
        let path = format!("/user/{}/token/generate", person.id);
        let answer = self.get(path).login(person).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        answer.body
    }

    pub(crate) async fn token(&self, person: &Person) -> String {
        let ticket = self.ticket(person).await;
        ticket["token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn reserve(&self, seat: SeatId, token: &str) -> Ask {
        self.post(format!("/concert/{seat}/reservation"))
            .token(token)
    }

    /// A seat held by somebody who is let in for it.
    pub(crate) async fn held(&self, person: &Person, seat: SeatId) -> i64 {
        let token = self.token(person).await;
        let held = self.reserve(seat, &token).await;
        assert_eq!(held.status, StatusCode::CREATED, "{}", held.body);
        held.body["reservationId"].as_i64().unwrap()
    }

    pub(crate) fn pay(&self, person: &Person, reservation: i64) -> Ask {
        let path = format!("/user-concert/payment/{}/{reservation}", person.id);
        self.post(path).login(person)
    }

    pub(crate) fn give_up(&self, person: &Person, reservation: i64) -> Ask {
        let path = format!("/reservation/{reservation}");
        self.ask(Method::DELETE, path).login(person)
    }

    pub(crate) fn operator(&self, path: &str) -> Ask {
        self.post(path).bearer(ADMIN_KEY)
    }

    /// The token of somebody who joined at the room itself, believed or without a name.
    pub(crate) async fn unverified(&self, user: Option<&str>) -> String {
        let body = user.map_or(json!({}), |user| json!({"userId": user}));
        let address = self.address;
        let join = move || {
            let mut client = client::Client::connect(address).unwrap();
            client.send(&client::Ask::post("/api/v1/queue/tokens").json(&body))
        };
        let joined = tokio::task::spawn_blocking(join).await.unwrap();
        joined.json()["token"].as_str().unwrap().to_owned()
    }

    /// The token of a user whom the box office did not make, in a room.
    pub(crate) async fn token_in(&self, room: &str, user: &str) -> String {
        let (room, user) = (RoomId::parse(room).unwrap(), SiteUser::parse(user).unwrap());
        let ticket = self.room.join(&room, Some(&user)).await.unwrap();
        ticket.view["token"].as_str().unwrap().to_owned()
    }

    /// Ends a pass as the room does when its holder is done.
    pub(crate) async fn finish(&self, ticket: &Value) {
        let user = SiteUser::parse(ticket["userId"].as_str().unwrap()).unwrap();
        let holder = Holder {
            visitor: Visitor::verified(&user),
            ordinal: Ordinal(ticket["ordinal"].as_u64().unwrap()),
        };
        self.room.finish(&RoomId::main(), &holder).await.unwrap();
    }

    /// Whether the gate lets a token through, or the code of why not.
    pub(crate) async fn gate(&self, token: &str) -> String {
        let answer = self.get("/concert/dates").token(token).await;
        match answer.status {
            StatusCode::OK => "inside".to_owned(),
            _ => answer.code(),
        }
    }
}

fn service(
    given: &Given,
    room: &Arc<Switch>,
    operators: &Operators,
    clock: &Arc<ManualClock>,
) -> Service {
    Service::new(parts(given, room, operators, clock))
}

fn parts(
    given: &Given,
    room: &Arc<Switch>,
    operators: &Operators,
    clock: &Arc<ManualClock>,
) -> Parts {
    Parts {
        office: given.office.clone(),
        gate: Gate::new(RoomId::main(), Arc::clone(room) as _),
        gatekeeper: Arc::clone(room) as _,
        room: RoomId::main(),
        logins: Logins::with_secret(&SECRET),
        operators: operators.clone(),
        clock: Arc::clone(clock) as _,
        cookies: Cookies::Plain,
        rates: Arc::new(Rates::new(RateLimits::default())),
        host: None,
        trusted_proxies: TrustedProxies::default(),
    }
}

/// The room's own server, until it is dropped.
struct Served(CancellationToken);

impl Served {
    fn begin(ready: Ready) -> Self {
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        Tasks::new().spawn(ready.serve(async move { stopped.cancelled().await }));
        Self(stop)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Workers who stop when the test ends.
pub(crate) struct AtWork(Tasks);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Person {
    /// One of a crowd who was not made over HTTP, logged in by a key of the test's own.
    pub(crate) fn known_as(id: UserId) -> Self {
        let login = login(&json!({"sub": id.to_string()}));
        Self { id, login }
    }
}

/// A login as the box office signs them, but for what is given.
pub(crate) fn login(other: &Value) -> String {
    let mut claims = json!({"iss": LOGIN_ISSUER, "aud": LOGIN_AUDIENCE, "sub": "1",
        "iat": NOW.0 / 1_000, "exp": NOW.0 / 1_000 + 43_200});
    for (name, value) in other.as_object().unwrap() {
        claims[name] = value.clone();
    }
    LoginKey::hs256(&SECRET).login(&claims)
}
