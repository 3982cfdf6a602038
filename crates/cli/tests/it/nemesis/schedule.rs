//! What goes wrong when, drawn from a seed.

use std::{fmt, time::Duration};

use ropeline_testing::Persistence;

use super::{
    dice::Dice,
    fault::{Fault, Topology},
};

/// Into the rush, and while people are let in.
const FIRST_MS: u64 = 2_500;
/// No fault begins later.
const LAST_MS: u64 = 10_000;
/// No fault lasts longer than until then.
const OVER_MS: u64 = 15_000;
/// Of a hundred faults, so many come close to the beginning or the end of another one.
const CLOSE: u64 = 70;
/// So close.
const CLOSE_MS: u64 = 1_500;
/// Between two faults that need the same part of the system.
const BETWEEN: Duration = Duration::from_millis(500);

/// Everything that is decided before a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) seed: u64,
    pub(super) topology: Topology,
    pub(super) persistence: Persistence,
    /// As the setting is written.
    pub(super) durability: &'static str,
    pub(super) faults: Vec<Planned>,
}

/// A fault and its time, since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) begins: Duration,
    pub(super) lasts: Duration,
    pub(super) fault: Fault,
}

impl Schedule {
    /// The same seed gives the same schedule.
    pub(super) fn draw(seed: u64, topology: Topology) -> Self {
        let mut dice = Dice::new(seed);
        let mut schedule = Self {
            seed,
            topology,
            persistence: dice.pick(&[Persistence::Always, Persistence::None]),
            durability: match topology {
                Topology::Standalone | Topology::Apart => "1",
                Topology::Sentinel | Topology::Cluster => dice.pick(&["1", "1", "1", "\"all\""]),
            },
            faults: Vec::new(),
        };
        let count = dice.roll(2..=4);
        while (schedule.faults.len() as u64) < count {
            let planned = schedule.draw_next(&mut dice);
            let mut others = schedule.faults.iter();
            if !others.any(|other| planned.disturbs(other)) {
                schedule.faults.push(planned);
            }
        }
        schedule.faults.sort_by_key(|planned| planned.begins);
        schedule
    }

    fn draw_next(&self, dice: &mut Dice) -> Planned {
        let fault = Fault::draw(dice, self.topology);
        let begins = match &self.faults[..] {
            [] => dice.roll(FIRST_MS..=2 * FIRST_MS),
            others if dice.happens(CLOSE) => {
                let other = dice.pick(others);
                let edge = dice.pick(&[other.begins, other.ends()]);
                let edge = u64::try_from(edge.as_millis()).expect("a run is short");
                (edge + dice.roll(0..=2 * CLOSE_MS)).saturating_sub(CLOSE_MS)
            }
            _ => dice.roll(FIRST_MS..=LAST_MS),
        };
        let begins = begins.clamp(FIRST_MS, LAST_MS);
        let lasts = dice.roll(fault.lasts_ms()).min(OVER_MS - begins);
        Planned {
            begins: Duration::from_millis(begins),
            lasts: Duration::from_millis(lasts),
            fault,
        }
    }
}

impl Planned {
    pub(super) fn ends(&self) -> Duration {
        self.begins + self.lasts
    }

    /// Whether both need the same part of the system at the same time.
    fn disturbs(&self, other: &Self) -> bool {
        let parts = self.fault.parts();
        let mut shared = other.fault.parts().into_iter();
        shared.any(|part| parts.contains(&part))
            && self.begins <= other.ends() + BETWEEN
            && other.begins <= self.ends() + BETWEEN
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seed,
            topology,
            persistence,
            durability,
            faults,
        } = self;
        write!(
            f,
            "seed {seed}, {topology}, persistence {persistence:?}, durability {durability}"
        )?;
        for Planned {
            begins,
            lasts,
            fault,
        } in faults
        {
            let (begins, lasts) = (begins.as_secs_f64(), lasts.as_secs_f64());
            write!(f, "\n  at {begins:6.2} s for {lasts:5.2} s  {fault}")?;
        }
        Ok(())
    }
}

#[test]
fn a_seed_gives_the_same_schedule_again_and_another_seed_another_one() {
    let draw = |seed| Schedule::draw(seed, Topology::Sentinel);
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7).faults, draw(8).faults);
}

#[test]
fn no_two_faults_of_a_schedule_need_the_same_part_at_the_same_time() {
    for seed in 0..500 {
        let faults = Schedule::draw(seed, Topology::Cluster).faults;
        assert!((2..=4).contains(&faults.len()));
        for (at, planned) in faults.iter().enumerate() {
            assert!(planned.ends() <= Duration::from_millis(OVER_MS));
            let disturbed = faults[..at].iter().any(|other| planned.disturbs(other));
            assert!(!disturbed, "seed {seed}: {planned:?}");
        }
    }
}
