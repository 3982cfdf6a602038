//! Who is refused where, for every route that the router has.

use std::time::Duration;

use axum::{Router, routing::get};
use http::Method;
use ropeline_testing::{api, login::LoginKey};
use serde_json::json;

use super::{
    ask::{Ask, problem},
    house::{House, Person, SECRET, login},
};
use crate::given::Given;

on_both![
    every_route_refuses_everybody_who_may_not,
    a_login_counts_whatever_the_queue_token_says,
    a_token_of_another_acts_for_its_own_visitor,
];

/// Where a route stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// Behind the gate.
    Gate,
    /// For the user whom the path names.
    Owner,
    /// For whoever has logged in.
    Login,
    /// For operators.
    Operator,
    /// For everybody.
    Nobody,
}

/// Every route in the router's own text.
pub(super) fn routes() -> Vec<(Method, String)> {
    let routes = api::routes(include_str!("../../../src/http/router.rs")).into_iter();
    let method = |name: &str| Method::try_from(name).expect("the name of a method");
    routes.map(|(name, path)| (method(&name), path)).collect()
}

/// A route that fits nowhere is refused by the test, not by chance.
fn guard(path: &str) -> Guard {
    match path {
        "/user" => Guard::Nobody,
        _ if path.starts_with("/concert/") => Guard::Gate,
        _ if path.contains("{userId}") => Guard::Owner,
        "/reservation/{reservationId}" => Guard::Login,
        _ if path.starts_with("/api/v1/admin/") => Guard::Operator,
        _ => panic!("nobody has said who may use {path}"),
    }
}

#[test]
fn the_text_of_the_router_is_understood() {
    let routes = routes();
    assert_eq!(routes.len(), 14, "{routes:?}");
    let gated = routes.iter().filter(|(_, path)| guard(path) == Guard::Gate);
    assert_eq!(gated.count(), 3);
    let open: Vec<_> = routes
        .iter()
        .filter(|(_, path)| guard(path) == Guard::Nobody)
        .collect();
    assert_eq!(open, [&(Method::POST, "/user".to_owned())]);
}

async fn every_route_refuses_everybody_who_may_not(given: &Given) {
    let scene = Scene::set(given).await;
    assert_eq!(scene.holes().await, Vec::<String>::new());
    assert_eq!(given.count("reservations").await, 1);
    assert_eq!(given.count("payments").await, 0);
    assert_eq!(given.count("transfers").await, 0);
    assert_eq!(given.count("concerts").await, 1);
}

#[tokio::test]
async fn a_route_without_its_guard_is_noticed() {
    let given = Given::on_sqlite().await;
    let mut scene = Scene::set(&given).await;
    let leaky = Router::new()
        .route("/concert/dates", get(async || "dates"))
        .route("/user/{userId}/point", get(async || "points"));
    scene.house = scene.house.answering(leaky);
    let holes = scene.holes().await;
    for hole in [
        "GET /concert/dates: waiting",
        "GET /user/{userId}/point: another user's",
    ] {
        assert!(
            holes.iter().any(|found| found.starts_with(hole)),
            "{hole}: {holes:?}"
        );
    }
}

async fn a_login_counts_whatever_the_queue_token_says(given: &Given) {
    let scene = Scene::set(given).await;
    let path = format!("/user/{}/reservations", scene.kim.id);
    for (name, token, _) in &scene.tokens {
        let ask = scene.house.get(&path).login(&scene.kim);
        let answer = with(ask, "X-Queue-Token", token.as_deref()).await;
        assert_eq!(answer.status.as_u16(), 200, "{name}");
    }
}

async fn a_token_of_another_acts_for_its_own_visitor(given: &Given) {
    let scene = Scene::set(given).await;
    let seat = given.seat().await;
    let lee = scene.live.clone();
    let token = scene.house.token(&lee).await;
    let held = scene.house.reserve(seat, &token).login(&scene.kim).await;
    let reservation = held.body["reservationId"].as_i64().unwrap();
    let kims = scene.house.pay(&scene.kim, reservation).await;
    assert_eq!(kims.problem(), problem(404, "RESERVATION_NOT_FOUND"));
    let lees = scene.house.pay(&lee, reservation).await;
    assert_eq!(lees.problem(), problem(409, "INSUFFICIENT_POINTS"));
}

