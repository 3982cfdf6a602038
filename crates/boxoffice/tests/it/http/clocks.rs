//! Box offices on one PostgreSQL whose own clocks are wrong.

use std::time::Duration;

use http::StatusCode;
use ropeline_boxoffice::{Points, SeatDraft, SeatId};
use ropeline_core::Timestamp;
use serde_json::Value;
use sqlx::{Connection, Executor};

use super::{
    ask::problem,
    house::{House, Person},
    switch::Way,
};
use crate::given::{Given, PRICE};

/// Passes of a minute, and holds of five.
const ROOM: &str =
    "[rooms.main]\nactive_max = 99\npass_ttl = \"60s\"\npass_max = \"0s\"\npresence_ttl = \"0s\"\n";

const SECOND: Duration = Duration::from_secs(1);
const TEN_MINUTES: Duration = Duration::from_secs(600);

/// Two box offices on one database. One has the right time, the other is ten minutes off.
struct Offices {
    given: Given,
    right: House,
    wrong: House,
}

impl Offices {
    /// Once with an office that is ahead, and once with one that is behind.
    async fn both_ways() -> [Self; 2] {
        [
            Self::with(|now| now + TEN_MINUTES).await,
            Self::with(|now| now - TEN_MINUTES).await,
        ]
    }

    async fn with(wrong: impl Fn(Timestamp) -> Timestamp) -> Self {
        let given = Given::on_postgres_time().await;
        let now = given.database_time().await;
        Self {
            right: House::at(&given, ROOM, now).await,
            wrong: House::at(&given, ROOM, wrong(now)).await,
            given,
        }
    }

