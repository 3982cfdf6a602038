//! The records of a run, and what happened in it.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ropeline_testing::history::{At, Kind, Recorder, Target, Turn};

/// The records of a run. Whoever brings a fault about tells all of them.
pub(super) struct Records<'a> {
    /// Of the room with the crowd.
    crowd: &'a Recorder,
    /// Of the room with those who never ask.
    silent: &'a Recorder,
    events: Mutex<Vec<(At, String)>>,
}

impl<'a> Records<'a> {
    pub(super) fn new(crowd: &'a Recorder, silent: &'a Recorder) -> Self {
        let events = Mutex::default();
        Self {
            crowd,
            silent,
            events,
        }
    }

    /// The moment of the run.
    pub(super) fn now(&self) -> At {
        self.crowd.now()
    }

    /// From before until after this is done, something is wrong.
    pub(super) fn during<T>(&self, kind: Kind, target: Target, what: impl FnOnce() -> T) -> T {
        self.note(kind, target, Turn::On);
        let result = what();
        self.note(kind, target, Turn::Off);
        result
    }

    fn note(&self, kind: Kind, target: Target, turn: Turn) {
        for recorder in [self.crowd, self.silent] {
            recorder.fault(kind, target, turn);
        }
    }

    /// The store has forgotten something since a moment of the run. From then on the line may wait for those who were
    /// lost, for longer than the run lasts.
    pub(super) fn forgot(&self, kind: Kind, since: At) {
        let ago = self.now().saturating_sub(since);
        for recorder in [self.crowd, self.silent] {
            recorder.fault_since(kind, Target::Store, ago);
            recorder.fault_since(Kind::Held, Target::Store, ago);
            recorder.fault(Kind::Held, Target::Store, Turn::On);
        }
    }

    /// Something that helps to understand the run.
    pub(super) fn tell(&self, what: impl Into<String>) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push((self.now(), what.into()));
    }

    /// What happened, line by line.
    pub(super) fn events(&self) -> Vec<String> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |(at, what): &(Duration, String)| format!("{:7.2} s  {what}", at.as_secs_f64());
        events.iter().map(line).collect()
    }
}
