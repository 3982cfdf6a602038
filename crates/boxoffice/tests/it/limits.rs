//! How many seats a user can have, and how soon again.

use std::time::Duration;

use ropeline_boxoffice::{BoxOffice, Refusal, Reservation, Rules, SeatId, UserId};
use ropeline_core::Timestamp;

use crate::given::{Given, NOW, PRICE, at_once, done, refusal};

on_both![
    a_user_has_four_seats_of_a_date_held_and_bought_together,
    twenty_requests_at_once_never_exceed_tickets_max,
    two_offices_never_sell_a_user_more_than_tickets_max,
    holds_that_ended_and_seats_of_other_dates_do_not_count_as_tickets,
    a_hold_that_ran_out_cannot_be_held_again_by_its_user_for_hold_cooldown,
    a_hold_that_was_given_up_cannot_be_held_again_by_its_user_for_hold_cooldown,
    a_seat_given_up_at_once_cools_down_from_then,
    another_user_and_another_seat_need_not_cool_down,
    without_hold_cooldown_a_seat_is_held_again_at_once,
    a_user_makes_twenty_holds_within_a_minute,
    forty_requests_at_once_never_exceed_holds_per_minute,
    a_live_hold_asked_for_again_meets_no_limit,
    a_seat_that_another_has_is_taken_also_while_it_cools_down,
];

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

async fn a_user_has_four_seats_of_a_date_held_and_bought_together(given: &Given) {
    let (user, seats) = (given.user_with(PRICE * 2).await, given.seats(5).await);
    let mut holds = Vec::new();
    for seat in &seats[..4] {
        holds.push(reserve(&given.office, user, *seat, NOW).await);
    }
    for held in &holds[..2] {
        given.office.pay(user, held.id, None, NOW).await.unwrap();
        let fifth = given.office.reserve(user, seats[4], None, NOW).await;
        assert_eq!(refusal(fifth), Refusal::TicketLimit);
    }
    // Two are bought, and the two that were held have ended.
    reserve(&given.office, user, seats[4], holds[3].hold_until).await;
}

async fn twenty_requests_at_once_never_exceed_tickets_max(given: &Given) {
    let rules = Rules {
        holds_max: 100,
        ..Rules::default()
    };
    let office = given.another_office(rules).await;
    // Connections are made in the first rounds; those who ask in the later ones really meet.
    for _ in 0..5 {
        let (user, seats) = (given.user_with(PRICE).await, given.seats(21).await);
        let bought = reserve(&office, user, seats[20], NOW).await;
        office.pay(user, bought.id, None, NOW).await.unwrap();
        let clients = seats[..20].iter().map(|seat| {
            let (office, seat) = (office.clone(), *seat);
            async move { office.reserve(user, seat, None, NOW).await }
        });
        let held = done(at_once(clients).await, Refusal::TicketLimit);
        assert_eq!(held.len(), 3);
    }
}

async fn two_offices_never_sell_a_user_more_than_tickets_max(given: &Given) {
    let other = given.another_office(Rules::default()).await;
    for _ in 0..5 {
        let (user, seats) = (given.user_with(PRICE * 20).await, given.seats(20).await);
        let clients = seats.into_iter().enumerate().map(|(index, seat)| {
            let offices = [given.office.clone(), other.clone()];
            let office = offices[index % 2].clone();
            async move {
                let held = office.reserve(user, seat, None, NOW).await?;
                office.pay(user, held.id, None, NOW).await
            }
        });
        let bought = done(at_once(clients).await, Refusal::TicketLimit);
        assert_eq!(bought.len(), 4);
    }
    given.assert_books_right().await;
}

async fn holds_that_ended_and_seats_of_other_dates_do_not_count_as_tickets(given: &Given) {
    let office = one_ticket(given).await;
    let (user, seats) = (given.user_with(PRICE * 2).await, given.seats(3).await);
    let given_up = reserve(&office, user, seats[0], NOW).await;
    office.give_up(user, given_up.id, NOW).await.unwrap();
    let ran_out = reserve(&office, user, seats[1], NOW).await;
    let bought = reserve(&office, user, seats[2], ran_out.hold_until).await;
    let paid_at = ran_out.hold_until;
    office.pay(user, bought.id, None, paid_at).await.unwrap();
    let again = office.reserve(user, seats[0], None, paid_at).await;
    assert_eq!(refusal(again), Refusal::TicketLimit);
    assert!(
        office
            .reserve(user, given.seat().await, None, paid_at)
            .await
            .is_ok(),
        "another date"
    );
}

async fn a_hold_that_ran_out_cannot_be_held_again_by_its_user_for_hold_cooldown(given: &Given) {
    let (user, seat) = (given.user().await, given.seat().await);
    let ended = reserve(&given.office, user, seat, NOW).await.hold_until;
    assert_cools_down(given, user, seat, ended).await;
    let (user, seat) = (given.user().await, given.seat().await);
    let ended = reserve(&given.office, user, seat, NOW).await.hold_until;
    given.office.sweep(ended).await.unwrap();
    assert_cools_down(given, user, seat, ended).await;
}

async fn a_hold_that_was_given_up_cannot_be_held_again_by_its_user_for_hold_cooldown(
    given: &Given,
) {
    let (user, seat) = (given.user().await, given.seat().await);
    let held = reserve(&given.office, user, seat, NOW).await;
    let ended = NOW + SECOND;
    given.office.give_up(user, held.id, ended).await.unwrap();
    let shown = given.office.reservations(user, ended).await.unwrap();
    assert_eq!(shown[0].hold_until, ended, "it ended when it was given up");
    // A repetition ends nothing anew.
    let later = ended + SECOND * 9;
    given.office.give_up(user, held.id, later).await.unwrap();
    assert_cools_down(given, user, seat, ended).await;
}

