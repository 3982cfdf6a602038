//! From the line to the receipt, and everything that does not work out.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::house::{House, Person, problem};
use crate::given::{Given, PRICE};

on_both![
    from_the_line_to_the_receipt,
    a_place_asked_for_again_is_the_same_place,
    a_double_click_is_one_hold_and_one_payment,
    what_is_taken_unknown_or_another_users_is_refused,
    what_the_rules_forbid_leaves_everything_as_it_was,
    paid_too_late_is_honoured_while_the_seat_is_free,
    a_visitor_without_a_login_may_look_and_not_buy,
    operators_put_up_what_is_for_sale,
];

const MINUTE: Duration = Duration::from_secs(60);

async fn from_the_line_to_the_receipt(given: &Given) {
    let house = House::for_so_many(given, 1).await;
    let seat = given.seat().await;
    let (kim, lee) = (house.person_with_price_of(1).await, house.person().await);
    let inside = house.ticket(&kim).await;
    assert_eq!(
        (&inside["position"], &inside["status"]),
        (&json!(0), &json!("ACTIVE"))
    );
    assert_eq!(inside["remainingSeconds"], 300);
    let waiting = house.ticket(&lee).await;
    assert_eq!(waiting["position"], 1);
    let [kims, lees] = [&inside, &waiting].map(|ticket| ticket["token"].as_str().unwrap());
    assert_eq!(house.gate(lees).await, "NOT_ADMITTED");
    let dates = house.get("/concert/dates").token(kims).await.body;
    let date = &dates["dates"][0];
    assert_eq!(
        *date,
        json!({"concertDateId": date["concertDateId"], "concertId": date["concertId"],
            "title": "A concert", "startsAt": "2027-01-15T08:00:00.000Z", "seatsLeft": 1})
    );
    let path = format!("/concert/{}/seats", date["concertDateId"]);
    let seats = house.get(path).header("token", kims).await.body;
    let free = json!({"seatId": seat.0, "number": 1, "price": PRICE, "state": "FREE"});
    assert_eq!(
        seats,
        json!({"concertDateId": date["concertDateId"], "seats": [free]})
    );
    let held = house.reserve(seat, kims).await;
    assert_eq!(held.status, StatusCode::CREATED);
    let reservation = held.body["reservationId"].as_i64().unwrap();
    let mut expected = json!({"reservationId": reservation, "seatId": seat.0, "number": 1,
        "concertDateId": date["concertDateId"], "price": PRICE, "state": "HELD",
        "holdUntil": "2027-01-15T08:05:00.000Z"});
    assert_eq!(held.body, expected);
    let paid = house.pay(&kim, reservation).await;
    let receipt = json!({"paymentId": paid.body["paymentId"], "reservationId": reservation,
        "amount": PRICE, "balance": 0, "paidAt": "2027-01-15T08:00:00.000Z"});
    assert_eq!((paid.status, paid.body), (StatusCode::OK, receipt));
    expected["state"] = json!("PAID");
    assert_eq!(reservations(&house, &kim).await, [expected]);
    assert_eq!(house.gate(kims).await, "TOKEN_EXPIRED");
    assert_eq!(
        house.gate(lees).await,
        "inside",
        "the next visitor is in at once"
    );
    given.assert_books_right().await;
}

async fn a_place_asked_for_again_is_the_same_place(given: &Given) {
    let house = House::for_so_many(given, 1).await;
    house.ticket(&house.person().await).await;
    let kim = house.person().await;
    let first = house.ticket(&kim).await;
    house.ticket(&house.person().await).await;
    let again = house.ticket(&kim).await;
    for same in ["token", "ordinal", "position", "userId"] {
        assert_eq!(again[same], first[same], "{same}");
    }
    assert_eq!(first["userId"], json!(kim.id.to_string()));
}

