//! What bad input gets: a problem with a code, and nothing is changed.

use std::time::Duration;

use http::{Method, StatusCode};
use ropeline_boxoffice::SeatId;

use super::{
    ask::{Ask, problem},
    house::{House, Person},
};
use crate::given::Given;

on_both![
    seats_that_are_taken_or_unknown_are_refused,
    reservations_of_others_are_as_unknown_as_those_there_are_not,
    ids_that_are_none_are_refused,
    what_the_rules_forbid_leaves_everything_as_it_was,
    too_soon_again_is_refused_with_the_time_to_try_again,
];

const SECOND: Duration = Duration::from_secs(1);

const UNKNOWN: i64 = i64::MAX;

/// Kim has bought one seat and holds another, Lee holds one.
struct Scene<'a> {
    given: &'a Given,
    house: House,
    seats: Vec<SeatId>,
    kim: Person,
    lee: Person,
    kims_pass: String,
    lees_pass: String,
    finished_pass: String,
    bought: i64,
    held: i64,
    lees: i64,
}

impl<'a> Scene<'a> {
    async fn set(given: &'a Given) -> Self {
        let house = House::wide(given).await;
        let seats = given.seats(5).await;
        let kim = house.person_with_price_of(5).await;
        let lee = house.person_with_price_of(5).await;
        let lees = house.held(&lee, seats[0]).await;
        let bought = house.held(&kim, seats[1]).await;
        let finished_pass = house.token(&kim).await;
        house.pay(&kim, bought).key("used").await;
        Self {
            held: house.held(&kim, seats[2]).await,
            kims_pass: house.token(&kim).await,
            lees_pass: house.token(&lee).await,
            finished_pass,
            given,
            house,
            seats,
            kim,
            lee,
            bought,
            lees,
        }
    }

    /// Each is answered with this status and code, and leaves no trace.
    async fn refuses(&self, asks: Vec<(Ask, u16, &str)>) {
        let before = Trace::of(self.given).await;
        for (number, (ask, status, code)) in asks.into_iter().enumerate() {
            let answer = ask.await;
            assert_eq!(
                answer.problem(),
                problem(status, code),
                "{number}: {}",
                answer.body
            );
        }
        assert_eq!(Trace::of(self.given).await, before);
        self.given.assert_books_right().await;
    }
}

async fn seats_that_are_taken_or_unknown_are_refused(given: &Given) {
    let scene = Scene::set(given).await;
    let (house, seats) = (&scene.house, &scene.seats);
    let asks = vec![
        (house.reserve(seats[0], &scene.kims_pass), 409, "SEAT_TAKEN"),
        (house.reserve(seats[1], &scene.lees_pass), 409, "SEAT_TAKEN"),
        (
            house.reserve(seats[3], &scene.finished_pass),
            401,
            "TOKEN_EXPIRED",
        ),
        (
            house.reserve(SeatId(UNKNOWN), &scene.lees_pass),
            404,
            "SEAT_NOT_FOUND",
        ),
        (
            house.reserve(SeatId(-1), &scene.lees_pass),
            404,
            "SEAT_NOT_FOUND",
        ),
        (
            house
                .get(format!("/concert/{UNKNOWN}/seats"))
                .token(&scene.lees_pass),
            404,
            "DATE_NOT_FOUND",
        ),
    ];
    scene.refuses(asks).await;
}

async fn reservations_of_others_are_as_unknown_as_those_there_are_not(given: &Given) {
    let scene = Scene::set(given).await;
    let (house, kim) = (&scene.house, &scene.kim);
    let mut asks = Vec::new();
    for unknown in [scene.lees, UNKNOWN, -1] {
        asks.push((house.pay(kim, unknown), 404, "RESERVATION_NOT_FOUND"));
        asks.push((house.give_up(kim, unknown), 404, "RESERVATION_NOT_FOUND"));
    }
    let path = format!("/user-concert/payment/{}/{}", scene.lee.id, scene.lees);
    asks.push((house.post(path).login(kim), 403, "USER_MISMATCH"));
    asks.push((house.give_up(kim, scene.bought), 409, "ALREADY_PAID"));
    asks.push((
        house.pay(kim, scene.held).key("used"),
        422,
        "IDEMPOTENCY_KEY_REUSED",
    ));
    scene.refuses(asks).await;
}

