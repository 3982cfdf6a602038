//! Many at once. The full sizes take minutes:
//! `cargo test --release -p ropeline-boxoffice --test it -- --ignored crowds turmoil`.

use ropeline_boxoffice::{Error, Payment, Refusal, Rules, SeatId, UserId};

use crate::given::{Given, NOW, PRICE, at_once, done};

on_both![
    of_a_crowd_on_one_seat_exactly_one_holds_it,
    #[ignore = "a hundred rounds of a thousand"]
    of_a_thousand_on_one_seat_exactly_one_holds_it_a_hundred_times,
    a_crowd_buys_every_seat_once,
    #[ignore = "ten thousand buyers"]
    ten_thousand_buy_a_hundred_seats_once,
];

async fn of_a_crowd_on_one_seat_exactly_one_holds_it(given: &Given) {
    rounds_on_one_seat(given, 1_000, 2).await;
}

async fn of_a_thousand_on_one_seat_exactly_one_holds_it_a_hundred_times(given: &Given) {
    rounds_on_one_seat(given, 1_000, 100).await;
}

async fn a_crowd_buys_every_seat_once(given: &Given) {
    buy_all(given, 1_000, 20).await;
}

async fn ten_thousand_buy_a_hundred_seats_once(given: &Given) {
    buy_all(given, 10_000, 100).await;
}

async fn rounds_on_one_seat(given: &Given, clients: i64, rounds: u32) {
    let office = given
        .another_office(Rules {
            holds_max: rounds,
            tickets_max: rounds,
            holds_per_minute: 0,
            ..Rules::default()
        })
        .await;
    let users = given.users_with(PRICE, clients).await;
    for seat in given.seats(rounds).await {
        let attempts = users.clone().into_iter().map(|user| {
            let office = office.clone();
            async move { office.reserve(user, seat, None, NOW).await }
        });
        let held = done(at_once(attempts).await, Refusal::SeatTaken);
        assert_eq!(held.len(), 1, "{held:?}");
        let rows = given
            .count(&format!("reservations WHERE seat_id = {seat}"))
            .await;
        assert_eq!(rows, 1);
    }
    given.assert_books_right().await;
}

async fn buy_all(given: &Given, clients: i64, seats: u32) {
    let users = given.users_with(PRICE, clients).await;
    let seats = given.seats(seats).await;
    let attempts = users.into_iter().zip(seats.iter().copied().cycle());
    let attempts = attempts.map(|(user, seat)| buy(given.office.clone(), user, seat));
    let bought = done(at_once(attempts).await, Refusal::SeatTaken);
    assert_eq!(bought.len(), seats.len());
    let sold = i64::try_from(seats.len()).unwrap();
    assert_eq!(given.count("reservations WHERE state = 'PAID'").await, sold);
    let books = given.office.books().await.unwrap();
    assert!(books.are_right(), "{books:?}");
    assert_eq!((books.charged, books.paid), (clients * PRICE, sold * PRICE));
}

async fn buy(
    office: ropeline_boxoffice::BoxOffice,
    user: UserId,
    seat: SeatId,
) -> Result<Payment, Error> {
    let held = office.reserve(user, seat, None, NOW).await?;
    let paid = office.pay(user, held.id, None, NOW).await?;
    Ok(paid.payment)
}
