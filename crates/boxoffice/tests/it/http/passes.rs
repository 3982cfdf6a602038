//! The pass follows the purchase.

use std::time::Duration;

use http::StatusCode;
use ropeline_boxoffice::ReservationId;

use super::{
    house::{House, Person},
    switch::Way,
};
use crate::given::Given;

on_both![
    a_pass_lasts_as_long_as_a_hold_and_no_longer,
    giving_up_a_hold_ends_its_extension,
    giving_up_one_of_two_keeps_the_pass_for_the_other,
    a_payment_is_not_refused_because_the_pass_is_over,
    a_hold_stays_while_the_room_cannot_be_told,
    a_restart_tells_the_room_what_the_process_before_could_not,
    a_payment_does_not_wait_for_a_silent_room,
    a_pass_is_finished_once_the_room_hears,
    a_crash_between_payment_and_finishing_loses_nothing,
    holds_follow_their_user_to_a_new_pass,
];

const SECOND: Duration = Duration::from_secs(1);

/// Passes of a minute, and holds of five.
const SHORT: &str =
    "[rooms.main]\nactive_max = 1\npass_ttl = \"60s\"\npass_max = \"0s\"\npresence_ttl = \"0s\"\n";

async fn a_pass_lasts_as_long_as_a_hold_and_no_longer(given: &Given) {
    let room = SHORT.replace("= 1\n", "= 9\n");
    let house = House::with(given, &room).await;
    let seats = given.seats(2).await;
    let (early, late, idle) = (
        house.person().await,
        house.person().await,
        house.person().await,
    );
    for (person, seat) in [(&early, seats[0]), (&late, seats[1])] {
        house.held(person, seat).await;
    }
    let idle = house.token(&idle).await;
    let [early, late] = [house.token(&early).await, house.token(&late).await];
    house.advance(SECOND * 61).await;
    assert_eq!(house.gate(&idle).await, "TOKEN_EXPIRED");
    house.advance(SECOND * 238).await;
    assert_eq!(
        house.gate(&early).await,
        "inside",
        "a second before the hold ends"
    );
    house.advance(SECOND * 2).await;
    assert_eq!(
        house.gate(&late).await,
        "TOKEN_EXPIRED",
        "a second after it"
    );
}

async fn giving_up_a_hold_ends_its_extension(given: &Given) {
    let (house, kim, token) = short(given).await;
    let held = house.held(&kim, given.seat().await).await;
    assert_eq!(
        house.give_up(&kim, held).await.status,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        house.gate(&token).await,
        "inside",
        "there is time for another seat"
    );
    house.advance(SECOND * 61).await;
    assert_eq!(house.gate(&token).await, "TOKEN_EXPIRED");
}

async fn giving_up_one_of_two_keeps_the_pass_for_the_other(given: &Given) {
    let (house, kim, token) = short(given).await;
    let seats = given.seats(2).await;
    house.held(&kim, seats[0]).await;
    house.advance(SECOND * 30).await;
    let second = house.held(&kim, seats[1]).await;
    house.give_up(&kim, second).await;
    house.advance(SECOND * 269).await;
    assert_eq!(house.gate(&token).await, "inside");
}

async fn a_payment_is_not_refused_because_the_pass_is_over(given: &Given) {
    let (house, kim, token) = short(given).await;
    let held = house.held(&kim, given.seat().await).await;
    house.advance(SECOND * 301).await;
    assert_eq!(house.gate(&token).await, "TOKEN_EXPIRED");
    assert_eq!(house.pay(&kim, held).await.status, StatusCode::OK);
}

async fn a_hold_stays_while_the_room_cannot_be_told(given: &Given) {
    let (house, kim, token) = short(given).await;
    let _work = house.at_work();
    house.room.turn(Way::Cut);
    let held = house.reserve(given.seat().await, &token).await;
    assert_eq!(held.status, StatusCode::CREATED);
    let mut kept = house.room.kept();
    house.room.turn(Way::Open);
    kept.wait_for(|kept| *kept > 0).await.unwrap();
    house.advance(SECOND * 299).await;
    assert_eq!(house.gate(&token).await, "inside");
    assert_eq!(
        house
            .pay(&kim, held.body["reservationId"].as_i64().unwrap())
            .await
            .status,
        StatusCode::OK
    );
}

