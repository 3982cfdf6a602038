//! What operators put up for sale.

use http::StatusCode;
use serde_json::{Value, json};

use super::{ask::problem, house::House};
use crate::given::Given;

on_both![
    operators_put_up_what_is_for_sale,
    a_whole_hall_is_put_up_by_ranges_of_seats,
    what_makes_no_date_is_refused,
];

const CONCERTS: &str = "/api/v1/admin/concerts";

async fn operators_put_up_what_is_for_sale(given: &Given) {
    let house = House::wide(given).await;
    let dates = winter(&house).await;
    let date = json!({"startsAt": "2027-05-01T19:00:00+09:00", "seats": seats(50)});
    let made = house.operator(&dates).json(&date).await;
    assert_eq!(made.status, StatusCode::CREATED);
    assert_eq!(made.body["seats"].as_array().unwrap().len(), 50);
    let again = house.operator(&dates).json(&date).await;
    assert_eq!(again.body, made.body, "sent twice it is one date");
    let token = house.token(&house.person().await).await;
    let listed = house.get("/concert/dates").token(&token).await.body;
    assert_eq!(listed["dates"][0]["startsAt"], "2027-05-01T10:00:00.000Z");
    assert_eq!(listed["dates"][0]["seatsLeft"], 50);
}

async fn a_whole_hall_is_put_up_by_ranges_of_seats(given: &Given) {
    let house = House::wide(given).await;
    let dates = winter(&house).await;
    let date = json!({"startsAt": "2027-05-01T19:00:00+09:00", "seats": [
        {"number": 1, "to": 1_000, "price": 150_000},
        {"number": 1_001, "to": 3_000, "price": 90_000},
        {"number": 9_999, "price": 5_000},
    ]});
    let made = house.operator(&dates).json(&date).await;
    assert_eq!(made.status, StatusCode::CREATED);
    let seats = made.body["seats"].as_array().unwrap();
    assert_eq!(seats.len(), 3_001);
    let of = |index: usize| (&seats[index]["number"], &seats[index]["price"]);
    assert_eq!(of(999), (&json!(1_000), &json!(150_000)));
    assert_eq!(of(1_000), (&json!(1_001), &json!(90_000)));
    assert_eq!(of(3_000), (&json!(9_999), &json!(5_000)));
}

async fn what_makes_no_date_is_refused(given: &Given) {
    let house = House::wide(given).await;
    let dates = winter(&house).await;
    let starts_at = "2027-05-01T10:00:00Z";
    let twice = json!([{"number": 1, "price": 1}, {"number": 1, "price": 2}]);
    let half = json!([{"number": 1, "price": 0.5}]);
    for (starts_at, seats, code) in [
        (starts_at, json!([]), "INVALID_REQUEST"),
        (starts_at, twice, "INVALID_REQUEST"),
        (
            starts_at,
            json!([{"number": 5, "to": 3, "price": 1}, {"number": 9, "price": 1}]),
            "INVALID_REQUEST",
        ),
        (
            starts_at,
            json!([{"number": 1, "to": 4_000_000_000_u64, "price": 1}]),
            "INVALID_REQUEST",
        ),
        (starts_at, json!([[1, 5]]), "INVALID_REQUEST"),
        (
            starts_at,
            json!([{"number": 0, "price": 1}]),
            "INVALID_REQUEST",
        ),
        ("soon", seats(1), "INVALID_REQUEST"),
        (starts_at, half, "INVALID_AMOUNT"),
    ] {
        let body = json!({"startsAt": starts_at, "seats": seats});
        let answer = house.operator(&dates).json(&body).await;
        assert_eq!(answer.problem(), problem(422, code), "{body}");
    }
    let body = json!({"startsAt": starts_at, "seats": seats(1)});
    let nowhere = house
        .operator(&format!("{CONCERTS}/999/dates"))
        .json(&body)
        .await;
    assert_eq!(nowhere.problem(), problem(404, "CONCERT_NOT_FOUND"));
    let untitled = house.operator(CONCERTS).json(&json!({"title": " "})).await;
    assert_eq!(untitled.body["errors"][0]["field"], "title");
    assert_eq!(given.count("concert_dates").await, 0);
    assert_eq!(given.count("concerts").await, 1);
}

/// Where to put up the dates of a new concert.
async fn winter(house: &House) -> String {
    let made = house
        .operator(CONCERTS)
        .json(&json!({"title": "Winter"}))
        .await;
    assert_eq!(made.status, StatusCode::CREATED);
    format!("{CONCERTS}/{}/dates", made.body["concertId"])
}

fn seats(count: u32) -> Value {
    (1..=count)
        .map(|number| json!({"number": number, "price": 100}))
        .collect()
}
