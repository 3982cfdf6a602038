//! How fast people have left lately, and how many were absent at their turn.

use std::time::Duration;

use crate::{Counters, Policy, Timestamp, View};

/// So many departures seen before anybody looked, each after the stay that the policy is made for: what is
/// assumed of a room that nothing is known about yet.
const PRIOR_DEPARTURES: f64 = 5.0;
/// So many passes that have ever ended here tell more than the policy.
const DEPARTED_MIN: u64 = 20;
/// And so many seconds of waiting in which nobody gave up.
const PRIOR_WAITING_S: f64 = 3_600.0;
/// So many turns seen with everybody present, likewise.
const PRIOR_TURNS: f64 = 20.0;
/// Looks closer together than this are put off.
const LOOK_MIN: Duration = Duration::from_millis(200);

/// Departures and stays, missed turns and those who gave up, older ones counting less.
///
/// What is learnt is per person, and not per second alone, so that what was learnt with three people inside
/// holds for two hundred.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pace {
    last: Option<Look>,
    departures: f64,
    /// Seconds spent inside by anybody.
    person_seconds: f64,
    /// Seconds spent inside by those who have left.
    stayed_seconds: f64,
    /// How long those who are inside have been there, all together.
    ages_s: f64,
    turns: f64,
    missed_turns: f64,
    given_up: f64,
    waiting_seconds: f64,
}

#[derive(Debug, Clone, Copy)]
struct Look {
    at: Timestamp,
    inside: u64,
    waiting: u64,
    counters: Counters,
}

impl Pace {
    /// Takes in what has happened up to this view. What is older than a few `pass_ttl`s fades.
    pub fn observe(&mut self, view: &View) {
        // Every commit comes here, and most of them are too soon.
        let elapsed = self.last.map(|last| view.as_of.since(last.at));
        if elapsed.is_some_and(|elapsed| elapsed < LOOK_MIN) {
            return;
        }
        let look = Look {
            at: view.as_of,
            inside: view.inside,
            waiting: view.waiting(),
            counters: view.header.counters,
        };
        if let (Some(last), Some(elapsed)) = (self.last, elapsed) {
            let half_life = view.header.policy.pass_ttl.as_secs_f64();
            self.fade((-elapsed.as_secs_f64() / half_life).exp2());
            self.add(&last, &look, elapsed.as_secs_f64());
        }
        self.last = Some(look);
    }

    fn fade(&mut self, keep: f64) {
        for figure in [
            &mut self.departures,
            &mut self.person_seconds,
            &mut self.stayed_seconds,
            &mut self.turns,
            &mut self.missed_turns,
            &mut self.given_up,
            &mut self.waiting_seconds,
        ] {
            *figure *= keep;
        }
    }

    fn add(&mut self, last: &Look, look: &Look, elapsed_s: f64) {
        let grown = |total: fn(&Counters) -> u64| {
            count(total(&look.counters).saturating_sub(total(&last.counters)))
        };
        let missed = grown(|counters| counters.stepped_over);
        let stayed = grown(|counters| counters.stayed_ms) / 1_000.0;
        let inside = count(last.inside).midpoint(count(look.inside)) * elapsed_s;
        let waiting = count(last.waiting).midpoint(count(look.waiting)) * elapsed_s;
        self.departures += grown(|counters| counters.departed);
        self.person_seconds += inside;
        self.stayed_seconds += stayed;
        self.turns += grown(|counters| counters.admitted) + missed;
        self.missed_turns += missed;
        self.given_up += grown(|counters| counters.left);
        self.waiting_seconds += waiting;
        self.ages_s = match look.inside {
            0 => 0.0,
            _ => (self.ages_s + inside - stayed).max(0.0),
        };
    }

    /// How long a visitor stays inside, on average, bounded by what the policy makes possible.
    ///
    /// While a room fills, those who have left are the quick ones, and time inside per departure counts
    /// those who have not had the time to leave: the truth lies between the two, and later they are the same.
    pub(crate) fn mean_stay_s(&self, view: &View) -> f64 {
        let policy = &view.header.policy;
        let guess = self.guessed_stay_s(view).ln();
        let [quick, slow] = self.seen_stays_ln().unwrap_or([guess, guess]);
        let seen = quick.midpoint(slow);
        // The more was seen, the less is guessed.
        let guessed = PRIOR_DEPARTURES / (1.0 + self.departures);
        let stay = (guess * guessed + seen * self.departures) / (guessed + self.departures);
        let longest = if policy.pass_max.is_zero() {
            f64::MAX
        } else {
            policy.pass_max.as_secs_f64()
        };
        stay.exp().clamp(0.1, longest)
    }

    /// Logarithms of the mean stay of those who have left, and of the time inside per departure.
    fn seen_stays_ln(&self) -> Option<[f64; 2]> {
        let per_departure = |seconds: f64| (seconds.max(0.1) / self.departures).ln();
        (self.departures > 0.0)
            .then(|| [self.stayed_seconds, self.person_seconds].map(per_departure))
    }

    /// Before anybody has left: as long as people stayed here in former times, else as the policy is made for;
    /// and as long again as those who are inside have been.
    fn guessed_stay_s(&self, view: &View) -> f64 {
        let Counters {
            departed,
            stayed_ms,
            ..
        } = view.header.counters;
        let known = if departed >= DEPARTED_MIN {
            count(stayed_ms) / 1_000.0 / count(departed)
        } else {
            planned_stay_s(&view.header.policy)
        };
        let mean_age = self.ages_s / count(view.inside.max(1));
        known.max(2.0 * mean_age).max(0.1)
    }

    /// The share of those ahead that are still there after waiting so long, on average over their wait.
    pub(crate) fn patient_share(&self, wait_s: f64, haste: f64) -> f64 {
        let hazard = haste * self.given_up / (self.waiting_seconds + PRIOR_WAITING_S);
        let exposed = hazard * wait_s;
        if exposed < 1e-6 {
            return 1.0;
        }
        (1.0 - (-exposed).exp()) / exposed
    }

    /// How far the mean stay may be off, as a share of itself.
    pub(crate) fn doubt(&self) -> f64 {
        let [quick, slow] = self.seen_stays_ln().unwrap_or_default();
        1.0 / (self.departures + 1.0).sqrt() + (slow - quick).abs() / 2.0
    }

    /// The share of turns that are missed.
    pub(crate) fn absent_share(&self) -> f64 {
        self.missed_turns / (self.turns + PRIOR_TURNS)
    }
}

/// The stay at which a policy's cap and batch let in equally many: what whoever chose both had in mind.
/// Without a batch, the longest that a pass lasts unused.
fn planned_stay_s(policy: &Policy) -> f64 {
    let ttl = policy.pass_ttl.as_secs_f64();
    match (policy.batch, policy.active_max) {
        (Some(batch), Some(cap)) => {
            (count(cap) * policy.every.as_secs_f64() / count(batch)).min(ttl)
        }
        _ => ttl,
    }
}

/// Counts are far below 2^52, where floats stop being exact.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of people are far below 2^52"
)]
pub(crate) fn count(n: u64) -> f64 {
    n as f64
}
