//! Word to the waiting room.

use std::time::Duration;

use ropeline_boxoffice::{Reservation, UserId};

use crate::given::{Given, NOW, PRICE, at_once, pass};

on_both![
    a_payment_finishes_the_pass_that_the_seat_was_reserved_with,
    the_pass_lasts_while_another_hold_is_live,
    a_refused_payment_finishes_nothing,
    a_seat_reserved_without_a_pass_finishes_nothing,
    what_is_not_acknowledged_is_due_again,
    two_takers_do_not_take_the_same_row,
];

const SECOND: Duration = Duration::from_secs(1);
const LEASE: Duration = Duration::from_secs(30);

async fn a_payment_finishes_the_pass_that_the_seat_was_reserved_with(given: &Given) {
    let (user, held) = held_with_pass(given).await;
    let paid = given.office.pay(user, held.id, None, NOW).await.unwrap();
    let finish = paid.finish.unwrap();
    assert_eq!((&finish.pass, finish.attempts), (&pass(7), 0));
    let again = given.office.pay(user, held.id, None, NOW).await.unwrap();
    assert_eq!(again.finish, None);
    assert_eq!(given.count("outbox").await, 1);
    given.office.finished(finish.id, NOW).await.unwrap();
    let due = given.office.take_due(10, LEASE, NOW + LEASE).await.unwrap();
    assert_eq!(due, []);
}

async fn the_pass_lasts_while_another_hold_is_live(given: &Given) {
    let (user, seats) = (given.user_with(PRICE * 2).await, given.seats(2).await);
    let one = given
        .office
        .reserve(user, seats[0], Some(&pass(7)), NOW)
        .await
        .unwrap();
    let other = given
        .office
        .reserve(user, seats[1], Some(&pass(7)), NOW)
        .await
        .unwrap();
    let first = given.office.pay(user, one.id, None, NOW).await.unwrap();
    assert_eq!(first.finish, None);
    let last = given.office.pay(user, other.id, None, NOW).await.unwrap();
    assert_eq!(last.finish.unwrap().pass, pass(7));
}

async fn a_refused_payment_finishes_nothing(given: &Given) {
    let (user, seat) = (given.user_with(PRICE - 1).await, given.seat().await);
    let held = given
        .office
        .reserve(user, seat, Some(&pass(7)), NOW)
        .await
        .unwrap();
    assert!(given.office.pay(user, held.id, None, NOW).await.is_err());
    given.office.give_up(user, held.id, NOW).await.unwrap();
    assert_eq!(given.count("outbox").await, 0);
}

async fn a_seat_reserved_without_a_pass_finishes_nothing(given: &Given) {
    let (user, seat) = (given.user_with(PRICE).await, given.seat().await);
    let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
    let paid = given.office.pay(user, held.id, None, NOW).await.unwrap();
    assert_eq!(paid.finish, None);
    assert_eq!(given.count("outbox").await, 0);
}

async fn what_is_not_acknowledged_is_due_again(given: &Given) {
    let (user, held) = held_with_pass(given).await;
    given.office.pay(user, held.id, None, NOW).await.unwrap();
    // Whoever pays tries first.
    assert_eq!(given.office.take_due(10, LEASE, NOW).await.unwrap(), []);
    let first = NOW + SECOND;
    let taken = given.office.take_due(10, LEASE, first).await.unwrap();
    assert_eq!((&taken[0].pass, taken[0].attempts), (&pass(7), 1));
    assert_eq!(given.office.take_due(10, LEASE, first).await.unwrap(), []);
    // The taker never comes back.
    let second = first + LEASE;
    let taken = given.office.take_due(10, LEASE, second).await.unwrap();
    assert_eq!(taken[0].attempts, 2);
    // The room could not be told.
    given
        .office
        .retry(taken[0].id, SECOND, second)
        .await
        .unwrap();
    let taken = given
        .office
        .take_due(10, LEASE, second + SECOND)
        .await
        .unwrap();
    assert_eq!(taken[0].attempts, 3);
}

async fn two_takers_do_not_take_the_same_row(given: &Given) {
    let seats = given.seats(20).await;
    for (ordinal, seat) in (1..).zip(seats) {
        let user = given.user_with(PRICE).await;
        let held = given
            .office
            .reserve(user, seat, Some(&pass(ordinal)), NOW)
            .await
            .unwrap();
        given.office.pay(user, held.id, None, NOW).await.unwrap();
    }
    let takers = (0..8).map(|_| {
        let office = given.office.clone();
        async move { office.take_due(5, LEASE, NOW + SECOND).await.unwrap() }
    });
    let mut taken: Vec<u64> = at_once(takers)
        .await
        .into_iter()
        .flatten()
        .map(|row| row.pass.ordinal.0)
        .collect();
    taken.sort_unstable();
    assert_eq!(taken, (1..=20).collect::<Vec<_>>());
}

/// A user with the price of a seat, who holds one since the pass 7.
async fn held_with_pass(given: &Given) -> (UserId, Reservation) {
    let (user, seat) = (given.user_with(PRICE).await, given.seat().await);
    let held = given
        .office
        .reserve(user, seat, Some(&pass(7)), NOW)
        .await
        .unwrap();
    (user, held)
}
