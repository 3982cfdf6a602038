//! One line in the log for an outage, however often something is tried meanwhile.

use std::{error::Error, time::Duration};

use super::Trouble;

/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_secs(8);
/// The first.
const PAUSE: Duration = Duration::from_millis(500);

/// How something has gone of late.
#[derive(Debug)]
pub(super) struct Outage {
    what: &'static str,
    failures: u32,
}

impl Outage {
    pub(super) fn of(what: &'static str) -> Self {
        Self { what, failures: 0 }
    }

    /// Takes note of a try; says how long to pause before the next.
    pub(super) fn note(&mut self, outcome: &Result<(), Trouble>) -> Duration {
        let what = self.what;
        match outcome {
            Ok(()) if self.failures == 0 => {}
            Ok(()) => {
                tracing::info!(what, tries = self.failures, "the outage is over");
                self.failures = 0;
            }
            Err(trouble) => {
                if self.failures == 0 {
                    let error = trouble as &dyn Error;
                    tracing::warn!(what, error, "this cannot be done now; trying again");
                }
                self.failures = self.failures.saturating_add(1);
            }
        }
        self.pause()
    }

    fn pause(&self) -> Duration {
        match self.failures {
            0 => Duration::ZERO,
            failures => (PAUSE * (1 << failures.min(6).saturating_sub(1))).min(PAUSE_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use ropeline_gate::GateError;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_outage_is_two_lines_in_the_log_however_long_it_is() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone());
        let failed = Err(Trouble::Room(GateError::Away(PAUSE)));
        tracing::subscriber::with_default(subscriber.finish(), || {
            let mut outage = Outage::of("a test");
            outage.note(&Ok(()));
            for _ in 0..50 {
                outage.note(&failed);
            }
            outage.note(&Ok(()));
            outage.note(&Ok(()));
        });
        let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert_eq!(log.lines().count(), 2, "{log}");
        assert!(
            log.contains("cannot be asked") && log.contains("over"),
            "{log}"
        );
    }

    #[test]
    fn pauses_grow_to_a_limit_and_end_with_the_outage() {
        let mut outage = Outage::of("a test");
        let failed = Err(Trouble::Room(GateError::Away(PAUSE)));
        let pauses: Vec<_> = (0..8).map(|_| outage.note(&failed)).collect();
        assert_eq!(pauses[0], PAUSE);
        assert!(pauses.is_sorted());
        assert_eq!(pauses[7], PAUSE_MAX);
        assert_eq!(outage.note(&Ok(())), Duration::ZERO);
        assert_eq!(outage.note(&failed), PAUSE);
    }
}
