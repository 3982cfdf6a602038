//! What people who know such systems expect of the whole.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;

use super::{
    ask::{Answer, problem},
    house::{House, Person},
    switch::Way,
};
use crate::given::{Given, PRICE, at_once};

on_both![
    of_a_thousand_users_on_one_seat_one_wins,
    concurrent_charges_are_all_counted,
    a_thousand_payments_of_one_reservation_are_one,
    of_1002_joins_with_room_for_1000_exactly_1000_are_inside,
    a_hold_lasts_five_minutes_and_is_released_unpaid,
    a_payment_ends_the_token_and_admits_the_next_visitor,
    word_of_a_payment_stays_until_it_is_delivered,
    nothing_is_sent_for_a_payment_that_was_refused,
    the_demo_concert_has_seats_numbered_1_to_50,
    a_link_on_another_site_joins_nobody,
];

const SECOND: Duration = Duration::from_secs(1);

async fn of_a_thousand_users_on_one_seat_one_wins(given: &Given) {
    let house = House::wide(given).await;
    let people = crowd(given, 1_000).await;
    let seat = given.seat().await;
    let tokens = tokens(&house, &people).await;
    let tries = tokens
        .iter()
        .map(|token| house.reserve(seat, token).into_future());
    let answers = at_once(tries).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers
        .iter()
        .partition(|answer| answer.status == StatusCode::CREATED);
    assert_eq!(won.len(), 1);
    assert!(
        lost.iter()
            .all(|answer| answer.problem() == problem(409, "SEAT_TAKEN"))
    );
    assert_eq!(given.count("reservations").await, 1);
}

async fn concurrent_charges_are_all_counted(given: &Given) {
    let house = House::wide(given).await;
    let kim = house.person().await;
    let charges =
        (1..=200).map(|amount| house.charge(&kim, &json!({"amount": amount})).into_future());
    let answers = at_once(charges).await;
    assert!(answers.iter().all(|answer| answer.status == StatusCode::OK));
    assert_eq!(house.balance(&kim).await, (1..=200).sum::<i64>());
    given.assert_books_right().await;
}

async fn a_thousand_payments_of_one_reservation_are_one(given: &Given) {
    let house = House::wide(given).await;
    let kim = house.person_with_price_of(9).await;
    let held = house.held(&kim, given.seat().await).await;
    let answers = at_once((0..1_000).map(|_| house.pay(&kim, held).into_future())).await;
    for answer in &answers {
        assert_eq!(
            (answer.status, &answer.body),
            (StatusCode::OK, &answers[0].body)
        );
    }
    assert_eq!(house.balance(&kim).await, PRICE * 8);
    assert_eq!(given.count("payments").await, 1);
    assert_eq!(given.count("outbox").await, 1);
    given.assert_books_right().await;
}

async fn of_1002_joins_with_room_for_1000_exactly_1000_are_inside(given: &Given) {
    let house = House::for_so_many(given, 1_000).await;
    let people = crowd(given, 1_002).await;
    let tokens = tokens(&house, &people).await;
    let asks = tokens
        .iter()
        .map(|token| house.get("/concert/dates").token(token).into_future());
    let answers = at_once(asks).await;
    let inside = answers
        .iter()
        .filter(|answer| answer.status == StatusCode::OK);
    assert_eq!(inside.count(), 1_000);
    let mut waiting: Vec<_> = answers
        .iter()
        .filter(|answer| answer.problem() == problem(403, "NOT_ADMITTED"))
        .map(|answer| answer.body["position"].as_u64().unwrap())
        .collect();
    waiting.sort_unstable();
    assert_eq!(waiting, [1, 2]);
}

async fn a_hold_lasts_five_minutes_and_is_released_unpaid(given: &Given) {
    let house = House::wide(given).await;
    let (kim, lee, seat) = (
        house.person().await,
        house.person().await,
        given.seat().await,
    );
    house.held(&kim, seat).await;
    let _work = house.at_work();
    house.advance(SECOND * 299).await;
    let token = house.token(&lee).await;
    assert_eq!(
        house.reserve(seat, &token).await.problem(),
        problem(409, "SEAT_TAKEN")
    );
    house.advance(SECOND).await;
    given.until("reservations WHERE state = 'EXPIRED'").await;
    assert_eq!(
        house.reserve(seat, &token).await.status,
        StatusCode::CREATED
    );
}

async fn a_payment_ends_the_token_and_admits_the_next_visitor(given: &Given) {
    let house = House::for_so_many(given, 1).await;
    let (kim, lee) = (house.person_with_price_of(1).await, house.person().await);
    let held = house.held(&kim, given.seat().await).await;
    let (kims, lees) = (house.token(&kim).await, house.token(&lee).await);
    assert_eq!(house.gate(&lees).await, "NOT_ADMITTED");
    assert_eq!(house.pay(&kim, held).await.status, StatusCode::OK);
    assert_eq!(house.gate(&kims).await, "TOKEN_EXPIRED");
    assert_eq!(house.gate(&lees).await, "inside");
    assert_eq!(given.count("outbox WHERE done_at IS NULL").await, 0);
}

