//! What those who lined up before a paused room notice of its opening, if they ask when they are told to.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    time::Duration,
};

use ropeline_core::{
    Bounds, Command, Holder, Identity, Joiner, Live, Located, Ordinal, Pace, Policy, Room,
    Standing, Timestamp, UserId, View, Visitor, forecast, poll_after,
};
use ropeline_testing::line::START;

use crate::plain::server;

const VISITORS: u64 = 1_000;
/// They line up over so long, and the doors open after so long again.
const LINING_UP_MS: u64 = 60_000;

/// When a visitor with so many ahead asks again.
type Rule = fn(&View, u64, Timestamp, u64) -> Duration;

fn present_rule(view: &View, ahead: u64, now: Timestamp, salt: u64) -> Duration {
    let turn = view.turn(ahead);
    poll_after(view, turn, forecast(view, turn, now), now, salt)
}

/// The rule of earlier versions, which did not know how long a pause lasts.
fn earlier_rule(view: &View, ahead: u64, now: Timestamp, salt: u64) -> Duration {
    if view.header.paused {
        return Duration::from_millis(27_000 + salt.wrapping_mul(7_919) % 3_000);
    }
    present_rule(view, ahead, now, salt)
}

/// A visitor who was admitted, and when they knew.
#[derive(Clone, Copy)]
struct Entry {
    admitted: Timestamp,
    knew: Timestamp,
}

/// What is to happen, in the order of time.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Join,
    Resume,
    Settle,
    Poll(u64),
    Finish(u64),
}

struct Opening {
    room: Room,
    pace: Pace,
    rule: Rule,
    events: BinaryHeap<Reverse<(Timestamp, Event)>>,
    entries: Vec<Option<Entry>>,
    /// Visitors stay inside for as long as these say, in turn.
    stays: VecDeque<Duration>,
}

impl Opening {
    fn of(batch: Option<u64>, active_max: Option<u64>, rule: Rule) -> Vec<Entry> {
        let policy = Policy {
            every: Duration::from_secs(5),
            batch,
            active_max,
            pass_ttl: Duration::from_secs(300),
            pass_max: Duration::from_secs(1_800),
            presence_ttl: Duration::from_secs(90),
            missed_turn_ttl: Duration::from_secs(600),
            waiting_max: 1_000_000,
            identity: Identity::Open,
        };
        let mut opening = Self {
            room: Room::new(policy, server(0), START, Bounds::default()),
            pace: Pace::default(),
            rule,
            events: BinaryHeap::new(),
            entries: vec![None; usize::try_from(VISITORS).unwrap()],
            stays: (3..=9).map(Duration::from_secs).collect(),
        };
        opening.room.apply(Command::Pause, START);
        // More of them come at first.
        for number in 0..VISITORS {
            let spread = number * LINING_UP_MS / VISITORS;
            opening.at(
                Timestamp(START.0 + spread * spread / LINING_UP_MS),
                Event::Join,
            );
        }
        opening.at(Timestamp(START.0 + 2 * LINING_UP_MS + 1_234), Event::Resume);
        opening.run();
        opening.entries.into_iter().map(Option::unwrap).collect()
    }

    fn at(&mut self, time: Timestamp, event: Event) {
        self.events.push(Reverse((time, event)));
    }

    fn run(&mut self) {
        while let Some(Reverse((now, event))) = self.events.pop() {
            self.settle(now);
            match event {
                Event::Join => self.join(now),
                Event::Resume => {
                    self.room.apply(Command::Resume, now);
                    self.at(now, Event::Settle);
                }
                Event::Settle if self.room.view(now).waiting() > 0 => {
                    self.at(now + Duration::from_millis(100), Event::Settle);
                }
                Event::Settle => {}
                Event::Poll(number) => self.poll(number, now),
                Event::Finish(number) => {
                    self.room.apply(Command::Finish(holder(number)), now);
                }
            }
        }
    }

