//! How fast people have left lately, and how many were absent at their turn.

use std::time::Duration;

use crate::{Policy, Timestamp, View};

/// So many departures seen before anybody looked, each after the stay that the policy is made for: what is
/// assumed of a room that nothing is known about yet.
const PRIOR_DEPARTURES: f64 = 5.0;
/// And so many seconds of waiting in which nobody gave up.
const PRIOR_WAITING_S: f64 = 3_600.0;
/// So many turns seen with everybody present, likewise.
const PRIOR_TURNS: f64 = 20.0;
/// Looks closer together than this are put off.
const LOOK_MIN: Duration = Duration::from_millis(200);

/// Departures per person and second inside, and missed turns per turn, older ones counting less.
///
/// Counting per person inside, and not per second alone, makes what was learnt with three people inside
/// hold for two hundred.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pace {
    last: Option<Look>,
    departures: f64,
    person_seconds: f64,
    turns: f64,
    missed_turns: f64,
    given_up: f64,
    waiting_seconds: f64,
}

#[derive(Debug, Clone, Copy)]
struct Look {
    at: Timestamp,
    inside: u64,
    departed: u64,
    admitted: u64,
    stepped_over: u64,
    waiting: u64,
    left: u64,
}

impl Pace {
    /// Takes in what has happened up to this view. What is older than a few `pass_ttl`s fades.
    pub fn observe(&mut self, view: &View) {
        let counters = &view.header.counters;
        let look = Look {
            at: view.as_of,
            inside: view.inside,
            departed: counters.departed,
            admitted: counters.admitted,
            stepped_over: counters.stepped_over,
            waiting: view.waiting(),
            left: counters.left,
        };
        let Some(last) = self.last else {
            self.last = Some(look);
            return;
        };
        let elapsed = look.at.since(last.at);
        if elapsed < LOOK_MIN {
            return;
        }
        let half_life = view.header.policy.pass_ttl.as_secs_f64();
        let keep = (-elapsed.as_secs_f64() / half_life).exp2();
        let inside = count(last.inside).midpoint(count(look.inside));
        let missed = count(look.stepped_over.saturating_sub(last.stepped_over));
        let entered = count(look.admitted.saturating_sub(last.admitted));
        let departed = count(look.departed.saturating_sub(last.departed));
        self.departures = self.departures * keep + departed;
        self.person_seconds = self.person_seconds * keep + inside * elapsed.as_secs_f64();
        let waiting = count(last.waiting).midpoint(count(look.waiting));
        let given_up = count(look.left.saturating_sub(last.left));
        self.given_up = self.given_up * keep + given_up;
        self.waiting_seconds = self.waiting_seconds * keep + waiting * elapsed.as_secs_f64();
        self.turns = self.turns * keep + entered + missed;
        self.missed_turns = self.missed_turns * keep + missed;
        self.last = Some(look);
    }

    /// How long a visitor stays inside, on average, bounded by what the policy makes possible.
    pub(crate) fn mean_stay_s(&self, view: &View) -> f64 {
        let policy = &view.header.policy;
        let assumed = PRIOR_DEPARTURES * planned_stay_s(policy);
        let stay = (self.person_seconds + assumed) / (self.departures + PRIOR_DEPARTURES);
        let longest = if policy.pass_max.is_zero() {
            f64::MAX
        } else {
            policy.pass_max.as_secs_f64()
        };
        stay.clamp(0.1, longest)
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
        1.0 / (self.departures + PRIOR_DEPARTURES).sqrt()
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
