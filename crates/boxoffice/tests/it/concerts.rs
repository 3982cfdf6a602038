//! What is for sale.

use ropeline_boxoffice::{
    BoxOffice, ConcertId, DEMO_SEATS, Database, DateId, Name, Points, Refusal, Rules, SeatDraft,
    SeatState,
};
use ropeline_core::Timestamp;

use crate::given::{Given, NOW, PRICE, at_once, refusal};

on_both![
    the_demo_concert_is_put_up_once,
    seats_are_free_then_held_then_sold,
    a_date_tells_what_is_held_and_what_the_cheapest_seat_costs,
    a_date_sent_twice_is_one_date,
    a_layout_has_each_number_once,
    unknown_dates_and_concerts_are_not_found,
    what_was_sold_is_there_after_a_restart,
];

async fn the_demo_concert_is_put_up_once(given: &Given) {
    let starts = (0..4).map(|_| {
        let office = given.office.clone();
        async move { office.put_up_demo(NOW).await.unwrap() }
    });
    at_once(starts).await;
    let dates = given.office.dates(NOW).await.unwrap();
    assert_eq!(dates.len(), 3);
    for date in dates {
        assert!(date.starts_at > NOW);
        assert_eq!(date.zone.name(), "Asia/Seoul");
        assert!(date.venue.is_some());
        assert_eq!(date.seats_left, i64::from(DEMO_SEATS));
        let seats = given.office.seats(date.id, NOW).await.unwrap();
        let numbers: Vec<i64> = seats.iter().map(|seat| seat.number).collect();
        assert_eq!(numbers, (1..=50).collect::<Vec<_>>());
        let prices = seats.iter().map(|seat| seat.price.get());
        assert_eq!(prices.clone().min(), Some(50_000));
        assert_eq!(prices.max(), Some(150_000));
    }
}

async fn a_date_tells_what_is_held_and_what_the_cheapest_seat_costs(given: &Given) {
    let prices = [PRICE, PRICE * 2].map(|price| Points::amount(price).unwrap());
    let drafts = (1..).zip(prices);
    let drafts: Vec<_> = drafts
        .map(|(number, price)| SeatDraft { number, price })
        .collect();
    let concert = given.concert().await;
    let date = given.office.create_date(concert, NOW, &drafts, NOW).await;
    let seats = given.office.seats(date.unwrap(), NOW).await.unwrap();
    let told = async |now: Timestamp| {
        let dates = given.office.dates(now).await.unwrap();
        let from = dates[0].price_from.map(Points::get);
        (dates[0].seats_left, dates[0].seats_held, from)
    };
    assert_eq!(told(NOW).await, (2, 0, Some(PRICE)));
    let user = given.user_with(PRICE * 3).await;
    let reserve = |seat: usize| given.office.reserve(user, seats[seat].id, None, NOW);
    let held = reserve(0).await.unwrap();
    assert_eq!(told(NOW).await, (1, 1, Some(PRICE * 2)));
    assert_eq!(told(held.hold_until).await, (2, 0, Some(PRICE)));
    let other = reserve(1).await.unwrap();
    assert_eq!(told(NOW).await, (0, 2, None));
    for own in [held.id, other.id] {
        given.office.pay(user, own, None, NOW).await.unwrap();
    }
    assert_eq!(told(held.hold_until).await, (0, 0, None));
}

async fn seats_are_free_then_held_then_sold(given: &Given) {
    let (user, seat) = (given.user_with(PRICE).await, given.seats(2).await[1]);
    let date = given.office.dates(NOW).await.unwrap()[0].id;
    let states = async |now: Timestamp| {
        let seats = given.office.seats(date, now).await.unwrap();
        let left = given.office.dates(now).await.unwrap()[0].seats_left;
        (seats[0].state, seats[1].state, left)
    };
    assert_eq!(states(NOW).await, (SeatState::Free, SeatState::Free, 2));
    let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
    assert_eq!(states(NOW).await, (SeatState::Free, SeatState::Held, 1));
    // No sweep has run.
    assert_eq!(
        states(held.hold_until).await,
        (SeatState::Free, SeatState::Free, 2)
    );
    given.office.pay(user, held.id, None, NOW).await.unwrap();
    assert_eq!(
        states(held.hold_until).await,
        (SeatState::Free, SeatState::Sold, 1)
    );
}

async fn a_date_sent_twice_is_one_date(given: &Given) {
    let concert = given.concert().await;
    let seats = [seat(1), seat(2)];
    let first = given
        .office
        .create_date(concert, NOW, &seats, NOW)
        .await
        .unwrap();
    let again = given
        .office
        .create_date(concert, NOW, &seats, NOW)
        .await
        .unwrap();
    assert_eq!(first, again);
    assert_eq!(given.count("seats").await, 2);
}

async fn a_layout_has_each_number_once(given: &Given) {
    let concert = given.concert().await;
    for bad in [vec![], vec![seat(0)], vec![seat(1), seat(1)]] {
        let outcome = given.office.create_date(concert, NOW, &bad, NOW).await;
        assert_eq!(refusal(outcome), Refusal::InvalidSeats);
    }
    assert_eq!(given.count("concert_dates").await, 0);
    assert_eq!(Name::parse(" "), Err(Refusal::InvalidName));
}

async fn unknown_dates_and_concerts_are_not_found(given: &Given) {
    let seats = given.office.seats(DateId(7), NOW).await;
    assert_eq!(refusal(seats), Refusal::DateNotFound);
    let date = given
        .office
        .create_date(ConcertId(7), NOW, &[seat(1)], NOW)
        .await;
    assert_eq!(refusal(date), Refusal::ConcertNotFound);
}

async fn what_was_sold_is_there_after_a_restart(given: &Given) {
    let (user, seat) = (given.user_with(PRICE).await, given.seat().await);
    let held = given.office.reserve(user, seat, None, NOW).await.unwrap();
    let paid = given.office.pay(user, held.id, None, NOW).await.unwrap();
    let reopened = Database::open(&given.url).await.unwrap();
    let office = BoxOffice::new(reopened, Rules::default());
    let again = office.pay(user, held.id, None, NOW).await.unwrap();
    assert_eq!(again.payment, paid.payment);
}

fn seat(number: u32) -> SeatDraft {
    let price = Points::amount(PRICE).unwrap();
    SeatDraft { number, price }
}