    fn settle(&mut self, now: Timestamp) {
        if self.room.next_due().is_some_and(|due| due <= now) {
            self.room.apply(Command::Settle, now);
        }
        self.pace.observe(&self.room.view(now));
    }

    fn join(&mut self, now: Timestamp) {
        let number = self.room.header().issued.0 + 1;
        let visitor = holder(number).visitor;
        self.room
            .apply(Command::Join(vec![Joiner { visitor, key: None }]), now);
        self.ask_again(number, now);
    }

    fn poll(&mut self, number: u64, now: Timestamp) {
        self.room.apply(Command::Mark(vec![Ordinal(number)]), now);
        if let Standing::Live(Live::Inside(pass)) = self.room.standing(&holder(number), now) {
            self.entries[usize::try_from(number).unwrap() - 1] = Some(Entry {
                admitted: pass.since,
                knew: now,
            });
            let stay = self.stays[0];
            self.stays.rotate_left(1);
            return self.at(now + stay, Event::Finish(number));
        }
        self.ask_again(number, now);
    }

    fn ask_again(&mut self, number: u64, now: Timestamp) {
        let mut view = self.room.view(now);
        view.pace = self.pace;
        let ahead = match view.locate(Ordinal(number)) {
            Located::InLine { ahead, .. } => ahead,
            _ => 0,
        };
        let salt = number ^ view.header.version.rotate_left(32);
        let after = (self.rule)(&view, ahead, now, salt);
        self.at(now + after, Event::Poll(number));
    }
}

fn holder(number: u64) -> Holder {
    Holder {
        visitor: Visitor::stated(&UserId::parse(&number.to_string()).unwrap()),
        ordinal: Ordinal(number),
    }
}

/// The share of visitors who knew late, and of pairs of whom the one behind knew long before the one ahead.
fn judged(entries: &[Entry]) -> (f64, f64) {
    let late = |entry: &&Entry| entry.knew.since(entry.admitted) > Duration::from_millis(2_500);
    let late = entries.iter().filter(late).count();
    let overtaken = |ahead: usize| {
        let knew_first =
            |behind: &&Entry| behind.knew.until(entries[ahead].knew) > Duration::from_millis(1_500);
        entries[ahead + 1..].iter().filter(knew_first).count()
    };
    let overtaken: usize = (0..entries.len()).map(overtaken).sum();
    let pairs = entries.len() * (entries.len() - 1) / 2;
    (share(late, entries.len()), share(overtaken, pairs))
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn share(some: usize, all: usize) -> f64 {
    some as f64 / all as f64
}

/// A room that admits 50 every 5 s, one that keeps 200 inside, and the default room, which does both.
const ROOMS: [(Option<u64>, Option<u64>); 3] =
    [(Some(50), None), (None, Some(200)), (Some(50), Some(200))];

#[test]
fn after_a_resume_visitors_know_of_their_turn_soon_and_in_order() {
    for (batch, active_max) in ROOMS {
        let (late, overtaken) = judged(&Opening::of(batch, active_max, present_rule));
        println!("{batch:?} {active_max:?}: {late:.4} late, {overtaken:.5} of pairs overtaken");
        assert!(late <= 0.05, "{late} with {batch:?} and {active_max:?}");
        assert!(
            overtaken < 0.01,
            "{overtaken} with {batch:?} and {active_max:?}"
        );
    }
}

/// Otherwise the story above would prove nothing.
#[test]
fn with_the_rule_of_earlier_versions_the_first_in_line_would_have_known_last() {
    for (batch, active_max) in ROOMS {
        let (late, overtaken) = judged(&Opening::of(batch, active_max, earlier_rule));
        println!("{batch:?} {active_max:?}: {late:.4} late, {overtaken:.5} of pairs overtaken");
        assert!(late > 0.05 || overtaken >= 0.01, "{late} {overtaken}");
    }
}
