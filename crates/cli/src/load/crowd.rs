//! What all visitors of a crowd share.

use std::{
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use ropeline_core::RoomId;
use tokio::{sync::watch, time::Instant};

use super::{
    judge::{At, Judge, Span},
    tally::Tally,
    turn::Flight,
};
use crate::http::{Answer, Http};

#[derive(Debug)]
pub(crate) struct Crowd {
    pub(crate) http: Http,
    pub(crate) room: RoomId,
    /// Part of the `Idempotency-Key`s of this run.
    pub(crate) run: u64,
    start: Instant,
    pub(crate) flight: Flight,
    judge: Mutex<Judge>,
    tally: Mutex<Tally>,
    /// True once the run is to end; a reason if it cannot go on at all.
    stop: watch::Sender<Stop>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    No,
    /// Enough was seen.
    Enough,
    /// Nobody can join, and this is why.
    Refused(String),
}

impl Crowd {
    pub(crate) fn new(http: Http, room: RoomId, visitors: usize, run: u64) -> Self {
        Self {
            http,
            room,
            run,
            start: Instant::now(),
            flight: Flight::default(),
            judge: Mutex::new(Judge::new(visitors)),
            tally: Mutex::new(Tally::new(visitors)),
            stop: watch::Sender::new(Stop::No),
        }
    }

    pub(crate) fn judge(&self) -> MutexGuard<'_, Judge> {
        self.judge.lock().expect("nobody panics while judging")
    }

    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().expect("nobody panics while counting")
    }

    pub(crate) fn now(&self) -> At {
        self.start.elapsed()
    }

    pub(crate) fn span(&self, answer: &Answer) -> Span {
        Span {
            asked: answer.asked.duration_since(self.start),
            answered: answer.answered.duration_since(self.start),
        }
    }

    /// Ends the run; the first reason stays.
    pub(crate) fn stop(&self, reason: Stop) {
        self.stop.send_if_modified(|stop| {
            let first = *stop == Stop::No;
            if first {
                *stop = reason;
            }
            first
        });
    }

    pub(crate) fn stopped(&self) -> Stop {
        self.stop.borrow().clone()
    }

    /// Waits until the run ends.
    pub(crate) async fn end(&self) {
        let mut stop = self.stop.subscribe();
        // The sender is in here, so it is there as long as anybody waits.
        stop.wait_for(|stop| *stop != Stop::No).await.ok();
    }

    /// What was measured so far was preparation.
    pub(crate) fn measure_from_here(&self) {
        self.flight.forget();
        self.tally().forget();
    }

    /// Passes the time; `false` if the run ended meanwhile.
    pub(crate) async fn rest(&self, span: Duration) -> bool {
        let slept = self.unless_stopped(tokio::time::sleep(span));
        slept.await.is_some()
    }

    /// Awaits something; `None` if the run ended meanwhile.
    pub(crate) async fn unless_stopped<T>(&self, awaited: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            came = awaited => Some(came),
            () = self.end() => None,
        }
    }
}
