//! Transactions that do not come to their end the first time.

use std::{
    future::poll_fn,
    pin::pin,
    task::{Poll, ready},
};

use ropeline_boxoffice::{Points, ReservationState, Rules};
use sqlx::{Connection, Executor};

use crate::given::{Given, NOW, PRICE};

on_both![a_caller_who_goes_away_leaves_all_or_nothing];

/// More steps than any operation waits for.
const STEPS_MAX: u32 = 40;

async fn a_caller_who_goes_away_leaves_all_or_nothing(given: &Given) {
    let rules = Rules {
        tickets_max: STEPS_MAX,
        holds_per_minute: 0,
        ..Rules::default()
    };
    let office = given.another_office(rules).await;
    let user = given.user_with(PRICE * i64::from(STEPS_MAX)).await;
    for (steps, seat) in (1..).zip(given.seats(STEPS_MAX).await) {
        abandon(office.reserve(user, seat, None, NOW), steps).await;
        let held = office.reserve(user, seat, None, NOW).await.unwrap();
        abandon(office.pay(user, held.id, None, NOW), steps).await;
        given.assert_books_right().await;
        office.pay(user, held.id, None, NOW).await.unwrap();
    }
    let all = given.office.reservations(user, NOW).await.unwrap();
    assert!(all.iter().all(|one| one.state == ReservationState::Paid));
    assert_eq!(given.office.balance(user).await.unwrap().get(), 0);
    given.assert_books_right().await;
}

/// Follows a future for so many steps and then drops it, wherever it is.
async fn abandon<T>(future: impl Future<Output = T>, steps: u32) {
    let mut future = pin!(future);
    let mut taken = 0;
    poll_fn(|context| {
        taken += 1;
        if taken <= steps {
            ready!(future.as_mut().poll(context));
        }
        Poll::Ready(())
    })
    .await;
}

#[tokio::test]
async fn a_deadlock_is_tried_again() {
    let given = Given::on_postgres().await;
    let user = given.user().await;
    let mut other = sqlx::AnyConnection::connect(&given.url).await.unwrap();
    // The other one takes the same two rows the other way round, and is patient.
    let lock_account = format!("UPDATE accounts SET balance = 0 WHERE user_id = {user}");
    let lock_user = format!("SELECT id FROM users WHERE id = {user} FOR UPDATE");
    other
        .execute("SET deadlock_timeout = '1min'")
        .await
        .unwrap();
    other.execute("BEGIN").await.unwrap();
    other.execute(&*lock_account).await.unwrap();
    let charge = given
        .office
        .charge(user, Points::amount(5).unwrap(), None, NOW);
    let other_way_round = async {
        given
            .until("pg_stat_activity WHERE wait_event_type = 'Lock'")
            .await;
        other.execute(&*lock_user).await.unwrap();
        other.execute("COMMIT").await.unwrap();
    };
    let (charged, ()) = tokio::join!(charge, other_way_round);
    assert_eq!(charged.unwrap().balance.get(), 5);
    let deadlocks = "pg_stat_database WHERE datname = current_database() AND deadlocks > 0";
    given.until(deadlocks).await;
    given.assert_books_right().await;
}