async fn word_of_a_payment_stays_until_it_is_delivered(given: &Given) {
    let house = House::for_so_many(given, 1).await;
    let kim = house.person_with_price_of(1).await;
    let held = house.held(&kim, given.seat().await).await;
    house.room.turn(Way::Cut);
    house.pay(&kim, held).await;
    let _work = house.at_work();
    for attempts in 1..=2 {
        house.advance(SECOND * 30).await;
        given
            .until(&format!(
                "outbox WHERE attempts = {attempts} AND done_at IS NULL"
            ))
            .await;
    }
    house.room.turn(Way::Open);
    house.advance(SECOND * 30).await;
    given.until("outbox WHERE done_at IS NOT NULL").await;
    assert_eq!(*house.room.finished().borrow(), 1);
}

async fn nothing_is_sent_for_a_payment_that_was_refused(given: &Given) {
    let house = House::for_so_many(given, 1).await;
    let kim = house.person().await;
    let held = house.held(&kim, given.seat().await).await;
    let token = house.token(&kim).await;
    let told = house.room.tries();
    assert_eq!(
        house.pay(&kim, held).await.problem(),
        problem(409, "INSUFFICIENT_POINTS")
    );
    assert_eq!(house.room.tries(), told);
    assert_eq!(given.count("outbox").await, 0);
    assert_eq!(house.gate(&token).await, "inside");
}

async fn the_demo_concert_has_seats_numbered_1_to_50(given: &Given) {
    let house = House::wide(given).await;
    given.office.put_up_demo(house.now()).await.unwrap();
    let token = house.token(&house.person().await).await;
    let dates = house.get("/concert/dates").token(&token).await.body;
    let dates = dates["dates"].as_array().unwrap();
    assert_eq!(dates.len(), 3);
    for date in dates {
        let path = format!("/concert/{}/seats", date["concertDateId"]);
        let seats = house.get(path).token(&token).await.body;
        let numbers: Vec<_> = seats["seats"]
            .as_array()
            .unwrap()
            .iter()
            .map(|seat| seat["number"].as_i64().unwrap())
            .collect();
        assert_eq!(numbers, (1..=50).collect::<Vec<_>>());
    }
}

async fn crowd(given: &Given, count: i64) -> Vec<Person> {
    let users = given.users_with(PRICE, count).await;
    users.into_iter().map(Person::known_as).collect()
}

/// Everybody joins at once.
async fn tokens(house: &House, people: &[Person]) -> Vec<String> {
    let joins = people.iter().map(|person| {
        let path = format!("/user/{}/token/generate", person.id);
        house.get(path).login(person).into_future()
    });
    let token = |answer: Answer| answer.body["token"].as_str().unwrap().to_owned();
    at_once(joins).await.into_iter().map(token).collect()
}

async fn a_link_on_another_site_joins_nobody(given: &Given) {
    let house = House::wide(given).await;
    let kim = house.person().await;
    let path = format!("/user/{}/token/generate", kim.id);
    let cookie = format!("ropeline_login={}", kim.login);
    for site in ["cross-site", "same-site"] {
        let followed = house.get(path.clone()).header("Cookie", &cookie);
        let followed = followed.header("Sec-Fetch-Site", site).await;
        assert_eq!(followed.problem(), problem(403, "CROSS_SITE"), "{site}");
    }
    let seat = given.seat().await;
    let follow = |person: &Person, more: &str| {
        let cookies = format!("ropeline_login={}{more}", person.login);
        let followed = house.get("/tickets/1").header("Cookie", &cookies);
        followed.header("Sec-Fetch-Site", "cross-site")
    };
    let followed = follow(&kim, "").await;
    assert_eq!(followed.status, StatusCode::OK);
    assert!(followed.text.contains("Continue as Kim?"));
    let form = "<form method=\"post\" action=\"/tickets/1\"><button type=\"submit\">";
    assert!(followed.text.contains(form), "{}", followed.text);
    assert_eq!(followed.text.matches("<button").count(), 1);
    assert!(!followed.headers.contains_key("set-cookie"));
    assert_eq!(house.get(path.clone()).login(&kim).await.body["ordinal"], 1);
    let own = house.get(path.clone()).header("Cookie", &cookie);
    let own = own.header("Sec-Fetch-Site", "same-origin").await;
    assert_eq!(own.body["ordinal"], 1, "nobody had joined before");
    let posted = house.post(&path).login(&kim).await;
    assert_eq!(
        (posted.status, &posted.body["ordinal"]),
        (StatusCode::OK, &json!(1))
    );
    let token = posted.body["token"].as_str().unwrap();
    let inside = follow(&kim, &format!("; rl_main={token}")).await;
    assert!(inside.text.contains("data-inside=\"yes\""));
    let lee = house.person().await;
    let held = given.office.reserve(lee.id, seat, None, house.now()).await;
    held.unwrap();
    let outside = follow(&lee, "").await;
    assert!(outside.text.contains("data-inside=\"no\""));
    let lees = house.get(format!("/user/{}/token/generate", lee.id));
    assert_eq!(lees.login(&lee).await.body["ordinal"], 2);
}