async fn a_double_click_is_one_hold_and_one_payment(given: &Given) {
    let house = House::wide(given).await;
    let (kim, seat) = (house.person_with_price_of(2).await, given.seat().await);
    let token = house.token(&kim).await;
    let first = house.reserve(seat, &token).await;
    house.advance(MINUTE).await;
    let again = house.reserve(seat, &token).await;
    assert_eq!(again.body, first.body, "the hold is not extended");
    let reservation = first.body["reservationId"].as_i64().unwrap();
    let paid = house.pay(&kim, reservation).key("k").await;
    let answers = [
        house.pay(&kim, reservation).key("k").await,
        house.pay(&kim, reservation).key("another").await,
        house.pay(&kim, reservation).await,
    ];
    for again in answers {
        assert_eq!((again.status, &again.body), (StatusCode::OK, &paid.body));
    }
    assert_eq!(house.balance(&kim).await, PRICE);
}

async fn what_is_taken_unknown_or_another_users_is_refused(given: &Given) {
    let house = House::wide(given).await;
    let seats = given.seats(5).await;
    let (kim, lee) = (
        house.person_with_price_of(5).await,
        house.person_with_price_of(5).await,
    );
    let (kims, lees) = (house.token(&kim).await, house.token(&lee).await);
    let theirs = house.held(&lee, seats[0]).await;
    let mine = house.held(&kim, seats[1]).await;
    house.pay(&kim, mine).key("used").await;
    let kims_again = house.token(&kim).await;
    let other = house.held(&kim, seats[2]).await;
    let before = Trace::of(given).await;
    let unknown = i64::MAX;
    let refusals = [
        (
            house.reserve(seats[0], &kims_again),
            problem(409, "SEAT_TAKEN"),
        ),
        (house.reserve(seats[1], &lees), problem(409, "SEAT_TAKEN")),
        (
            house.reserve(seats[3], &kims),
            problem(401, "TOKEN_EXPIRED"),
        ),
        (
            house
                .post(format!("/concert/{unknown}/reservation"))
                .token(&lees),
            problem(404, "SEAT_NOT_FOUND"),
        ),
        (
            house.post("/concert/seat-1/reservation").token(&lees),
            problem(400, "INVALID_REQUEST"),
        ),
        (
            house.get(format!("/concert/{unknown}/seats")).token(&lees),
            problem(404, "DATE_NOT_FOUND"),
        ),
        (
            house.pay(&kim, theirs),
            problem(404, "RESERVATION_NOT_FOUND"),
        ),
        (
            house.pay(&kim, unknown),
            problem(404, "RESERVATION_NOT_FOUND"),
        ),
        (house.pay(&kim, -1), problem(404, "RESERVATION_NOT_FOUND")),
        (
            house.give_up(&kim, theirs),
            problem(404, "RESERVATION_NOT_FOUND"),
        ),
        (
            house.give_up(&kim, unknown),
            problem(404, "RESERVATION_NOT_FOUND"),
        ),
        (house.give_up(&kim, mine), problem(409, "ALREADY_PAID")),
        (
            house.pay(&kim, other).key("used"),
            problem(422, "IDEMPOTENCY_KEY_REUSED"),
        ),
        (
            house
                .post(format!("/user-concert/payment/{}/{theirs}", lee.id))
                .login(&kim),
            problem(403, "USER_MISMATCH"),
        ),
        (
            house.get("/user/1e3/point").login(&kim),
            problem(400, "INVALID_REQUEST"),
        ),
        (
            house
                .ask(Method::DELETE, "/reservation/9223372036854775808")
                .login(&kim),
            problem(400, "INVALID_REQUEST"),
        ),
    ];
    for (number, (ask, expected)) in refusals.into_iter().enumerate() {
        let answer = ask.await;
        assert_eq!(answer.problem(), expected, "{number}: {}", answer.body);
    }
    assert_eq!(Trace::of(given).await, before);
    given.assert_books_right().await;
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
    assert_eq!(fifth.problem(), problem(409, "HOLD_LIMIT"));
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

async fn paid_too_late_is_honoured_while_the_seat_is_free(given: &Given) {
    let house = House::wide(given).await;
    let seats = given.seats(2).await;
    let (slow, quick) = (
        house.person_with_price_of(2).await,
        house.person_with_price_of(1).await,
    );
    let [lucky, lost] = [
        house.held(&slow, seats[0]).await,
        house.held(&slow, seats[1]).await,
    ];
    house.advance(MINUTE * 5).await;
    let taken = house.held(&quick, seats[1]).await;
    assert_eq!(
        house.pay(&slow, lost).await.problem(),
        problem(409, "HOLD_EXPIRED")
    );
    assert_eq!(
        house.balance(&slow).await,
        PRICE * 2,
        "no points were taken"
    );
    assert_eq!(house.pay(&slow, lucky).await.status, StatusCode::OK);
    assert_eq!(house.pay(&quick, taken).await.status, StatusCode::OK);
    given.assert_books_right().await;
}

async fn a_visitor_without_a_login_may_look_and_not_buy(given: &Given) {
    let house = House::wide(given).await;
    let (kim, seat) = (house.person().await, given.seat().await);
    let anonymous = house.unverified(None).await;
    // Anybody can claim to be Kim where a room believes user ids.
    let claimed = house.unverified(Some(&kim.id.to_string())).await;
    let elsewhere = house.token_in("main", "kim@example.com").await;
    for token in [anonymous, claimed, elsewhere] {
        assert_eq!(house.gate(&token).await, "inside");
        let answer = house.reserve(seat, &token).await;
        assert_eq!(answer.problem(), problem(403, "TOKEN_NOT_VERIFIED"));
    }
    let unknown = house.token_in("main", "999").await;
    let answer = house.reserve(seat, &unknown).await;
    assert_eq!(answer.problem(), problem(404, "USER_NOT_FOUND"));
    assert_eq!(given.count("reservations").await, 0);
}

async fn operators_put_up_what_is_for_sale(given: &Given) {
    let house = House::wide(given).await;
    let concerts = "/api/v1/admin/concerts";
    let made = house
        .operator(concerts)
        .json(&json!({"title": "Winter"}))
        .await;
    assert_eq!(made.status, StatusCode::CREATED);
    let dates = format!("{concerts}/{}/dates", made.body["concertId"]);
    let seats: Vec<Value> = (1..=50)
        .map(|number| json!({"number": number, "price": 100}))
        .collect();
    let date = json!({"startsAt": "2027-05-01T19:00:00+09:00", "seats": seats});
    let made = house.operator(&dates).json(&date).await;
    assert_eq!(made.status, StatusCode::CREATED);
    assert_eq!(made.body["seats"].as_array().unwrap().len(), 50);
    let again = house.operator(&dates).json(&date).await;
    assert_eq!(again.body, made.body, "sent twice it is one date");
    let token = house.token(&house.person().await).await;
    let listed = house.get("/concert/dates").token(&token).await.body;
    assert_eq!(listed["dates"][0]["startsAt"], "2027-05-01T10:00:00.000Z");
    assert_eq!(listed["dates"][0]["seatsLeft"], 50);
    let twice = json!([{"number": 1, "price": 1}, {"number": 1, "price": 2}]);
    for (body, expected) in [
        (
            json!({"startsAt": "2027-05-01T10:00:00Z", "seats": []}),
            "INVALID_REQUEST",
        ),
        (
            json!({"startsAt": "2027-05-01T10:00:00Z", "seats": twice}),
            "INVALID_REQUEST",
        ),
        (
            json!({"startsAt": "soon", "seats": seats}),
            "INVALID_REQUEST",
        ),
        (
            json!({"startsAt": "2027-05-02T10:00:00Z", "seats": [[1, 5]]}),
            "INVALID_REQUEST",
        ),
        (
            json!({"startsAt": "2027-05-02T10:00:00Z", "seats": [{"number": 1, "price": 0.5}]}),
            "INVALID_AMOUNT",
        ),
    ] {
        let answer = house.operator(&dates).json(&body).await;
        assert_eq!(answer.problem(), problem(422, expected), "{body}");
    }
    let nowhere = house
        .operator("/api/v1/admin/concerts/999/dates")
        .json(&date)
        .await;
    assert_eq!(nowhere.problem(), problem(404, "CONCERT_NOT_FOUND"));
    let untitled = house.operator(concerts).json(&json!({"title": " "})).await;
    assert_eq!(untitled.body["errors"][0]["field"], "title");
    assert_eq!(given.count("concert_dates").await, 1);
}

async fn reservations(house: &House, person: &Person) -> Vec<Value> {
    let path = format!("/user/{}/reservations", person.id);
    let list = house.get(path).login(person).await.body;
    list["reservations"].as_array().unwrap().clone()
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
