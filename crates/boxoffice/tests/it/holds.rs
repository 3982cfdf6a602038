//! Holding seats.

use std::time::Duration;

use ropeline_boxoffice::{
    Refusal, Reservation, ReservationId, ReservationState, Rules, SeatId, Swept, UserId,
};
use ropeline_core::Timestamp;

use crate::given::{Given, NOW, PRICE, at_once, done, refusal};

on_both![
    a_hold_lasts_five_minutes_and_costs_what_the_seat_costs,
    a_double_click_is_one_hold_and_does_not_extend_it,
    an_expired_hold_is_taken_without_a_sweep,
    a_held_or_sold_seat_is_taken,
    a_user_holds_four_seats_at_most,
    a_user_who_asks_for_twelve_at_once_holds_four,
    a_seat_given_up_is_free_at_once,
    what_is_paid_cannot_be_given_up,
    the_reservations_of_others_are_not_found,
    unknown_seats_and_users_are_not_found,
    a_sweep_ends_what_has_run_out_and_nothing_else,
    two_offices_on_one_database_sell_a_seat_once,
];

const MINUTE: Duration = Duration::from_secs(60);

async fn a_hold_lasts_five_minutes_and_costs_what_the_seat_costs(given: &Given) {
    let (user, seat) = (given.user().await, given.seat().await);
    let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
    assert_eq!(held.hold_until, NOW + MINUTE * 5);
    assert_eq!(held.hold_left, MINUTE * 5);
    assert_eq!((held.seat, held.number, held.price.get()), (seat, 1, PRICE));
    let own = given.office.reservations(user, NOW).await.unwrap();
    assert_eq!(own, [held]);
    let later = given
        .office
        .reservations(user, held.hold_until)
        .await
        .unwrap();
    let expired = Reservation {
        state: ReservationState::Expired,
        hold_left: Duration::ZERO,
        ..held
    };
    assert_eq!(later, [expired]);
}

async fn a_double_click_is_one_hold_and_does_not_extend_it(given: &Given) {
    let (user, seat) = (given.user().await, given.seat().await);
    let first = given.office.reserve(user, seat, None, NOW).await.unwrap();
    let again = given.office.reserve(user, seat, None, NOW + MINUTE).await;
    let hold_left = MINUTE * 4;
    assert_eq!(again.unwrap(), Reservation { hold_left, ..first });
    assert_eq!(given.count("reservations").await, 1);
}

async fn an_expired_hold_is_taken_without_a_sweep(given: &Given) {
    let (slow, next, seat) = (given.user().await, given.user().await, given.seat().await);
    let held = given.office.reserve(slow, seat, None, NOW).await.unwrap();
    let just_before = Timestamp(held.hold_until.0 - 1);
    let early = given.office.reserve(next, seat, None, just_before).await;
    assert_eq!(refusal(early), Refusal::SeatTaken);
    let taken = given
        .office
        .reserve(next, seat, None, held.hold_until)
        .await;
    assert_eq!(taken.unwrap().state, ReservationState::Held);
    assert_eq!(given.count("reservations WHERE state = 'EXPIRED'").await, 1);
}

async fn a_held_or_sold_seat_is_taken(given: &Given) {
    let (one, other) = (given.user_with(PRICE).await, given.user().await);
    let seat = given.seat().await;
    let held = given.office.reserve(one, seat, None, NOW).await.unwrap();
    let refused = given.office.reserve(other, seat, None, NOW).await;
    assert_eq!(refusal(refused), Refusal::SeatTaken);
    given.office.pay(one, held.id, None, NOW).await.unwrap();
    for user in [one, other] {
        let refused = given
            .office
            .reserve(user, seat, None, NOW + MINUTE * 9)
            .await;
        assert_eq!(refusal(refused), Refusal::SeatTaken);
    }
}

async fn a_user_holds_four_seats_at_most(given: &Given) {
    let (user, mut seats) = (given.user().await, given.seats(4).await);
    // Seats of another date, since four are as many as one user can have of a date.
    seats.extend(given.seats(1).await);
    let mut holds = Vec::new();
    for seat in &seats[..4] {
        holds.push(given.office.reserve(user, *seat, None, NOW).await.unwrap());
    }
    let fifth = given.office.reserve(user, seats[4], None, NOW).await;
    assert_eq!(refusal(fifth), Refusal::HoldLimit);
    // The limit does not stand in the way of a seat that is held already.
    assert!(
        given
            .office
            .reserve(user, seats[0], None, NOW)
            .await
            .is_ok()
    );
    let later = given
        .office
        .reserve(user, seats[4], None, holds[0].hold_until)
        .await;
    assert!(later.is_ok());
}

