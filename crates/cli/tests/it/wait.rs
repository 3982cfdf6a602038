//! Time and chance of the machine that runs the tests.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    ops::RangeInclusive,
    thread,
    time::{Duration, Instant},
};

/// Between two looks at something that is awaited.
pub(crate) const LOOK: Duration = Duration::from_millis(5);

/// Time that never runs back, from a moment of the test's own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(
        clippy::disallowed_methods,
        reason = "a process under test lives in real time"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Looks until there is something to see.
#[track_caller]
pub(crate) fn until<T>(limit: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let watch = Stopwatch::start();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(watch.elapsed() < limit, "{what}: not within {limit:?}");
        thread::sleep(LOOK);
    }
}

/// A number that nobody foresees.
pub(crate) fn any_of(range: RangeInclusive<u64>) -> u64 {
    let chance = RandomState::new().build_hasher().finish();
    range.start() + chance % (range.end() - range.start() + 1)
}
