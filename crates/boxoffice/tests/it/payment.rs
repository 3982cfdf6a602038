//! Paying for seats.

use std::time::Duration;

use ropeline_boxoffice::{
    BoxOffice, IdempotencyKey, Refusal, Reservation, ReservationState, Rules, UserId,
};

use crate::given::{Given, NOW, PRICE, at_once, refusal};

on_both![
    a_payment_books_the_seat_and_takes_the_points,
    a_receipt_tells_its_buyer_what_was_paid_for,
    a_payment_repeated_is_the_same_payment,
    payments_at_once_of_one_reservation_are_one,
    a_key_does_not_serve_for_another_reservation,
    without_points_the_hold_stays_and_nothing_is_taken,
    after_the_hold_a_free_seat_is_still_sold_for_late_payment,
    after_late_payment_a_free_seat_is_no_longer_sold,
    after_the_hold_a_seat_that_another_has_is_refused,
    after_both_holds_ran_out_the_first_to_pay_has_the_seat,
];

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

async fn a_payment_books_the_seat_and_takes_the_points(given: &Given) {
    let (user, seat) = (given.user_with(PRICE + 1).await, given.seat().await);
    let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
    let paid = given.office.pay(user, held.id, None, NOW).await.unwrap();
    assert_eq!(paid.payment.reservation, held.id);
    assert_eq!(
        (paid.payment.amount.get(), paid.payment.balance.get()),
        (PRICE, 1)
    );
    assert_eq!(paid.payment.paid_at, NOW);
    let own = given.office.reservations(user, NOW + HOUR).await.unwrap();
    assert_eq!(own[0].state, ReservationState::Paid);
    given.assert_books_right().await;
}

async fn a_receipt_tells_its_buyer_what_was_paid_for(given: &Given) {
    let (user, seat) = (given.user_with(PRICE + 1).await, given.seat().await);
    let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
    let receipt = |of: UserId| given.office.receipt(of, held.id);
    assert_eq!(refusal(receipt(user).await), Refusal::ReservationNotFound);
    let paid = given.office.pay(user, held.id, None, NOW + MINUTE).await;
    let told = receipt(user).await.unwrap();
    assert_eq!(
        (told.payment, told.reservation),
        (paid.unwrap().payment.id, held.id)
    );
    assert_eq!((&*told.title, told.number), ("A concert", 1));
    assert_eq!((told.amount.get(), told.balance.get()), (PRICE, 1));
    assert_eq!((told.starts_at, told.paid_at), (NOW, NOW + MINUTE));
    let other = given.user().await;
    assert_eq!(refusal(receipt(other).await), Refusal::ReservationNotFound);
}

async fn a_payment_repeated_is_the_same_payment(given: &Given) {
    let (user, seat) = (given.user_with(PRICE * 2).await, given.seat().await);
    let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
    let key = key("pay-1");
    let first = given
        .office
        .pay(user, held.id, Some(&key), NOW)
        .await
        .unwrap();
    for key in [Some(&key), None] {
        let again = given
            .office
            .pay(user, held.id, key, NOW + HOUR)
            .await
            .unwrap();
        assert_eq!(again.payment, first.payment);
    }
    assert_eq!(given.office.balance(user).await.unwrap().get(), PRICE);
}

async fn payments_at_once_of_one_reservation_are_one(given: &Given) {
    let (user, seat) = (given.user_with(PRICE * 9).await, given.seat().await);
    let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
    let clients = (0..200).map(|_| {
        let office = given.office.clone();
        async move { office.pay(user, held.id, None, NOW).await.unwrap().payment }
    });
    let payments = at_once(clients).await;
    assert!(payments.iter().all(|payment| *payment == payments[0]));
    assert_eq!(given.office.balance(user).await.unwrap().get(), PRICE * 8);
    assert_eq!(given.count("payments").await, 1);
    given.assert_books_right().await;
}

async fn a_key_does_not_serve_for_another_reservation(given: &Given) {
    let (user, seats) = (given.user_with(PRICE * 2).await, given.seats(2).await);
    let one = given
        .office
        .reserve(user, seats[0], None, NOW)
        .await
        .unwrap();
    let other = given
        .office
        .reserve(user, seats[1], None, NOW)
        .await
        .unwrap();
    let key = key("pay-1");
    given
        .office
        .pay(user, one.id, Some(&key), NOW)
        .await
        .unwrap();
    let reused = given.office.pay(user, other.id, Some(&key), NOW).await;
    assert_eq!(refusal(reused), Refusal::IdempotencyKeyReused);
    assert_eq!(given.office.balance(user).await.unwrap().get(), PRICE);
}

