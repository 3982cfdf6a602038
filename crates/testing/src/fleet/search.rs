//! Many histories, on all cores.

use std::{
    collections::BTreeMap,
    fmt,
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use super::{Excuses, Promise, Schedule, Timeline, Trial, Violation, shrink};

/// A history that broke a promise.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its seed.
    pub seed: u64,
    /// What was broken.
    pub broken: Violation,
}

/// What came of many histories.
#[derive(Debug, Default)]
pub struct Report {
    /// How many.
    pub histories: u64,
    /// Places that were acknowledged in all of them.
    pub places: u64,
    /// Excuses that were made.
    pub excuses: Excuses,
    /// Those that broke a promise, by seed.
    pub found: BTreeMap<u64, Found>,
}

/// Plays the histories of all these seeds. `progress` is called after each.
pub fn search(seeds: Range<u64>, trial: &Trial, progress: impl Fn(&Report) + Sync) -> Report {
    let next = AtomicU64::new(seeds.start);
    let report = Mutex::new(Report::default());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let played = Schedule::random(seed).play(trial, Timeline::default());
                    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
                    report.histories += 1;
                    report.places += played.places;
                    report.excuses.add(&played.excuses);
                    if let Some(broken) = played.broken {
                        report.found.insert(seed, Found { seed, broken });
                    }
                    progress(&report);
                }
            });
        }
    });
    report.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Report {
    /// How often each promise was broken.
    pub fn broken(&self) -> BTreeMap<Promise, u64> {
        let mut broken = BTreeMap::new();
        for found in self.found.values() {
            *broken.entry(found.broken.promise).or_default() += 1;
        }
        broken
    }
}

impl Found {
    /// The history as short as it can be made, line by line.
    pub fn story(&self, trial: &Trial) -> String {
        let shrunk = shrink(&Schedule::random(self.seed), trial, self.broken.promise);
        let played = shrunk.play(trial, Timeline::kept());
        format!("seed {}\n{}", self.seed, played.timeline)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.found.len();
        writeln!(
            f,
            "{failed} of {} histories fail, {} places",
            self.histories, self.places
        )?;
        for (promise, count) in self.broken() {
            writeln!(f, "{count:>9}  {promise:?}")?;
        }
        self.excuses.fmt(f)
    }
}
