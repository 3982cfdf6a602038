//! How good the estimates are that a crowd is told.

use std::{collections::VecDeque, time::Duration};

use ropeline_core::{
    Bounds, Command, Estimate, Holder, Identity, Joiner, Live, Located, Ordinal, Pace, Policy,
    Reply, Room, Standing, Timestamp, UserId, Visitor, estimate,
};
use ropeline_testing::line::START;

use crate::plain::server;

/// Everything in a story that is drawn comes from here.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

/// A room of the default policy before which a crowd of visitors arrives.
struct Sale {
    room: Room,
    pace: Pace,
    clock: Timestamp,
    dice: Dice,
    /// What each was told when they joined, and when that was.
    told: Vec<(Timestamp, Option<Estimate>)>,
    leaving: VecDeque<(Timestamp, Holder)>,
    inside: Vec<(Timestamp, Holder)>,
    waits: Vec<(Estimate, Duration)>,
    /// So many have been here before this crowd.
    first: u64,
    /// Instead of when they joined, what they are told so long after is judged.
    look_again_after: Duration,
    looked_again: usize,
}

/// How a crowd behaves.
struct Crowd {
    visitors: u64,
    per_second: u64,
    stay_s: std::ops::Range<u64>,
    leave_per_cent: u64,
}

impl Sale {
    fn new(batch: Option<u64>, cap: u64) -> Self {
        let policy = Policy {
            every: Duration::from_secs(5),
            batch,
            active_max: Some(cap),
            pass_ttl: Duration::from_secs(300),
            pass_max: Duration::from_secs(1_800),
            presence_ttl: Duration::ZERO,
            missed_turn_ttl: Duration::from_secs(600),
            waiting_max: 1_000_000,
            identity: Identity::Open,
        };
        Self {
            room: Room::new(policy, server(0), START, Bounds::default()),
            pace: Pace::default(),
            clock: START,
            dice: Dice(1),
            told: Vec::new(),
            leaving: VecDeque::new(),
            inside: Vec::new(),
            waits: Vec::new(),
            first: 0,
            look_again_after: Duration::ZERO,
            looked_again: 0,
        }
    }

    fn tell(&mut self, command: Command) -> Reply {
        let mut outcome = self.room.apply(command, self.clock);
        let reply = outcome.reply.clone();
        while outcome.more {
            outcome = self.room.apply(Command::Settle, self.clock);
        }
        reply
    }

    /// Runs until everybody was inside.
    fn run(&mut self, crowd: &Crowd) -> Vec<(Estimate, Duration)> {
        while (self.told.len() as u64) < crowd.visitors || !self.inside.is_empty() || self.waiting()
        {
            self.arrive(crowd);
            self.depart();
            self.clock = self.clock + Duration::from_millis(250);
            self.tell(Command::Settle);
            self.enter(crowd);
        }
        std::mem::take(&mut self.waits)
    }

    /// Another crowd comes after a while, to a server that was started anew.
    fn again(&mut self) {
        self.pace = Pace::default();
        self.told.clear();
        self.clock = self.clock + Duration::from_secs(3_600);
        self.tell(Command::Settle);
        self.first = self.room.header().issued.0;
    }

    fn waiting(&self) -> bool {
        self.room.view(self.clock).waiting() > 0
    }

    fn arrive(&mut self, crowd: &Crowd) {
        for _ in 0..crowd.per_second / 4 {
            if self.told.len() as u64 == crowd.visitors {
                return;
            }
            let holder = holder(self.first + self.told.len() as u64 + 1);
            let visitor = holder.visitor.clone();
            self.tell(Command::Join(vec![Joiner { visitor, key: None }]));
            let mut view = self.room.view(self.clock);
            self.pace.observe(&view);
            view.pace = self.pace;
            let ahead = view.waiting().checked_sub(1);
            let told = ahead.and_then(|ahead| estimate(&view, ahead, view.as_of));
            self.told.push((self.clock, told));
            if self.dice.below(100) < crowd.leave_per_cent {
                let wait = told.map_or(0, |told| told.wait.as_secs());
                let patience = Duration::from_secs(self.dice.below(wait.max(1)));
                self.leaving.push_back((self.clock + patience, holder));
            }
        }
    }

    fn depart(&mut self) {
        let now = self.clock;
        for _ in 0..self.leaving.len() {
            let (at, holder) = self.leaving.pop_front().unwrap();
            if at <= now {
                self.tell(Command::Leave(holder));
            } else {
                self.leaving.push_back((at, holder));
            }
        }
        let (done, inside) = self.inside.drain(..).partition(|(until, _)| *until <= now);
        self.inside = inside;
        let done: Vec<(Timestamp, Holder)> = done;
        for (_, holder) in done {
            self.tell(Command::Finish(holder));
        }
    }

