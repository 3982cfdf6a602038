use super::*;

const START: u64 = 1_800_000_000_000;

fn at(ms: u64) -> Timestamp {
    Timestamp(START + ms)
}

/// Turns that were taken among so many tries at one moment.
fn taken(meter: &Meter<u32>, key: u32, tries: u32, now: Timestamp) -> u32 {
    let fine = (0..tries).filter(|_| meter.take(&one(key), now).is_ok());
    u32::try_from(fine.count()).unwrap()
}

/// One key at the rate itself.
fn one(key: u32) -> [Share<u32>; 1] {
    [Share { key, times: 1 }]
}

/// Numbers without a pattern, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

#[test]
fn a_minutes_worth_may_come_at_once_and_no_more() {
    for limit in [1, 7, 20, 600, 3_000, 999_999] {
        let meter = Meter::new(limit, 10);
        assert_eq!(taken(&meter, 1, limit + 5, at(0)), limit, "{limit}");
        assert_eq!(taken(&meter, 2, limit + 5, at(0)), limit, "{limit}");
        let later = at(60_001);
        assert_eq!(taken(&meter, 1, limit + 5, later), limit, "{limit}");
    }
}

#[test]
fn a_steady_client_at_the_rate_is_never_refused() {
    for limit in [1_u32, 7, 20, 600, 3_000] {
        let meter = Meter::new(limit, 10);
        for n in 0..100_000_u64 {
            let now = at(n * 60_000 / u64::from(limit));
            assert_eq!(
                meter.take(&one(1), now),
                Ok(()),
                "turn {n} of {limit} a minute"
            );
        }
    }
}

#[test]
fn no_window_sees_more_than_its_share_and_one_burst() {
    let mut chance = Chance(0x1234_5678_9abc_def1);
    for limit in [1_u32, 7, 20, 600] {
        let meter = Meter::new(limit, 10);
        let (mut now, mut times) = (0, Vec::new());
        for _ in 0..5_000 {
            now += chance.below(2 * 60_000 / u64::from(limit) + 1) / (1 + chance.below(4));
            if meter.take(&one(1), at(now)).is_ok() {
                times.push(now);
            }
        }
        for (first, from) in times.iter().enumerate() {
            for (last, to) in times.iter().enumerate().skip(first) {
                let share = u64::from(limit) * (to - from) / 60_000;
                let seen = u64::try_from(last - first + 1).unwrap();
                assert!(
                    seen <= share + u64::from(limit),
                    "{seen} from {from} to {to}"
                );
            }
        }
        assert!(times.len() > 1_000 || limit == 1);
    }
}

#[test]
fn who_is_refused_is_told_exactly_when_to_come_back() {
    let meter = Meter::new(20, 10);
    assert_eq!(taken(&meter, 1, 20, at(0)), 20);
    let RetryAfter(wait) = meter.take(&one(1), at(500)).unwrap_err();
    assert_eq!(wait, Duration::from_millis(2_500));
    assert!(meter.take(&one(1), at(2_999)).is_err());
    assert_eq!(meter.take(&one(1), at(3_000)), Ok(()));
    assert!(meter.take(&one(1), at(3_000)).is_err());
}

#[test]
fn being_refused_costs_nothing() {
    let meter = Meter::new(20, 10);
    assert_eq!(taken(&meter, 1, 1_000, at(0)), 20);
    assert_eq!(taken(&meter, 1, 1_000, at(2_999)), 0);
    assert_eq!(taken(&meter, 1, 1_000, at(3_000)), 1);
}

#[test]
fn looking_takes_no_turn() {
    let meter = Meter::new(1, 10);
    for _ in 0..10 {
        assert_eq!(meter.check(&one(1), at(0)), Ok(()));
    }
    assert_eq!(meter.take(&one(1), at(0)), Ok(()));
    assert_eq!(
        meter.check(&one(1), at(0)),
        Err(RetryAfter(Duration::from_secs(60)))
    );
    assert_eq!(meter.remembered(), 1);
}