async fn without_points_the_hold_stays_and_nothing_is_taken(given: &Given) {
    let (user, seat) = (given.user_with(PRICE - 1).await, given.seat().await);
    let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
    let key = key("pay-1");
    let poor = given.office.pay(user, held.id, Some(&key), NOW).await;
    assert_eq!(refusal(poor), Refusal::InsufficientPoints);
    assert_eq!(given.office.balance(user).await.unwrap().get(), PRICE - 1);
    assert_eq!(given.office.reservations(user, NOW).await.unwrap(), [held]);
    // A refusal is not remembered.
    let one = ropeline_boxoffice::Points::amount(1).unwrap();
    given.office.charge(user, one, None, NOW).await.unwrap();
    assert!(
        given
            .office
            .pay(user, held.id, Some(&key), NOW)
            .await
            .is_ok()
    );
    given.assert_books_right().await;
}

async fn after_the_hold_a_free_seat_is_still_sold_for_late_payment(given: &Given) {
    for (after, swept) in [(0, false), (59_999, false), (0, true), (59_999, true)] {
        let (user, seat) = (given.user_with(PRICE).await, given.seat().await);
        let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
        let late = held.hold_until + Duration::from_millis(after);
        if swept {
            let swept = given.office.sweep(late).await.unwrap();
            assert_eq!(swept.holds, [user]);
        }
        let paid = given.office.pay(user, held.id, None, late).await;
        assert!(paid.is_ok(), "{after} {swept} {paid:?}");
    }
    given.assert_books_right().await;
}

async fn after_late_payment_a_free_seat_is_no_longer_sold(given: &Given) {
    for (after, swept) in [(MINUTE, false), (MINUTE, true), (HOUR, false)] {
        let (user, seat) = (given.user_with(PRICE).await, given.seat().await);
        let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
        let late = held.hold_until + after;
        if swept {
            given.office.sweep(late).await.unwrap();
        }
        let refused = given.office.pay(user, held.id, None, late).await;
        assert_eq!(refusal(refused), Refusal::HoldExpired);
        assert_eq!(given.office.balance(user).await.unwrap().get(), PRICE);
        let again = given.office.reserve(user, seat, None, late).await;
        assert_eq!(again.unwrap().state, ReservationState::Held, "it is free");
    }
    given.assert_books_right().await;
}

async fn after_the_hold_a_seat_that_another_has_is_refused(given: &Given) {
    let [(slow, late), (quick, held)] = one_after_the_other(given).await;
    let now = held.hold_until - SECOND;
    let refused = given.office.pay(slow, late.id, None, now).await;
    assert_eq!(refusal(refused), Refusal::HoldExpired);
    given.office.pay(quick, held.id, None, now).await.unwrap();
    let refused = given.office.pay(slow, late.id, None, now).await;
    assert_eq!(refusal(refused), Refusal::HoldExpired);
    assert_eq!(given.office.balance(slow).await.unwrap().get(), PRICE);
    given.assert_books_right().await;
}

async fn after_both_holds_ran_out_the_first_to_pay_has_the_seat(given: &Given) {
    let [(first, older), (second, newer)] = one_after_the_other(given).await;
    let late = newer.hold_until + SECOND;
    given.office.pay(first, older.id, None, late).await.unwrap();
    let refused = given.office.pay(second, newer.id, None, late).await;
    assert_eq!(refusal(refused), Refusal::HoldExpired);
    given.assert_books_right().await;
}

/// Two users with the price of a seat. The second holds it since the first's hold had run out.
async fn one_after_the_other(given: &Given) -> [(UserId, Reservation); 2] {
    let seat = given.seat().await;
    let reserved = async |office: &BoxOffice, now| {
        let user = given.user_with(PRICE).await;
        let held = office.reserve(user, seat, None, now).await;
        (user, held.unwrap())
    };
    let hold_ttl = SECOND * 5;
    let short = Rules {
        hold_ttl,
        ..Rules::default()
    };
    let office = given.another_office(short).await;
    [
        reserved(&office, NOW).await,
        reserved(&office, NOW + hold_ttl).await,
    ]
}

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}
