//! From the line to the receipt, and everything that does not work out.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};

use super::{
    ask::problem,
    house::{House, Person},
};
use crate::given::{Given, PRICE};

on_both![
    from_the_line_to_the_receipt,
    a_place_asked_for_again_is_the_same_place,
    a_double_click_is_one_hold_and_one_payment,
    paid_too_late_is_honoured_while_the_seat_is_free,
    a_visitor_without_a_login_may_look_and_not_buy,
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
            "title": "A concert", "venue": null, "timeZone": "UTC", "startsAt": "2027-01-15T08:00:00.000Z",
            "startsAtLocal": "2027-01-15T08:00:00+00:00", "seatsLeft": 1})
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
        "holdUntil": "2027-01-15T08:05:00.000Z", "remainingMs": 300_000});
    assert_eq!(held.body, expected);
    let paid = house.pay(&kim, reservation).await;
    let receipt = json!({"paymentId": paid.body["paymentId"], "reservationId": reservation,
        "amount": PRICE, "balance": 0, "paidAt": "2027-01-15T08:00:00.000Z"});
    assert_eq!((paid.status, paid.body), (StatusCode::OK, receipt));
    expected["state"] = json!("PAID");
    expected["remainingMs"] = json!(0);
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
    let mut expected = first.body.clone();
    expected["remainingMs"] = json!(240_000);
    assert_eq!(again.body, expected, "the hold is not extended");
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
    house.held(&slow, given.seat().await).await;
    house.advance(MINUTE * 6).await;
    let path = format!("/user/{}/reservations", slow.id);
    let own = house.get(path).login(&slow).await.body;
    let too_late = own["reservations"][0]["reservationId"].as_i64().unwrap();
    assert_eq!(
        house.pay(&slow, too_late).await.problem(),
        problem(409, "HOLD_EXPIRED"),
        "a minute after its end"
    );
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

async fn reservations(house: &House, person: &Person) -> Vec<Value> {
    let path = format!("/user/{}/reservations", person.id);
    let list = house.get(path).login(person).await.body;
    list["reservations"].as_array().unwrap().clone()
}
