//! What the writer is asked and has not taken yet.
//!
//! A channel would keep room for as many requests as may ever wait, and go through all of it; here the few that wait
//! stay in the same few kilobytes, and are taken all at once.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::writer::Op;

/// Requests that may wait; beyond this they are refused at once.
const WAITING_MAX: usize = 65_536;

/// Where requests are left for the writer.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    state: Mutex<State>,
    /// Something was left for a writer that waits.
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Op>,
    writer_waits: bool,
    /// Nobody takes anything any more.
    closed: bool,
}

/// Why a request was not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unheard {
    Full,
    Closed,
}

impl Inbox {
    /// Leaves a request. The word to close finds room always.
    pub(super) fn put(&self, op: Op) -> Result<(), Unheard> {
        let mut state = self.state();
        if state.closed {
            return Err(Unheard::Closed);
        }
        if state.waiting.len() >= WAITING_MAX && !matches!(op, Op::Close { .. }) {
            return Err(Unheard::Full);
        }
        state.waiting.push(op);
        let writer_waits = std::mem::take(&mut state.writer_waits);
        drop(state);
        if writer_waits {
            self.arrived.notify_one();
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The writer's end. When it is dropped, also by a panic, whoever waits for an answer hears that there is none.
#[derive(Debug)]
pub(super) struct Taker(Arc<Inbox>);

impl Taker {
    pub(super) fn of(inbox: &Arc<Inbox>) -> Self {
        Self(Arc::clone(inbox))
    }

    /// Waits for requests, but no longer than so, and takes up to `most` of them behind the others in `ops`.
    pub(super) fn take(&self, ops: &mut Vec<Op>, most: usize, wait: Duration) {
        let mut state = self.0.state();
        state.writer_waits = true;
        let nothing = |state: &mut State| state.waiting.is_empty();
        let waited = self.0.arrived.wait_timeout_while(state, wait, nothing);
        (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.writer_waits = false;
        let taken = most.min(state.waiting.len());
        ops.extend(state.waiting.drain(..taken));
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.closed = true;
        state.waiting = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::couriers::Couriers;

    fn close() -> Op {
        let (answer, _) = Couriers::default().asker();
        Op::Close { answer }
    }

    fn discard() -> Op {
        let (answer, _) = Couriers::default().asker();
        let deed = super::super::carry::Deed::Discard(ropeline_core::RoomId::main());
        Op::Carry { deed, answer }
    }

    #[test]
    fn requests_are_taken_in_order_and_no_more_than_asked_for() {
        let inbox = Arc::new(Inbox::default());
        let taker = Taker::of(&inbox);
        for op in [discard(), discard(), close()] {
            inbox.put(op).unwrap();
        }
        let mut ops = Vec::new();
        taker.take(&mut ops, 2, Duration::MAX);
        assert_eq!(ops.len(), 2);
        taker.take(&mut ops, 2, Duration::MAX);
        assert!(matches!(ops[2], Op::Close { .. }));
        taker.take(&mut ops, 2, Duration::ZERO);
        assert_eq!(ops.len(), 3);
    }

    #[test]
    fn a_writer_that_waits_is_woken() {
        let inbox = Arc::new(Inbox::default());
        let taker = Taker::of(&inbox);
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| {
                let mut ops = Vec::new();
                taker.take(&mut ops, 1, Duration::MAX);
                ops.len()
            });
            inbox.put(discard()).unwrap();
            assert_eq!(taken.join().unwrap(), 1);
        });
    }

    #[test]
    fn a_full_inbox_takes_nothing_but_the_word_to_close() {
        let inbox = Arc::new(Inbox::default());
        let _taker = Taker::of(&inbox);
        for _ in 0..WAITING_MAX {
            inbox.put(discard()).unwrap();
        }
        assert_eq!(inbox.put(discard()), Err(Unheard::Full));
        assert_eq!(inbox.put(close()), Ok(()));
    }

    #[test]
    fn who_asks_a_writer_that_is_gone_hears_so() {
        let inbox = Arc::new(Inbox::default());
        let taker = Taker::of(&inbox);
        let (answer, mut answered) = Couriers::default().asker();
        inbox.put(Op::Close { answer }).unwrap();
        drop(taker);
        assert!(answered.try_recv().is_err());
        assert_eq!(inbox.put(discard()), Err(Unheard::Closed));
    }
}
