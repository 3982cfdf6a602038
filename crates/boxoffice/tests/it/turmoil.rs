//! Everything at once, in no order, while holds run out.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use ropeline_boxoffice::{BoxOffice, Error, Points, Refusal, ReservationId, SeatId, UserId};
use ropeline_core::Timestamp;

use crate::given::{Given, NOW, PRICE, at_once, pass};

on_both![
    the_books_stay_right_in_turmoil,
    #[ignore = "forty thousand steps"]
    the_books_stay_right_in_long_turmoil,
];

async fn the_books_stay_right_in_turmoil(given: &Given) {
    turmoil(given, 12, 40, 16).await;
}

async fn the_books_stay_right_in_long_turmoil(given: &Given) {
    turmoil(given, 40, 1_000, 400).await;
}

/// The clients share few users, few seats and little money, so that they meet all the time.
async fn turmoil(given: &Given, clients: u64, steps: u32, seats: u32) {
    let stage = Arc::new(Stage {
        office: given.office.clone(),
        users: given.users_with(PRICE / 2, 6).await,
        seats: given.seats(seats).await,
        clock: AtomicU64::new(NOW.0),
    });
    let players = (1..=clients).map(|seed| play(Arc::clone(&stage), Dice(seed), steps));
    let refused: HashSet<Refusal> = at_once(players).await.into_iter().flatten().collect();
    given.assert_books_right().await;
    // It was no idle turmoil.
    for happened in ["payments", "reservations WHERE state = 'EXPIRED'"] {
        assert!(given.count(happened).await > 0, "{happened}");
    }
    for often in [Refusal::SeatTaken, Refusal::InsufficientPoints] {
        assert!(refused.contains(&often), "{often:?}");
    }
}

struct Stage {
    office: BoxOffice,
    users: Vec<UserId>,
    seats: Vec<SeatId>,
    clock: AtomicU64,
}

/// Gives why steps were refused; any other failure fails the test.
async fn play(stage: Arc<Stage>, mut dice: Dice, steps: u32) -> HashSet<Refusal> {
    let mut refused = HashSet::new();
    for _ in 0..steps {
        match stage.step(&mut dice).await {
            Ok(()) => {}
            Err(Error::Refused(refusal)) => drop(refused.insert(refusal)),
            Err(error) => panic!("{error:?}"),
        }
        let books = stage.office.books().await.unwrap();
        assert!(books.are_right(), "{books:?}");
    }
    refused
}

impl Stage {
    async fn step(&self, dice: &mut Dice) -> Result<(), Error> {
        let user = self.users[dice.below(self.users.len())];
        let seat = self.seats[dice.below(self.seats.len())];
        let now = Timestamp(self.clock.fetch_add(1_000, Relaxed));
        let office = &self.office;
        match dice.below(10) {
            0 => office
                .charge(user, Points::amount(PRICE / 2)?, None, now)
                .await
                .map(drop),
            1..=4 => office
                .reserve(user, seat, Some(&pass(1)), now)
                .await
                .map(drop),
            5..=7 => office
                .pay(user, self.some_of(user, dice, now).await?, None, now)
                .await
                .map(drop),
            8 => {
                office
                    .give_up(user, self.some_of(user, dice, now).await?, now)
                    .await
            }
            _ => {
                self.clock.fetch_add(minutes(2), Relaxed);
                office.sweep(now).await.map(drop)
            }
        }
    }

    /// One of the user's reservations, whatever has become of it; none has the number zero.
    async fn some_of(
        &self,
        user: UserId,
        dice: &mut Dice,
        now: Timestamp,
    ) -> Result<ReservationId, Error> {
        let own = self.office.reservations(user, now).await?;
        let picked = own.get(dice.below(own.len().max(1)));
        Ok(picked.map_or(ReservationId(0), |reservation| reservation.id))
    }
}

fn minutes(count: u64) -> u64 {
    u64::try_from(Duration::from_secs(count * 60).as_millis()).unwrap()
}

/// The same throws for the same seed (a linear congruential generator, Knuth's constants).
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        let step = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = step.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}