/// What is sent, under a name, and the problem that it must be answered with.
type Bad = (&'static str, Option<String>, (u16, String));

struct Scene {
    house: House,
    /// Has a reservation, which others ask for.
    kim: Person,
    reservation: i64,
    seat: i64,
    date: i64,
    /// Is inside.
    live: Person,
    tokens: Vec<Bad>,
    logins: Vec<Bad>,
    keys: Vec<Bad>,
}

impl Scene {
    async fn set(given: &Given) -> Self {
        let rooms =
            "[rooms.main]\nactive_max = 1\npresence_ttl = \"0s\"\n[rooms.other]\nactive_max = 9\n";
        let house = House::with(given, rooms).await;
        let seats = given.seats(2).await;
        let kim = house.person().await;
        let reservation = house.held(&kim, seats[0]).await;
        let expired = house.token(&kim).await;
        house.advance(Duration::from_secs(301)).await;
        let done = house.ticket(&house.person().await).await;
        house.finish(&done).await;
        let live = house.person().await;
        let inside = house.token(&live).await;
        assert_eq!(house.gate(&inside).await, "inside");
        let waiting = house.token(&house.person().await).await;
        let tokens = bad_tokens(&inside, waiting, expired, text(&done["token"]), &live.login);
        let mut tokens: Vec<Bad> = tokens.into();
        let elsewhere = house.token_in("other", "7").await;
        tokens.push((
            "another room's",
            Some(elsewhere),
            problem(401, "TOKEN_INVALID"),
        ));
        let sub = kim.id.to_string();
        let logins = bad_logins(&sub, &inside);
        let keys = [
            ("none", None),
            ("wrong", Some("wrong")),
            ("a login", Some(&*live.login)),
        ];
        let keys =
            keys.map(|(name, key)| (name, key.map(str::to_owned), problem(401, "UNAUTHORIZED")));
        Self {
            seat: seats[1].0,
            date: date(&house, &inside).await,
            house,
            kim,
            reservation,
            live,
            tokens,
            logins,
            keys: keys.into(),
        }
    }

    /// Every route that did not refuse somebody as it should.
    async fn holes(&self) -> Vec<String> {
        let mut holes = Vec::new();
        for (method, path) in routes() {
            let (header, bad) = match guard(&path) {
                Guard::Gate => ("X-Queue-Token", self.tokens.clone()),
                Guard::Owner => (
                    "Authorization",
                    self.with_another(problem(403, "USER_MISMATCH")),
                ),
                Guard::Login => (
                    "Authorization",
                    self.with_another(problem(404, "RESERVATION_NOT_FOUND")),
                ),
                Guard::Operator => ("Authorization", self.keys.clone()),
                Guard::Nobody => continue,
            };
            for (name, text, expected) in bad {
                let ask = self
                    .house
                    .ask(method.clone(), self.address(&path))
                    .json(&json!({"amount": 5}));
                let text = text.map(|text| match header {
                    "Authorization" => format!("Bearer {text}"),
                    _ => text,
                });
                let answer = with(ask, header, text.as_deref()).await;
                if answer.problem() != expected {
                    let found = answer.problem();
                    holes.push(format!(
                        "{method} {path}: {name} got {found:?}, not {expected:?}"
                    ));
                }
            }
        }
        holes
    }

    fn with_another(&self, expected: (u16, String)) -> Vec<Bad> {
        let mut logins = self.logins.clone();
        logins.push((
            "another user's",
            Some(self.live.login.clone()),
            expected.clone(),
        ));
        let nobody = login(&json!({"sub": "987654321"}));
        // Who never was in the database is refused like everybody else.
        let expected = match expected.0 {
            404 => problem(404, "USER_NOT_FOUND"),
            _ => expected,
        };
        logins.push(("nobody's", Some(nobody), expected));
        logins
    }

    fn address(&self, path: &str) -> String {
        path.replace("{userId}", &self.kim.id.to_string())
            .replace("{reservationId}", &self.reservation.to_string())
            .replace("{seatId}", &self.seat.to_string())
            .replace("{concertDateId}", &self.date.to_string())
            .replace("{concertId}", "1")
    }
}

fn bad_tokens(
    inside: &str,
    waiting: String,
    expired: String,
    finished: String,
    login: &str,
) -> [Bad; 8] {
    let (signed, signature) = inside.rsplit_once('.').unwrap();
    let backwards: String = signature.chars().rev().collect();
    let invalid = || problem(401, "TOKEN_INVALID");
    [
        ("none", None, invalid()),
        ("empty", Some(String::new()), invalid()),
        ("malformed", Some("x.y.z".to_owned()), invalid()),
        ("forged", Some(format!("{signed}.{backwards}")), invalid()),
        ("a login", Some(login.to_owned()), invalid()),
        ("waiting", Some(waiting), problem(403, "NOT_ADMITTED")),
        ("expired", Some(expired), problem(401, "TOKEN_EXPIRED")),
        ("finished", Some(finished), problem(401, "TOKEN_EXPIRED")),
    ]
}

fn bad_logins(sub: &str, queue_token: &str) -> Vec<Bad> {
    let invalid = || problem(401, "LOGIN_INVALID");
    let claims = json!({"iss": "ropeline-boxoffice", "aud": "ropeline", "sub": sub,
        "exp": 1_900_000_000_u64});
    let forged = LoginKey::hs256(b"somebody else's secret, 32 bytes").login(&claims);
    let unsigned = LoginKey::hs256(&SECRET).sign(&json!({"alg": "none"}), &claims);
    vec![
        ("none", None, problem(401, "LOGIN_REQUIRED")),
        ("empty", Some(String::new()), invalid()),
        ("malformed", Some("x.y.z".to_owned()), invalid()),
        ("forged", Some(forged), invalid()),
        ("by no algorithm", Some(unsigned), invalid()),
        (
            "expired",
            Some(login(&json!({"sub": sub, "exp": 1_800_000_000_u64}))),
            invalid(),
        ),
        (
            "for another",
            Some(login(&json!({"sub": sub, "aud": "others"}))),
            invalid(),
        ),
        ("a queue token", Some(queue_token.to_owned()), invalid()),
    ]
}

fn with(ask: Ask, header: &str, text: Option<&str>) -> Ask {
    match text {
        Some(text) => ask.header(header, text),
        None => ask,
    }
}

async fn date(house: &House, token: &str) -> i64 {
    let dates = house.get("/concert/dates").token(token).await;
    dates.body["dates"][0]["concertDateId"].as_i64().unwrap()
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap().to_owned()
}