async fn a_restart_tells_the_room_what_the_process_before_could_not(given: &Given) {
    let (house, _, token) = short(given).await;
    house.room.turn(Way::Cut);
    house.reserve(given.seat().await, &token).await;
    house.room.turn(Way::Open);
    let mut kept = house.room.kept();
    let house = house.restarted(given);
    let _work = house.at_work();
    kept.wait_for(|kept| *kept > 0).await.unwrap();
    house.advance(SECOND * 299).await;
    assert_eq!(house.gate(&token).await, "inside");
}

async fn a_payment_does_not_wait_for_a_silent_room(given: &Given) {
    let (house, kim, _) = short(given).await;
    let held = house.held(&kim, given.seat().await).await;
    house.room.turn(Way::Silent);
    let paid = tokio::time::timeout(SECOND * 15, house.pay(&kim, held).into_future()).await;
    assert_eq!(paid.unwrap().status, StatusCode::OK);
    assert_eq!(given.count("outbox WHERE done_at IS NULL").await, 1);
}

async fn a_pass_is_finished_once_the_room_hears(given: &Given) {
    let (house, kim, kims) = short(given).await;
    let lees = house.token(&house.person().await).await;
    let held = house.held(&kim, given.seat().await).await;
    let _work = house.at_work();
    house.room.turn(Way::Cut);
    assert_eq!(house.pay(&kim, held).await.status, StatusCode::OK);
    assert_eq!(house.gate(&lees).await, "NOT_ADMITTED");
    house.advance(SECOND).await;
    given
        .until("outbox WHERE attempts > 0 AND done_at IS NULL")
        .await;
    house.advance(SECOND * 30).await;
    let mut finished = house.room.finished();
    house.room.turn(Way::Open);
    finished.wait_for(|finished| *finished == 1).await.unwrap();
    given.until("outbox WHERE done_at IS NOT NULL").await;
    assert_eq!(house.gate(&kims).await, "TOKEN_EXPIRED");
    assert_eq!(house.gate(&lees).await, "inside");
}

async fn a_crash_between_payment_and_finishing_loses_nothing(given: &Given) {
    let (house, kim, _) = short(given).await;
    let lees = house.token(&house.person().await).await;
    let held = house.held(&kim, given.seat().await).await;
    // As far as the process before came: the payment is committed, and the room has heard nothing.
    given
        .office
        .pay(kim.id, ReservationId(held), None, house.now())
        .await
        .unwrap();
    let mut finished = house.room.finished();
    let house = house.restarted(given);
    let _work = house.at_work();
    house.advance(SECOND).await;
    finished.wait_for(|finished| *finished == 1).await.unwrap();
    given.until("outbox WHERE done_at IS NOT NULL").await;
    assert_eq!(house.gate(&lees).await, "inside");
    assert_eq!(*finished.borrow(), 1, "finished once");
    assert_eq!(house.balance(&kim).await, 0);
    given.assert_books_right().await;
}

async fn holds_follow_their_user_to_a_new_pass(given: &Given) {
    let room = SHORT.replace("pass_max = \"0s\"", "pass_max = \"2m\"");
    let house = House::with(given, &room).await;
    let (kim, seats) = (house.person_with_price_of(2).await, given.seats(2).await);
    let first = house.held(&kim, seats[0]).await;
    house.advance(SECOND * 121).await;
    let second = house.held(&kim, seats[1]).await;
    let token = house.token(&kim).await;
    assert_eq!(house.pay(&kim, second).await.status, StatusCode::OK);
    assert_eq!(house.gate(&token).await, "inside", "the first hold is live");
    assert_eq!(house.pay(&kim, first).await.status, StatusCode::OK);
    assert_eq!(
        house.gate(&token).await,
        "TOKEN_EXPIRED",
        "the new pass is finished, not the old one"
    );
}

/// A house for one, who is inside with the price of a seat.
async fn short(given: &Given) -> (House, Person, String) {
    let house = House::with(given, SHORT).await;
    let kim = house.person_with_price_of(1).await;
    let token = house.token(&kim).await;
    (house, kim, token)
}
