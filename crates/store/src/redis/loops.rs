//! Which event loop asks. Each has connections and queues of its own, so that a request, the call that carries it and
//! the answer stay on one core: to wake another takes longer than many a request does.

use std::sync::{Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio::{
    runtime::{Handle, Id},
    sync::mpsc::{self, error::TrySendError},
};

/// Event loops that have something of their own; more than these share it.
pub(super) const LOOPS: usize = 16;
/// Requests that may wait in a queue; beyond this they are refused at once.
const QUEUE_MAX: usize = 65_536;

/// The event loops, in the order in which they have asked first.
#[derive(Debug, Default)]
pub(super) struct Loops(ArcSwap<Vec<Id>>);

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LoopNumber(pub(super) usize);

impl Loops {
    /// The one that asks now.
    pub(super) fn current(&self) -> LoopNumber {
        let id = Handle::current().id();
        let known = |loops: &[Id]| loops.iter().position(|known| *known == id);
        let number = known(&self.0.load()).unwrap_or_else(|| {
            self.0.rcu(|loops| {
                let new = known(loops).is_none().then_some(id);
                loops.iter().copied().chain(new).collect::<Vec<_>>()
            });
            known(&self.0.load()).expect("it was added")
        });
        LoopNumber(number % LOOPS)
    }
}

/// What was asked and not yet sent, a queue for each event loop.
#[derive(Debug)]
pub(super) struct Queues<T>([Mutex<Option<mpsc::Sender<T>>>; LOOPS]);

impl<T> Default for Queues<T> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl<T> Queues<T> {
    /// Queues a request. Where nobody takes from the queue, `begin` sees to it that somebody does.
    pub(super) fn send(
        &self,
        at: LoopNumber,
        request: T,
        begin: impl FnOnce(mpsc::Receiver<T>),
    ) -> Result<(), TrySendError<T>> {
        let mut queue = self.0[at.0].lock().unwrap_or_else(PoisonError::into_inner);
        let taken_from = queue.take().filter(|queue| !queue.is_closed());
        let queue = queue.insert(taken_from.unwrap_or_else(|| {
            let (queue, requests) = mpsc::channel(QUEUE_MAX);
            begin(requests);
            queue
        }));
        queue.try_send(request)
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;

    fn event_loop() -> tokio::runtime::Runtime {
        Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn each_loop_has_its_number_and_more_than_there_is_room_for_share() {
        let loops = Loops::default();
        let runtimes: Vec<_> = (0..=LOOPS).map(|_| event_loop()).collect();
        for _ in 0..2 {
            let numbers = runtimes
                .iter()
                .map(|runtime| runtime.block_on(async { loops.current().0 }));
            assert!(numbers.eq((0..LOOPS).chain([0])));
        }
    }

    #[test]
    fn a_queue_that_nobody_takes_from_is_begun_anew() {
        let queues = Queues::default();
        let mut begun = Vec::new();
        for request in 1..=3 {
            queues
                .send(LoopNumber(1), request, |queue| begun.push(queue))
                .unwrap();
            if request == 2 {
                assert_eq!(begun[0].try_recv(), Ok(1));
                begun.clear();
            }
        }
        queues
            .send(LoopNumber(0), 4, |queue| begun.push(queue))
            .unwrap();
        let mut heard = begun.iter_mut().map(|queue| queue.try_recv().unwrap());
        assert!(heard.by_ref().eq([3, 4]));
    }
}
