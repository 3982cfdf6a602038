//! What the database itself forbids, and that the checks notice when it does not.

use crate::given::{Given, NOW, PRICE, at_once};

on_both![
    without_its_index_a_seat_is_held_many_times,
    the_database_refuses_a_second_hold_whatever_the_code_does,
    the_database_refuses_a_balance_below_zero,
    the_ledger_cannot_be_rewritten,
    books_that_do_not_add_up_are_noticed,
    the_database_refuses_a_concert_without_a_zone_or_with_an_empty_venue,
    a_concert_of_an_earlier_version_is_told_in_utc,
];

/// Shows that the race is there: only the index decides it, and the tests of crowds can fail.
async fn without_its_index_a_seat_is_held_many_times(given: &Given) {
    given
        .try_sql("DROP INDEX reservations_seat_once")
        .await
        .unwrap();
    let (users, seat) = (given.users_with(PRICE, 50).await, given.seat().await);
    let clients = users.into_iter().map(|user| {
        let office = given.office.clone();
        async move { office.reserve(user, seat, None, NOW).await }
    });
    let held = at_once(clients).await.into_iter().flatten().count();
    assert!(held > 1, "{held} hold the seat");
    let books = given.office.books().await.unwrap();
    assert_eq!(books.seats_twice, 1);
    assert!(!books.are_right());
}

async fn the_database_refuses_a_second_hold_whatever_the_code_does(given: &Given) {
    let (user, seat) = (given.user().await, given.seat().await);
    given.office.reserve(user, seat, None, NOW).await.unwrap();
    let copy = "INSERT INTO reservations (seat_id, user_id, state, price, held_at, hold_until) \
                SELECT seat_id, user_id, state, price, held_at, hold_until FROM reservations";
    let refused = given.try_sql(copy).await.unwrap_err();
    assert!(refused.as_database_error().unwrap().is_unique_violation());
}

async fn the_database_refuses_a_balance_below_zero(given: &Given) {
    given.user_with(10).await;
    let overdraw = "UPDATE accounts SET balance = balance - 11 WHERE kind = 'USER'";
    let refused = given.try_sql(overdraw).await.unwrap_err();
    assert!(refused.as_database_error().unwrap().is_check_violation());
}

async fn the_ledger_cannot_be_rewritten(given: &Given) {
    given.user_with(10).await;
    for change in ["UPDATE transfers SET amount = 1", "DELETE FROM transfers"] {
        let refused = given.try_sql(change).await.unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{refused}");
    }
    assert_eq!(given.count("transfers WHERE amount = 10").await, 1);
}

async fn books_that_do_not_add_up_are_noticed(given: &Given) {
    given.user_with(10).await;
    given.assert_books_right().await;
    let gift = "UPDATE accounts SET balance = balance + 1 WHERE kind = 'USER'";
    given.try_sql(gift).await.unwrap();
    let books = given.office.books().await.unwrap();
    assert_eq!((books.sum(), books.accounts_wrong), (1, 1));
    assert!(!books.are_right());
}

async fn the_database_refuses_a_concert_without_a_zone_or_with_an_empty_venue(given: &Given) {
    given.concert().await;
    for change in ["time_zone = ''", "venue = ''", "time_zone = NULL"] {
        let refused = given
            .try_sql(&format!("UPDATE concerts SET {change}"))
            .await;
        assert!(refused.is_err(), "{change}");
    }
}

/// While box offices are upgraded one after the other, earlier ones put up concerts in the same database.
async fn a_concert_of_an_earlier_version_is_told_in_utc(given: &Given) {
    for earlier in [
        "INSERT INTO concerts (title, created_at) VALUES ('Winter', 1)",
        "INSERT INTO concert_dates (concert_id, starts_at) SELECT id, 2000000000000 FROM concerts",
    ] {
        given.try_sql(earlier).await.unwrap();
    }
    let dates = given.office.dates(NOW).await.unwrap();
    assert_eq!((dates[0].zone.name(), &dates[0].venue), ("UTC", &None));
    let later = "UPDATE concerts SET time_zone = 'Mars/Olympus_Mons'";
    given.try_sql(later).await.unwrap();
    let dates = given.office.dates(NOW).await.unwrap();
    assert_eq!(
        dates[0].zone.name(),
        "UTC",
        "a zone that only a later version knows"
    );
}
