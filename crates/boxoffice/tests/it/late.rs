//! Paying after a hold has run out.

use std::time::Duration;

use ropeline_boxoffice::{BoxOffice, Refusal, Reservation, ReservationId, Rules, SeatId, UserId};
use ropeline_core::Timestamp;

use crate::given::{Given, NOW, PRICE, at_once, done, refusal};

on_both![
    without_late_payment_a_hold_is_paid_before_its_end_or_not_at_all,
    a_late_payment_never_exceeds_tickets_max,
    a_late_payment_never_exceeds_holds_max,
    late_payments_and_reservations_at_once_never_exceed_tickets_max,
    of_a_late_payer_and_the_next_visitor_one_has_the_seat,
    a_payment_in_time_is_honoured_though_the_limits_were_lowered,
];

const MOMENT: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

async fn without_late_payment_a_hold_is_paid_before_its_end_or_not_at_all(given: &Given) {
    let rules = Rules {
        late_payment: Duration::ZERO,
        ..Rules::default()
    };
    let office = given.another_office(rules).await;
    let (user, seats) = (given.user_with(PRICE * 2).await, given.seats(2).await);
    let [one, other] = [
        reserve(&office, user, seats[0], NOW).await,
        reserve(&office, user, seats[1], NOW).await,
    ];
    let end = one.hold_until;
    office.pay(user, one.id, None, end - MOMENT).await.unwrap();
    let refused = office.pay(user, other.id, None, end).await;
    assert_eq!(refusal(refused), Refusal::HoldExpired);
    assert_eq!(office.balance(user).await.unwrap().get(), PRICE);
}

async fn a_late_payment_never_exceeds_tickets_max(given: &Given) {
    let office = &given.office;
    let (user, seats) = (given.user_with(PRICE).await, given.seats(5).await);
    let over = reserve(office, user, seats[0], NOW).await;
    let late = over.hold_until;
    let mut live = Vec::new();
    for seat in &seats[1..] {
        live.push(reserve(office, user, *seat, late).await);
    }
    let refused = office.pay(user, over.id, None, late).await;
    assert_eq!(refusal(refused), Refusal::TicketLimit);
    assert_eq!(office.balance(user).await.unwrap().get(), PRICE);
    office.give_up(user, live[0].id, late).await.unwrap();
    office.pay(user, over.id, None, late).await.unwrap();
    given.assert_books_right().await;
}

async fn a_late_payment_never_exceeds_holds_max(given: &Given) {
    let office = &given.office;
    let (user, seat) = (given.user_with(PRICE * 2).await, given.seat().await);
    let over = reserve(office, user, seat, NOW).await;
    let late = over.hold_until;
    let mut live = Vec::new();
    for seat in given.seats(4).await {
        live.push(reserve(office, user, seat, late).await);
    }
    let refused = office.pay(user, over.id, None, late).await;
    assert_eq!(refusal(refused), Refusal::HoldLimit);
    office.pay(user, live[0].id, None, late).await.unwrap();
    office.pay(user, over.id, None, late).await.unwrap();
    given.assert_books_right().await;
}

async fn late_payments_and_reservations_at_once_never_exceed_tickets_max(given: &Given) {
    let generous = Rules {
        holds_max: 100,
        tickets_max: 100,
        ..Rules::default()
    };
    let generous = given.another_office(generous).await;
    let strict = Rules {
        holds_max: 100,
        holds_per_minute: 0,
        ..Rules::default()
    };
    let strict = given.another_office(strict).await;
    for _ in 0..5 {
        let (user, seats) = (given.user_with(PRICE * 20).await, given.seats(20).await);
        let mut over = Vec::new();
        for seat in &seats[..10] {
            over.push(reserve(&generous, user, *seat, NOW).await);
        }
        let late = over[0].hold_until;
        let fresh = seats[10..].iter().map(|seat| Ask::Hold(*seat));
        let asks = over.iter().map(|held| Ask::Pay(held.id)).chain(fresh);
        let clients = asks.map(|ask| ask.put(strict.clone(), user, late));
        let had = done(at_once(clients).await, Refusal::TicketLimit);
        assert_eq!(had.len(), 4);
    }
    given.assert_books_right().await;
}

async fn of_a_late_payer_and_the_next_visitor_one_has_the_seat(given: &Given) {
    for _ in 0..20 {
        let [slow, next] = [given.user_with(PRICE).await, given.user().await];
        let seat = given.seat().await;
        let held = reserve(&given.office, slow, seat, NOW).await;
        let late = held.hold_until + SECOND;
        let clients = [
            Ask::Pay(held.id).put(given.office.clone(), slow, late),
            Ask::Hold(seat).put(given.office.clone(), next, late),
        ];
        let outcomes = at_once(clients).await;
        assert_eq!(outcomes.iter().flatten().count(), 1, "{outcomes:?}");
        for refused in outcomes.into_iter().filter(Result::is_err) {
            let why = refusal(refused);
            assert!(matches!(why, Refusal::HoldExpired | Refusal::SeatTaken));
        }
    }
    given.assert_books_right().await;
}

async fn a_payment_in_time_is_honoured_though_the_limits_were_lowered(given: &Given) {
    let (user, seats) = (given.user_with(PRICE * 4).await, given.seats(4).await);
    let mut holds = Vec::new();
    for seat in &seats {
        holds.push(reserve(&given.office, user, *seat, NOW).await);
    }
    let lowered = Rules {
        holds_max: 1,
        tickets_max: 1,
        ..Rules::default()
    };
    let lowered = given.another_office(lowered).await;
    for held in holds {
        let in_time = held.hold_until - MOMENT;
        lowered.pay(user, held.id, None, in_time).await.unwrap();
    }
}

/// What one of many asks for at the same time.
#[derive(Debug, Clone, Copy)]
enum Ask {
    Hold(SeatId),
    Pay(ReservationId),
}

impl Ask {
    async fn put(
        self,
        office: BoxOffice,
        user: UserId,
        now: Timestamp,
    ) -> Result<(), ropeline_boxoffice::Error> {
        match self {
            Self::Hold(seat) => office.reserve(user, seat, None, now).await.map(drop),
            Self::Pay(held) => office.pay(user, held, None, now).await.map(drop),
        }
    }
}

async fn reserve(office: &BoxOffice, user: UserId, seat: SeatId, now: Timestamp) -> Reservation {
    office.reserve(user, seat, None, now).await.unwrap()
}