async fn ids_that_are_none_are_refused(given: &Given) {
    let scene = Scene::set(given).await;
    let (house, kim, pass) = (&scene.house, &scene.kim, &scene.kims_pass);
    let mut asks = Vec::new();
    for id in ["seat-1", "1e3", "1.0", "9223372036854775808", "%00"] {
        let paths = [
            house.post(format!("/concert/{id}/reservation")).token(pass),
            house.get(format!("/concert/{id}/seats")).token(pass),
            house.get(format!("/user/{id}/point")).login(kim),
            house
                .ask(Method::DELETE, format!("/reservation/{id}"))
                .login(kim),
        ];
        asks.extend(paths.map(|ask| (ask, 400, "INVALID_REQUEST")));
    }
    scene.refuses(asks).await;
}

async fn what_the_rules_forbid_leaves_everything_as_it_was(given: &Given) {
    let house = House::wide(given).await;
    let seats = given.seats(5).await;
    let kim = house.person().await;
    let mut held = Vec::new();
    for seat in &seats[..4] {
        held.push(house.held(&kim, *seat).await);
    }
    let token = house.token(&kim).await;
    let before = Trace::of(given).await;
    let fifth = house.reserve(seats[4], &token).await;
    assert_eq!(fifth.problem(), problem(409, "TICKET_LIMIT"));
    let elsewhere = house.reserve(given.seat().await, &token).await;
    assert_eq!(elsewhere.problem(), problem(409, "HOLD_LIMIT"));
    let poor = house.pay(&kim, held[0]).await;
    assert_eq!(poor.problem(), problem(409, "INSUFFICIENT_POINTS"));
    assert_eq!(Trace::of(given).await, before);
    assert_eq!(
        house.give_up(&kim, held[0]).await.status,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        house.give_up(&kim, held[0]).await.status,
        StatusCode::NO_CONTENT
    );
    let given_up = house.pay(&kim, held[0]).await;
    assert_eq!(given_up.problem(), problem(409, "HOLD_GIVEN_UP"));
    assert_eq!(
        house.reserve(seats[4], &token).await.status,
        StatusCode::CREATED
    );
}

async fn too_soon_again_is_refused_with_the_time_to_try_again(given: &Given) {
    let house = House::wide(given).await;
    let (kim, seats) = (house.person().await, given.seats(21).await);
    let token = house.token(&kim).await;
    for seat in &seats[..20] {
        let held = house.held(&kim, *seat).await;
        house.advance(SECOND).await;
        assert_eq!(
            house.give_up(&kim, held).await.status,
            StatusCode::NO_CONTENT
        );
    }
    let before = Trace::of(given).await;
    let many = house.reserve(seats[20], &token).await;
    assert_eq!(many.problem(), problem(429, "HOLD_RATE_LIMITED"));
    assert_eq!(many.headers["retry-after"], "40");
    house.advance(SECOND * 50).await;
    let again = house.reserve(seats[19], &token).await;
    assert_eq!(again.problem(), problem(409, "HOLD_COOLDOWN"));
    assert_eq!(again.headers["retry-after"], "10");
    assert_eq!(Trace::of(given).await, before);
    house.advance(SECOND * 10).await;
    house.held(&kim, seats[19]).await;
}

/// What a request that is refused must not change.
#[derive(Debug, PartialEq, Eq)]
struct Trace(Vec<i64>);

impl Trace {
    async fn of(given: &Given) -> Self {
        let mut counts = Vec::new();
        for rows in [
            "reservations",
            "reservations WHERE state = 'HELD'",
            "reservations WHERE state = 'PAID'",
            "payments",
            "transfers",
            "outbox",
            "idempotency_keys",
        ] {
            counts.push(given.count(rows).await);
        }
        let books = given.office.books().await.unwrap();
        counts.push(books.balances);
        Self(counts)
    }
}
