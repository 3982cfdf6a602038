//! What those who wait are told of the sale.

use std::time::Duration;

use http::StatusCode;
use ropeline_boxoffice::SeatId;
use serde_json::json;

use super::house::House;
use crate::given::{Given, PRICE};

on_both![
    those_who_wait_see_how_many_seats_are_left,
    the_room_is_told_again_now_and_then,
];

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn those_who_wait_see_how_many_seats_are_left(given: &Given) {
    let house = House::for_so_many(given, 1).await;
    let _work = house.at_work();
    let mut told = house.room.stocked();
    // There is nothing to sell yet.
    told.wait_for(|told| *told == [None]).await.unwrap();
    // A date that has begun is no longer for sale.
    given.seats(9).await;
    let [one, other] = seats(&house).await;
    told.wait_for(|told| told.last() == Some(&Some(2)))
        .await
        .unwrap();
    let (kim, lee) = (house.person_with_price_of(2).await, house.person().await);
    let (first, second) = (house.held(&kim, one).await, house.held(&kim, other).await);
    let waiting = house.ticket(&lee).await;
    assert_eq!(
        (&waiting["seatsLeft"], &waiting["roomState"]),
        (&json!(2), &json!("OPEN"))
    );
    assert_eq!(house.pay(&kim, first).await.status, StatusCode::OK);
    told.wait_for(|told| told.last() == Some(&Some(1)))
        .await
        .unwrap();
    assert_eq!(house.pay(&kim, second).await.status, StatusCode::OK);
    told.wait_for(|told| told.last() == Some(&Some(0)))
        .await
        .unwrap();
    house.ticket(&lee).await;
    let late = house.ticket(&house.person().await).await;
    assert_eq!(
        (&late["seatsLeft"], &late["roomState"]),
        (&json!(0), &json!("SOLD_OUT"))
    );
    house.advance(DAY * 365).await;
    told.wait_for(|told| told.last() == Some(&None))
        .await
        .unwrap();
}

async fn the_room_is_told_again_now_and_then(given: &Given) {
    let house = House::wide(given).await;
    seats(&house).await;
    let _work = house.at_work();
    let mut told = house.room.stocked();
    told.wait_for(|told| *told == [Some(2)]).await.unwrap();
    house.advance(Duration::from_secs(30)).await;
    told.wait_for(|told| *told == [Some(2), Some(2)])
        .await
        .unwrap();
}

/// Two seats of a date in spring.
async fn seats(house: &House) -> [SeatId; 2] {
    let concert = house
        .operator("/api/v1/admin/concerts")
        .json(&json!({"title": "Spring"}))
        .await;
    let path = format!("/api/v1/admin/concerts/{}/dates", concert.body["concertId"]);
    let seats = [1, 2].map(|number| json!({"number": number, "price": PRICE}));
    let date = json!({"startsAt": "2027-05-01T10:00:00Z", "seats": seats});
    let made = house.operator(&path).json(&date).await;
    [0, 1].map(|index| {
        let id = made.body["seats"][index]["seatId"].as_i64().unwrap();
        SeatId(id)
    })
}