    /// Notes who was let in since, and how long they had waited.
    fn enter(&mut self, crowd: &Crowd) {
        let head = self.room.header().head.0;
        let known: std::collections::BTreeSet<u64> = self
            .inside
            .iter()
            .map(|(_, holder)| holder.ordinal.0)
            .collect();
        for ordinal in head.saturating_sub(2_000).max(self.first + 1)..=head {
            let holder = holder(ordinal);
            let standing = self.room.standing(&holder, self.clock);
            let inside = matches!(standing, Standing::Live(Live::Inside(_)));
            if !inside || known.contains(&ordinal) {
                continue;
            }
            let at = usize::try_from(ordinal - self.first).unwrap() - 1;
            if let (joined, Some(told)) = self.told[at] {
                self.waits.push((told, self.clock.since(joined)));
            }
            let stay = crowd.stay_s.start + self.dice.below(crowd.stay_s.end - crowd.stay_s.start);
            self.inside
                .push((self.clock + Duration::from_secs(stay), holder));
        }
        self.pace.observe(&self.room.view(self.clock));
        self.look_again();
    }

    fn look_again(&mut self) {
        let mut view = self.room.view(self.clock);
        view.pace = self.pace;
        while let Some(told) = self.told.get_mut(self.looked_again) {
            if self.look_again_after.is_zero() || self.clock < told.0 + self.look_again_after {
                return;
            }
            let ordinal = Ordinal(self.first + self.looked_again as u64 + 1);
            let now = match view.locate(ordinal) {
                Located::InLine { ahead, .. } => estimate(&view, ahead, view.as_of),
                _ => None,
            };
            *told = (self.clock, now);
            self.looked_again += 1;
        }
    }
}

fn holder(n: u64) -> Holder {
    Holder {
        visitor: Visitor::stated(&UserId::parse(&n.to_string()).unwrap()),
        ordinal: Ordinal(n),
    }
}

/// The median error as a share of the wait, and the share of waits within the band, of those who waited for
/// at least ten seconds.
fn worth(waits: &[(Estimate, Duration)]) -> (f64, f64) {
    let long: Vec<_> = waits
        .iter()
        .filter(|(_, wait)| wait.as_secs() >= 10)
        .collect();
    assert!(long.len() > 100, "there is something to judge");
    let mut errors: Vec<f64> = long
        .iter()
        .map(|(told, wait)| (told.wait.as_secs_f64() / wait.as_secs_f64() - 1.0).abs())
        .collect();
    errors.sort_by(f64::total_cmp);
    let second = Duration::from_secs(1);
    let within = long.iter().filter(|(told, wait)| {
        (told.low.saturating_sub(second)..=told.high + second).contains(wait)
    });
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    let share = within.count() as f64 / long.len() as f64;
    (errors[errors.len() / 2], share)
}

fn crowd() -> Crowd {
    Crowd {
        visitors: 2_500,
        per_second: 400,
        stay_s: 2..6,
        leave_per_cent: 3,
    }
}

#[test]
fn a_crowd_before_a_room_that_nobody_knows_yet_is_told_the_pace_of_the_ticks() {
    let (error, within) = worth(&Sale::new(Some(50), 200).run(&crowd()));
    println!("cold, both limits: median error {error:.3}, {within:.3} within the band");
    assert!(error < 0.1, "{error}");
    assert!(within > 0.8, "{within}");
}

#[test]
fn a_crowd_behind_a_cap_is_told_the_pace_of_departures() {
    let slow = Crowd {
        visitors: 2_000,
        per_second: 40,
        stay_s: 20..60,
        ..crowd()
    };
    let mut sale = Sale::new(None, 200);
    let (cold, cold_within) = worth(&sale.run(&slow));
    sale.again();
    let (error, within) = worth(&sale.run(&slow));
    println!(
        "a cap alone: median error {cold:.3}, then {error:.3}; {cold_within:.3} and {within:.3} within the band"
    );
    assert!(cold_within > 0.6, "{cold_within}");
    assert!(error < 0.2, "{error}");
    assert!(within > 0.7, "{within}");
}

#[test]
fn a_crowd_whose_stays_are_longer_than_planned_is_told_so_soon() {
    let slow = Crowd {
        per_second: 40,
        visitors: 2_000,
        stay_s: 60..120,
        ..crowd()
    };
    let mut sale = Sale::new(Some(50), 200);
    sale.look_again_after = Duration::from_secs(90);
    let (error, within) = worth(&sale.run(&slow));
    println!("longer stays than planned: median error {error:.3}, {within:.3} within the band");
    assert!(error < 0.2, "{error}");
    assert!(within > 0.7, "{within}");
}