    /// Each office as the one that holds a seat, next to the one that a rival comes to.
    fn each(&self) -> [(&House, &House); 2] {
        [(&self.right, &self.wrong), (&self.wrong, &self.right)]
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_lasts_its_time_whatever_the_clocks_of_box_offices_show() {
    for offices in Offices::both_ways().await {
        for (holding, other) in offices.each() {
            let seat = offices.given.seat().await;
            let kim = holding.person_with_price_of(1).await;
            let held = holding.held(&kim, seat).await;
            assert_taken(other, seat).await;
            offices.given.age_holds(SECOND * 240).await;
            for house in [holding, other] {
                assert_taken(house, seat).await;
                let swept = offices.given.office.sweep(house.now()).await;
                assert_eq!(swept.unwrap().holds, []);
                let shown = shown(house, &kim).await;
                assert_eq!((&*shown.reservation, &*shown.seat), ("HELD", "HELD"));
                let left = shown.remaining_ms;
                assert!((1..=60_000).contains(&left), "{left}");
            }
            let paid = holding.pay(&kim, held).await;
            assert_eq!(paid.status, StatusCode::OK, "{}", paid.body);
        }
        offices.given.assert_books_right().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_ends_by_the_clock_of_the_database_whichever_office_is_asked() {
    for offices in Offices::both_ways().await {
        for (holding, other) in offices.each() {
            let seat = offices.given.seat().await;
            let kim = holding.person_with_price_of(1).await;
            let held = holding.held(&kim, seat).await;
            offices.given.age_holds(SECOND * 300).await;
            for house in [holding, other] {
                let shown = shown(house, &kim).await;
                assert_eq!((&*shown.reservation, &*shown.seat), ("EXPIRED", "FREE"));
                assert_eq!(shown.remaining_ms, 0);
            }
            other.held(&other.person().await, seat).await;
            let late = holding.pay(&kim, held).await;
            assert_eq!(late.problem(), problem(409, "HOLD_EXPIRED"));
        }
        offices.given.assert_books_right().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_cools_down_by_the_clock_of_the_database_whichever_office_is_asked() {
    for offices in Offices::both_ways().await {
        for (holding, other) in offices.each() {
            let seat = offices.given.seat().await;
            let kim = holding.person().await;
            let held = holding.held(&kim, seat).await;
            offices.given.age_holds(SECOND * 9).await;
            assert_eq!(
                holding.give_up(&kim, held).await.status,
                StatusCode::NO_CONTENT
            );
            for house in [holding, other] {
                let token = house.token(&kim).await;
                let again = house.reserve(seat, &token).await;
                assert_eq!(again.problem(), problem(409, "HOLD_COOLDOWN"));
            }
            offices.given.age_holds(SECOND * 60).await;
            other.held(&kim, seat).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_payment_is_honoured_by_the_clock_of_the_database_whichever_office_is_asked() {
    for offices in Offices::both_ways().await {
        for (holding, paying) in offices.each() {
            let kim = holding.person_with_price_of(2).await;
            let seats = offices.given.seats(2).await;
            let [soon, later] = [
                holding.held(&kim, seats[0]).await,
                holding.held(&kim, seats[1]).await,
            ];
            offices.given.age_holds(SECOND * 330).await;
            let paid = paying.pay(&kim, soon).await;
            assert_eq!(paid.status, StatusCode::OK, "{}", paid.body);
            offices.given.age_holds(SECOND * 30).await;
            let refused = paying.pay(&kim, later).await;
            assert_eq!(refused.problem(), problem(409, "HOLD_EXPIRED"));
        }
        offices.given.assert_books_right().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_lasts_as_long_as_a_hold_by_the_clock_of_the_database() {
    for offices in Offices::both_ways().await {
        let house = offices.wrong;
        let kim = house.person().await;
        let token = house.token(&kim).await;
        // A process that tells the room at once, and one that asks the database what there is to tell.
        house.held(&kim, offices.given.seat().await).await;
        house.advance(SECOND * 299).await;
        assert_eq!(house.gate(&token).await, "inside");
        house.room.turn(Way::Cut);
        house.held(&kim, offices.given.seat().await).await;
        house.room.turn(Way::Open);
        let mut kept = house.room.kept();
        let _work = house.at_work();
        kept.changed().await.unwrap();
        house.advance(SECOND * 299).await;
        assert_eq!(house.gate(&token).await, "inside");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn word_of_a_payment_is_due_by_the_clock_of_the_database() {
    for offices in Offices::both_ways().await {
        for (paying, other) in offices.each() {
            let kim = paying.person_with_price_of(1).await;
            let held = paying.held(&kim, offices.given.seat().await).await;
            paying.room.turn(Way::Cut);
            assert_eq!(paying.pay(&kim, held).await.status, StatusCode::OK);
            paying.room.turn(Way::Open);
            let age = "UPDATE outbox SET due_at = due_at - 1000";
            offices.given.try_sql(age).await.unwrap();
            let take = || offices.given.office.take_due(9, SECOND * 30, other.now());
            assert_eq!(take().await.unwrap().len(), 1);
            assert_eq!(take().await.unwrap(), [], "it is taken");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_home_page_shows_a_date_until_it_begins_by_the_clock_of_the_database() {
    for offices in Offices::both_ways().await {
        let now = offices.given.database_time().await;
        let soon = date(&offices.given, now + TEN_MINUTES / 2).await;
        let begun = date(&offices.given, now - TEN_MINUTES / 2).await;
        for house in [&offices.right, &offices.wrong] {
            let home = house.get("/").await.text;
            assert!(home.contains(&format!("href=\"/tickets/{soon}\"")));
            assert!(!home.contains(&format!("href=\"/tickets/{begun}\"")));
            let stock = offices.given.office.stock(house.now()).await;
            assert_eq!(stock.unwrap(), Some(1));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_waited_for_a_lock_still_lasts_its_time() {
    let given = Given::on_postgres_time().await;
    let (user, seat) = (given.user().await, given.seat().await);
    let mut other = sqlx::AnyConnection::connect(&given.url).await.unwrap();
    other.execute("BEGIN").await.unwrap();
    let lock = format!("SELECT id FROM users WHERE id = {user} FOR UPDATE");
    other.execute(&*lock).await.unwrap();
    let asked_at = given.database_time().await;
    let reserve = given.office.reserve(user, seat, None, asked_at);
    let release = async {
        let waits = "wait_event_type = 'Lock' AND datname = current_database()";
        given
            .until(&format!("pg_stat_activity WHERE {waits}"))
            .await;
        let released_at = given.database_time().await;
        other.execute("COMMIT").await.unwrap();
        released_at
    };
    let (held, released_at) = tokio::join!(reserve, release);
    assert!(held.unwrap().hold_until >= released_at + SECOND * 300);
}

async fn date(given: &Given, starts_at: Timestamp) -> i64 {
    let price = Points::amount(PRICE).unwrap();
    let seats = [SeatDraft { number: 1, price }];
    let concert = given.concert().await;
    let office = &given.office;
    let date = office
        .create_date(concert, starts_at, &seats, starts_at)
        .await;
    date.unwrap().0
}

async fn assert_taken(house: &House, seat: SeatId) {
    let token = house.token(&house.person().await).await;
    let answer = house.reserve(seat, &token).await;
    assert_eq!(answer.problem(), problem(409, "SEAT_TAKEN"));
}

/// What a page shows of somebody's one reservation.
struct Shown {
    reservation: String,
    remaining_ms: u64,
    seat: String,
}

async fn shown(house: &House, person: &Person) -> Shown {
    let path = format!("/user/{}/reservations", person.id);
    let list = house.get(path).login(person).await.body;
    let own = &list["reservations"][0];
    let path = format!("/concert/{}/seats", own["concertDateId"]);
    let token = house.token(&house.person().await).await;
    let seats = house.get(path).token(&token).await.body;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Shown {
        reservation: text(&own["state"]),
        remaining_ms: own["remainingMs"].as_u64().unwrap(),
        seat: text(&seats["seats"][0]["state"]),
    }
}
