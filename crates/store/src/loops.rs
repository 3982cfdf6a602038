//! Which event loop asks. Each has queues of its own, and connections where it needs some, so that a request, the call
//! that carries it and the answer stay on one core: to wake another takes longer than many a request does.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use arc_swap::ArcSwap;
use tokio::{
    runtime::{Handle, Id},
    sync::mpsc::{self, error::TrySendError},
};

/// Event loops that have something of their own; more than these share it.
pub(crate) const LOOPS: usize = 16;
/// What may wait in a queue; beyond this it is refused at once.
const QUEUE_MAX: usize = 65_536;

/// The event loops, in the order in which they have asked first.
#[derive(Debug, Default)]
pub(crate) struct Loops(ArcSwap<Vec<Id>>);

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoopNumber(pub(crate) usize);

impl Loops {
    /// The one that asks now.
    pub(crate) fn current(&self) -> LoopNumber {
        self.number_of(&Handle::current())
    }

    /// The one that this runtime is.
    pub(crate) fn number_of(&self, runtime: &Handle) -> LoopNumber {
        let id = runtime.id();
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

/// A queue for each event loop.
#[derive(Debug)]
pub(crate) struct Queues<T> {
    each: [Apart<Mutex<Option<mpsc::Sender<T>>>>; LOOPS],
    closed: AtomicBool,
}

/// On cache lines of its own, which no other loop takes away from the core that it is used on.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

impl<T> Default for Queues<T> {
    fn default() -> Self {
        Self {
            each: std::array::from_fn(|_| Apart::default()),
            closed: AtomicBool::new(false),
        }
    }
}

impl<T> Queues<T> {
    /// Where nobody takes from a queue, lets `begin` see to it that somebody does.
    pub(crate) fn open(&self, at: LoopNumber, begin: impl FnOnce(mpsc::Receiver<T>)) {
        let mut queue = self.queue(at);
        let lacks_taker = queue.as_ref().is_none_or(mpsc::Sender::is_closed);
        if lacks_taker && !self.closed.load(Ordering::Acquire) {
            let (sender, receiver) = mpsc::channel(QUEUE_MAX);
            begin(receiver);
            *queue = Some(sender);
        }
    }

    /// Adds to a queue that was opened.
    pub(crate) fn send(&self, at: LoopNumber, one: T) -> Result<(), TrySendError<T>> {
        match &*self.queue(at) {
            Some(queue) => queue.try_send(one),
            None => Err(TrySendError::Closed(one)),
        }
    }

    /// Lets those who take from the queues come to an end; none is opened any more.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        for at in (0..LOOPS).map(LoopNumber) {
            *self.queue(at) = None;
        }
    }

    fn queue(&self, at: LoopNumber) -> MutexGuard<'_, Option<mpsc::Sender<T>>> {
        self.each[at.0]
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
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
        let here = LoopNumber(1);
        assert!(queues.send(here, 0).is_err());
        for one in 1..=3 {
            queues.open(here, |queue| begun.push(queue));
            queues.send(here, one).unwrap();
            if one == 2 {
                assert_eq!(begun.len(), 1);
                assert_eq!(begun.remove(0).try_recv(), Ok(1));
                assert!(queues.send(here, 0).is_err());
            }
        }
        queues.open(LoopNumber(0), |queue| begun.push(queue));
        queues.send(LoopNumber(0), 4).unwrap();
        let heard = begun.iter_mut().map(|queue| queue.try_recv().unwrap());
        assert!(heard.eq([3, 4]));
        queues.close();
        queues.open(here, |queue| begun.push(queue));
        assert_eq!(begun.len(), 2);
        assert!(queues.send(here, 5).is_err());
        assert!(
            begun
                .iter_mut()
                .all(|queue| queue.blocking_recv().is_none())
        );
    }
}