async fn a_seat_given_up_at_once_cools_down_from_then(given: &Given) {
    let (user, seat) = (given.user().await, given.seat().await);
    let held = reserve(&given.office, user, seat, NOW).await;
    // In the millisecond in which the hold began.
    given.office.give_up(user, held.id, NOW).await.unwrap();
    let shown = given.office.reservations(user, NOW).await.unwrap();
    assert!(shown[0].hold_until <= NOW + SECOND);
    let later = NOW + SECOND * 61;
    assert!(given.office.reserve(user, seat, None, later).await.is_ok());
}

async fn another_user_and_another_seat_need_not_cool_down(given: &Given) {
    let (user, seats) = (given.user().await, given.seats(2).await);
    let held = reserve(&given.office, user, seats[0], NOW).await;
    given.office.give_up(user, held.id, NOW).await.unwrap();
    reserve(&given.office, user, seats[1], NOW).await;
    reserve(&given.office, given.user().await, seats[0], NOW).await;
}

async fn without_hold_cooldown_a_seat_is_held_again_at_once(given: &Given) {
    let rules = Rules {
        hold_cooldown: Duration::ZERO,
        ..Rules::default()
    };
    let office = given.another_office(rules).await;
    let (user, seat) = (given.user().await, given.seat().await);
    for _ in 0..2 {
        let held = reserve(&office, user, seat, NOW).await;
        office.give_up(user, held.id, NOW).await.unwrap();
    }
    let held = reserve(&office, user, seat, NOW).await;
    let again = reserve(&office, user, seat, held.hold_until).await;
    assert_ne!(again.id, held.id);
}

async fn a_user_makes_twenty_holds_within_a_minute(given: &Given) {
    let (user, seats) = (given.user().await, given.seats(22).await);
    let take_and_give_up = async |seat, now| {
        let held = given.office.reserve(user, seat, None, now).await?;
        given.office.give_up(user, held.id, now).await
    };
    for (seat, second) in seats[..20].iter().zip(0..) {
        take_and_give_up(*seat, NOW + SECOND * second)
            .await
            .unwrap();
    }
    let soon = take_and_give_up(seats[20], NOW + SECOND * 20).await;
    let left = SECOND * 40;
    assert_eq!(refusal(soon), Refusal::HoldRateLimited { left });
    take_and_give_up(seats[20], NOW + MINUTE).await.unwrap();
    let next = take_and_give_up(seats[21], NOW + MINUTE).await;
    assert_eq!(refusal(next), Refusal::HoldRateLimited { left: SECOND });
    let other = given.user().await;
    reserve(&given.office, other, seats[21], NOW + MINUTE).await;
}

async fn forty_requests_at_once_never_exceed_holds_per_minute(given: &Given) {
    let rules = Rules {
        holds_max: 100,
        tickets_max: 100,
        ..Rules::default()
    };
    let limited = given.another_office(rules).await;
    let unlimited = Rules {
        holds_per_minute: 0,
        ..rules
    };
    let unlimited = given.another_office(unlimited).await;
    for (office, made) in [(limited, 20), (unlimited, 40)] {
        let (user, seats) = (given.user().await, given.seats(40).await);
        let clients = seats.into_iter().map(|seat| {
            let office = office.clone();
            async move { office.reserve(user, seat, None, NOW).await }
        });
        let left = MINUTE;
        let held = done(at_once(clients).await, Refusal::HoldRateLimited { left });
        assert_eq!(held.len(), made);
    }
}

async fn a_live_hold_asked_for_again_meets_no_limit(given: &Given) {
    let rules = Rules {
        holds_max: 1,
        tickets_max: 1,
        holds_per_minute: 1,
        ..Rules::default()
    };
    let office = given.another_office(rules).await;
    let (user, seat) = (given.user().await, given.seat().await);
    let first = reserve(&office, user, seat, NOW).await;
    for _ in 0..3 {
        assert_eq!(reserve(&office, user, seat, NOW).await, first);
    }
}

async fn a_seat_that_another_has_is_taken_also_while_it_cools_down(given: &Given) {
    let (user, seat) = (given.user().await, given.seat().await);
    let held = reserve(&given.office, user, seat, NOW).await;
    given.office.give_up(user, held.id, NOW).await.unwrap();
    reserve(&given.office, given.user().await, seat, NOW).await;
    let again = given.office.reserve(user, seat, None, NOW).await;
    assert_eq!(refusal(again), Refusal::SeatTaken);
}

/// A box office at which a user can have one seat of a date.
async fn one_ticket(given: &Given) -> BoxOffice {
    let rules = Rules {
        tickets_max: 1,
        ..Rules::default()
    };
    given.another_office(rules).await
}

async fn reserve(office: &BoxOffice, user: UserId, seat: SeatId, now: Timestamp) -> Reservation {
    office.reserve(user, seat, None, now).await.unwrap()
}

/// For a minute after the end of the user's hold, and no longer.
async fn assert_cools_down(given: &Given, user: UserId, seat: SeatId, ended: Timestamp) {
    for after in [Duration::ZERO, SECOND, SECOND * 59] {
        let again = given.office.reserve(user, seat, None, ended + after).await;
        let left = MINUTE.saturating_sub(after);
        assert_eq!(refusal(again), Refusal::HoldCooldown { left });
    }
    let again = given
        .office
        .reserve(user, seat, None, ended + MINUTE)
        .await
        .unwrap();
    assert_eq!(again.hold_until, ended + MINUTE * 6);
}