#[test]
fn a_limit_of_zero_is_none() {
    let meter = Meter::new(0, 10);
    assert_eq!(taken(&meter, 1, 10_000, at(0)), 10_000);
    assert_eq!(meter.remembered(), 0);
}

#[test]
fn a_clock_that_is_set_back_keeps_nobody_out_for_longer_than_the_rate_says() {
    let meter = Meter::new(20, 10);
    assert_eq!(taken(&meter, 1, 25, at(86_400_000)), 20);
    let RetryAfter(wait) = meter.take(&one(1), at(0)).unwrap_err();
    assert_eq!(wait, Duration::from_secs(3));
}

#[test]
fn a_flood_of_newcomers_does_not_make_heavy_users_forgotten() {
    let meter = Meter::new(20, 1_000);
    assert_eq!(taken(&meter, 0, 25, at(0)), 20);
    let mut through = 0;
    for newcomer in 1..=100_000 {
        through += taken(&meter, newcomer, 1, at(0));
    }
    assert_eq!(
        taken(&meter, 0, 25, at(0)),
        0,
        "the heavy user is still known"
    );
    assert_eq!(meter.remembered(), 1_000);
    assert_eq!(
        through,
        999 + 20 * 10,
        "newcomers without room share ten keys' worth"
    );
}

#[test]
fn keys_with_whole_credit_make_room_and_others_do_not() {
    let meter = Meter::new(20, 100);
    assert_eq!(taken(&meter, 0, 20, at(0)), 20);
    for key in 1..100 {
        assert_eq!(meter.take(&one(key), at(0)), Ok(()));
    }
    // One turn of twenty a minute is paid back after three seconds.
    assert_eq!(taken(&meter, 1_000, 25, at(3_000)), 20);
    assert_eq!(meter.remembered(), 2);
    assert_eq!(taken(&meter, 0, 25, at(3_000)), 1);
}

#[test]
fn a_newcomer_who_has_done_nothing_is_not_locked_out_by_a_flood() {
    let meter = Meter::new(1, 10);
    for key in 0..1_000 {
        meter.take(&one(key), at(0)).ok();
    }
    assert!(meter.take(&one(5_000), at(0)).is_err());
    assert_eq!(meter.check(&one(5_000), at(0)), Ok(()));
}

#[test]
fn a_turn_is_taken_of_every_key_or_of_none() {
    let meter = Meter::new(10, 100);
    let both = |key| {
        let wide = Share { key: 0, times: 2 };
        [Share { key, times: 1 }, wide]
    };
    let takes = |key, tries: u32| {
        let fine = (0..tries).filter(|_| meter.take(&both(key), at(0)).is_ok());
        fine.count()
    };
    assert_eq!(takes(1, 15), 10);
    assert_eq!(takes(2, 7), 7);
    assert_eq!(takes(3, 15), 3);
    // What was refused because of the wide key is not charged to the narrow one, or remembered.
    assert_eq!(takes(4, 15), 0);
    assert_eq!(meter.remembered(), 4);
    assert_eq!(taken(&meter, 3, 15, at(0)), 7);
    let wait = |key, now| meter.check(&both(key), now).unwrap_err().0;
    assert_eq!(wait(2, at(0)), Duration::from_secs(3), "the wide key");
    assert_eq!(wait(1, at(0)), Duration::from_secs(6), "the narrow one");
    assert_eq!(meter.take(&both(2), at(3_000)), Ok(()));
}

#[test]
fn newcomers_without_room_are_still_held_to_the_keys_that_are_known() {
    let meter = Meter::new(2, 3);
    let wide = Share { key: 0, times: 2 };
    let take = |key| meter.take(&[Share { key, times: 1 }, wide], at(0));
    assert_eq!(
        [1, 2, 3, 4, 5].map(|key| take(key).is_ok()),
        [true, true, true, true, false]
    );
    assert_eq!(meter.remembered(), 3);
}