async fn a_user_who_asks_for_twelve_at_once_holds_four(given: &Given) {
    // Connections are made in the first rounds; those who ask in the later ones really meet.
    for _ in 0..8 {
        let user = given.user().await;
        let mut seats = Vec::new();
        for _ in 0..4 {
            seats.extend(given.seats(3).await);
        }
        let clients = seats.into_iter().map(|seat| {
            let office = given.office.clone();
            async move { office.reserve(user, seat, None, NOW).await }
        });
        let held = done(at_once(clients).await, Refusal::HoldLimit);
        assert_eq!(held.len(), 4);
    }
}

async fn a_seat_given_up_is_free_at_once(given: &Given) {
    let (one, other, seat) = (
        given.user_with(PRICE).await,
        given.user().await,
        given.seat().await,
    );
    let held = given.office.reserve(one, seat, None, NOW).await.unwrap();
    for _ in 0..2 {
        given.office.give_up(one, held.id, NOW).await.unwrap();
    }
    let paid = given.office.pay(one, held.id, None, NOW).await;
    assert_eq!(refusal(paid), Refusal::HoldGivenUp);
    assert!(given.office.reserve(other, seat, None, NOW).await.is_ok());
    assert_eq!(given.office.balance(one).await.unwrap().get(), PRICE);
}

async fn what_is_paid_cannot_be_given_up(given: &Given) {
    let (user, seat) = (given.user_with(PRICE).await, given.seat().await);
    let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
    given.office.pay(user, held.id, None, NOW).await.unwrap();
    let outcome = given.office.give_up(user, held.id, NOW).await;
    assert_eq!(refusal(outcome), Refusal::AlreadyPaid);
    given.assert_books_right().await;
}

async fn the_reservations_of_others_are_not_found(given: &Given) {
    let (one, other) = (given.user().await, given.user_with(PRICE).await);
    let held = given
        .office
        .reserve(one, given.seat().await, None, NOW)
        .await
        .unwrap();
    for reservation in [held.id, ReservationId(999), ReservationId(-1)] {
        let paid = given.office.pay(other, reservation, None, NOW).await;
        assert_eq!(refusal(paid), Refusal::ReservationNotFound);
        let given_up = given.office.give_up(other, reservation, NOW).await;
        assert_eq!(refusal(given_up), Refusal::ReservationNotFound);
    }
    assert_eq!(given.office.reservations(other, NOW).await.unwrap(), []);
    assert_eq!(given.office.reservations(one, NOW).await.unwrap(), [held]);
    assert_eq!(given.office.balance(other).await.unwrap().get(), PRICE);
}

async fn unknown_seats_and_users_are_not_found(given: &Given) {
    let (user, seat) = (given.user().await, given.seat().await);
    for unknown in [0, -1, 999, i64::MAX] {
        let reserved = given.office.reserve(user, SeatId(unknown), None, NOW).await;
        assert_eq!(refusal(reserved), Refusal::SeatNotFound);
        let reserved = given.office.reserve(UserId(unknown), seat, None, NOW).await;
        assert_eq!(refusal(reserved), Refusal::UserNotFound);
    }
    assert_eq!(given.count("reservations").await, 0);
}

async fn a_sweep_ends_what_has_run_out_and_nothing_else(given: &Given) {
    let (user, seats) = (given.user_with(PRICE).await, given.seats(3).await);
    let paid = given
        .office
        .reserve(user, seats[0], None, NOW)
        .await
        .unwrap();
    given.office.pay(user, paid.id, None, NOW).await.unwrap();
    let over = given
        .office
        .reserve(user, seats[1], None, NOW)
        .await
        .unwrap();
    given
        .office
        .reserve(user, seats[2], None, NOW + MINUTE)
        .await
        .unwrap();
    let swept = given.office.sweep(over.hold_until).await.unwrap();
    let holds = vec![user];
    assert_eq!(swept, Swept { holds, keys: 0 });
    for (state, count) in [("PAID", 1), ("EXPIRED", 1), ("HELD", 1)] {
        let found = given
            .count(&format!("reservations WHERE state = '{state}'"))
            .await;
        assert_eq!(found, count, "{state}");
    }
}

async fn two_offices_on_one_database_sell_a_seat_once(given: &Given) {
    let other = given.another_office(Rules::default()).await;
    let (users, seat) = (given.users_with(PRICE, 60).await, given.seat().await);
    let clients = users.into_iter().enumerate().map(|(index, user)| {
        let office = if index % 2 == 0 {
            &given.office
        } else {
            &other
        };
        let office = office.clone();
        async move { office.reserve(user, seat, None, NOW).await }
    });
    let held = done(at_once(clients).await, Refusal::SeatTaken);
    assert_eq!(held.len(), 1);
}
