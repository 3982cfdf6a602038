//! What operators put up for sale.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{
    ask::{Ask, problem},
    house::{ADMIN_KEY, House},
};
use crate::given::Given;

on_both![
    operators_put_up_what_is_for_sale,
    a_whole_hall_is_put_up_by_ranges_of_seats,
    what_makes_no_date_is_refused,
    dates_are_told_by_the_clocks_of_the_venue,
    what_is_said_of_a_concert_can_be_changed,
    what_is_no_time_zone_or_venue_is_refused,
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

async fn dates_are_told_by_the_clocks_of_the_venue(given: &Given) {
    let house = House::wide(given).await;
    let concert = json!({"title": "Winter", "timeZone": "asia/seoul", "venue": " Olympic Hall "});
    let made = house.operator(CONCERTS).json(&concert).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
    let told = json!({"concertId": 1, "title": "Winter", "timeZone": "Asia/Seoul", "venue": "Olympic Hall"});
    assert_eq!(made.body, told);
    let plain = house.operator(CONCERTS).json(&json!({"title": "Plain"}));
    assert_eq!(
        plain.await.body["timeZone"],
        "UTC",
        "where nobody says another"
    );
    for (concert, starts_at) in [
        (1, "2026-12-18T02:00:00-08:00"),
        (2, "2026-12-19T10:00:00Z"),
    ] {
        let date = json!({"startsAt": starts_at, "seats": seats(1)});
        let made = house
            .operator(&format!("{CONCERTS}/{concert}/dates"))
            .json(&date);
        assert_eq!(made.await.status, StatusCode::CREATED);
    }
    let [seoul, utc] = dates(&house).await;
    for (name, value) in [
        ("startsAt", "2026-12-18T10:00:00.000Z"),
        ("startsAtLocal", "2026-12-18T19:00:00+09:00"),
        ("timeZone", "Asia/Seoul"),
        ("venue", "Olympic Hall"),
    ] {
        assert_eq!(seoul[name], value, "{name}");
    }
    assert_eq!(utc["startsAtLocal"], "2026-12-19T10:00:00+00:00");
    assert_eq!(
        (&utc["timeZone"], &utc["venue"]),
        (&json!("UTC"), &Value::Null)
    );
}

async fn what_is_said_of_a_concert_can_be_changed(given: &Given) {
    let house = House::wide(given).await;
    let path = winter(&house).await;
    let date = json!({"startsAt": "2026-12-18T10:00:00Z", "seats": seats(1)});
    for path in [&path, &winter(&house).await] {
        house.operator(path).json(&date).await;
    }
    let concert = path.strip_suffix("/dates").unwrap();
    let mut told = json!({"concertId": 1, "title": "Winter", "timeZone": "UTC", "venue": null});
    for (change, name, value) in [
        (
            json!({"timeZone": "Pacific/Auckland"}),
            "timeZone",
            json!("Pacific/Auckland"),
        ),
        (json!({"venue": "Town Hall"}), "venue", json!("Town Hall")),
        (json!({"title": "Summer"}), "title", json!("Summer")),
        (json!({}), "title", json!("Summer")),
        (json!({"venue": null}), "venue", Value::Null),
    ] {
        told[name] = value;
        let changed = change_of(&house, concert).json(&change).await;
        assert_eq!(
            (changed.status, &changed.body),
            (StatusCode::OK, &told),
            "{change}"
        );
    }
    let [changed, other] = dates(&house).await;
    assert_eq!(
        changed["startsAt"], "2026-12-18T10:00:00.000Z",
        "the moment stays"
    );
    assert_eq!(changed["startsAtLocal"], "2026-12-18T23:00:00+13:00");
    assert_eq!(other["timeZone"], "UTC", "another concert stays as it was");
    let nowhere = change_of(&house, &format!("{CONCERTS}/999")).json(&json!({}));
    assert_eq!(nowhere.await.problem(), problem(404, "CONCERT_NOT_FOUND"));
}

async fn what_is_no_time_zone_or_venue_is_refused(given: &Given) {
    let house = House::wide(given).await;
    winter(&house).await;
    for (field, value) in [
        ("timeZone", json!("KST")),
        ("timeZone", json!("Asia/Atlantis")),
        ("timeZone", json!("+09:00")),
        ("timeZone", json!("")),
        ("venue", json!(" ")),
        ("venue", json!("x".repeat(201))),
    ] {
        let mut concert = json!({"title": "Winter"});
        concert[field] = value;
        let made = house.operator(CONCERTS).json(&concert).await;
        let changed = change_of(&house, &format!("{CONCERTS}/1"))
            .json(&concert)
            .await;
        for refused in [made, changed] {
            assert_eq!(
                refused.problem(),
                problem(422, "INVALID_REQUEST"),
                "{concert}"
            );
            assert_eq!(refused.body["errors"][0]["field"], field);
        }
    }
    assert_eq!(given.count("concerts").await, 1);
    assert_eq!(
        given
            .count("concerts WHERE time_zone = 'UTC' AND venue IS NULL")
            .await,
        1
    );
}

fn change_of(house: &House, concert: &str) -> Ask {
    house.ask(Method::PATCH, concert).bearer(ADMIN_KEY)
}

/// The two dates there are.
async fn dates(house: &House) -> [Value; 2] {
    let token = house.token(&house.person().await).await;
    let mut listed = house.get("/concert/dates").token(&token).await.body;
    let dates: Vec<Value> = serde_json::from_value(listed["dates"].take()).unwrap();
    dates.try_into().unwrap()
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
