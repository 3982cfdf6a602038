use std::sync::Arc;

use super::*;
use crate::{
    Bounds, Command, Identity, Joiner, Ordinal, Policy, Room, ServerId, UserId, Visitor,
    policy::tests::policy,
};

const START: Timestamp = Timestamp(1_000_000);

/// A room in which `batch` are let in every 10 s and nobody is ever absent, and its history.
struct Watched {
    room: Room,
    history: History,
    clock: Timestamp,
}

impl Watched {
    fn new(batch: u64) -> Self {
        let policy = Policy {
            batch: Some(batch),
            active_max: None,
            presence_ttl: Duration::ZERO,
            identity: Identity::Open,
            ..policy()
        };
        let room = Room::new(policy, ServerId("test".into()), START, Bounds::default());
        let mut watched = Self {
            room,
            history: History::default(),
            clock: START,
        };
        watched.look();
        watched
    }

    fn look(&mut self) {
        self.history.observe(&self.room.view(self.clock));
    }

    fn join(&mut self, count: u64) {
        let from = self.room.header().issued.0;
        let joiners = (from..from + count).map(|n| Joiner {
            visitor: Visitor::stated(&UserId::parse(&n.to_string()).expect("a number is an id")),
            key: None,
        });
        self.room
            .apply(Command::Join(joiners.collect()), self.clock);
    }

    fn seconds(&mut self, count: u64) {
        for _ in 0..count {
            self.clock = self.clock + Duration::from_secs(1);
            self.room.apply(Command::Settle, self.clock);
            self.look();
        }
    }
}

const HOUR: Duration = Duration::from_secs(3_600);

#[test]
fn waits_are_read_off_how_the_line_grew_and_was_served() {
    let mut line = Watched::new(10);
    line.join(100);
    line.seconds(120);
    let waits = line.history.waits(HOUR);
    assert_eq!(waits.count, 100);
    // Ten enter at once, and ten more after 10, 20 … 90 s.
    assert_eq!(
        [waits.p50, waits.p90, waits.max].map(|wait| wait.as_secs()),
        [39, 79, 89]
    );
    let last_half = line.history.waits(Duration::from_secs(75));
    assert_eq!(last_half.count, 50, "who entered within the window only");
    assert!(last_half.p50 > waits.p50);
}

#[test]
fn turns_are_counted_once_and_for_good() {
    let mut line = Watched::new(10);
    line.join(100);
    line.seconds(120);
    let turns = line.history.turns().clone();
    assert_eq!(turns.count(), 100);
    // Ten do not wait, ten each wait 9, 19, 29 … 89 s.
    assert_eq!(turns.buckets[..6], [10, 0, 10, 20, 30, 30]);
    let mean = turns.sum_s / 100.0;
    assert!((44.0..46.0).contains(&mean), "{mean}");
    line.seconds(20_000);
    assert_eq!(
        *line.history.turns(),
        turns,
        "the window passes, the count stays"
    );
    line.join(10);
    line.seconds(30);
    assert_eq!(line.history.turns().count(), 110);
}

#[test]
fn who_enters_at_once_has_not_waited() {
    let mut line = Watched::new(1_000);
    line.seconds(5);
    line.join(50);
    line.seconds(5);
    let waits = line.history.waits(HOUR);
    assert_eq!((waits.count, waits.max), (50, Duration::ZERO));
}

#[test]
fn who_joined_before_anybody_looked_is_left_out() {
    let mut line = Watched::new(10);
    line.join(30);
    line.history = History::default();
    line.look();
    line.seconds(60);
    assert_eq!(line.history.waits(HOUR).count, 0);
}

#[test]
fn estimates_are_graded_by_what_came_of_them() {
    let mut line = Watched::new(10);
    line.join(100);
    line.seconds(120);
    let right = line.history.grade(HOUR);
    assert!(right.count > 50, "{right:?}");
    assert!(right.mean_abs_error_s < 1.0, "{right:?}");
    assert!(right.within_band > 0.99, "{right:?}");
}

#[test]
fn an_estimate_that_was_too_short_counts_against() {
    let mut line = Watched::new(10);
    line.join(100);
    line.seconds(15);
    line.room.apply(Command::Pause, line.clock);
    line.seconds(60);
    line.room.apply(Command::Resume, line.clock);
    line.seconds(120);
    let wrong = line.history.grade(HOUR);
    assert!(wrong.mean_error_s < -5.0, "{wrong:?}");
    assert!(wrong.within_band < 0.9, "{wrong:?}");
}

#[test]
fn rates_are_per_minute_of_the_window() {
    let mut line = Watched::new(10);
    for _ in 0..60 {
        line.join(2);
        line.seconds(1);
    }
    let rates = line.history.rates(Duration::from_secs(30));
    assert!((rates.joined - 120.0).abs() < 1.0, "{rates:?}");
    assert!((rates.admitted - 60.0).abs() < 1.0, "{rates:?}");
    assert!(rates.left.abs() < f64::EPSILON, "{rates:?}");
    assert_eq!(History::default().rates(HOUR), Rates::default());
}

#[test]
fn a_long_night_takes_no_more_memory_than_a_short_one() {
    let mut line = Watched::new(10);
    line.join(20_000);
    line.seconds(20_000);
    assert!(line.history.looks().count() <= RECENT_MAX + OLDER_MAX);
    let first = line.history.looks().next().expect("there are looks");
    assert_eq!(first.at, START, "the beginning is remembered");
    let waits = line.history.waits(HOUR * 24);
    assert_eq!(waits.count, 20_000, "nobody is left out");
    let spread = waits.p50.as_secs_f64() / 10_000.0;
    assert!((0.95..1.05).contains(&spread), "{waits:?}");
}

#[test]
fn a_room_that_begins_again_has_no_history() {
    let mut line = Watched::new(10);
    line.join(30);
    line.seconds(30);
    line.room.apply(Command::Delete, line.clock);
    let policy = Arc::new(policy());
    line.room.apply(
        Command::Create {
            policy,
            digest: None,
        },
        line.clock,
    );
    line.seconds(1);
    assert_eq!(line.history.looks().count(), 1);
    assert_eq!(line.room.header().issued, Ordinal(0));
}
