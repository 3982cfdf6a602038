//! The way back from the writer. What one turn has for an event loop goes in one piece: every answer that is sent from
//! another thread wakes the loop by a call of the system, and one that is sent on it costs next to nothing.

use tokio::{
    runtime::Handle,
    sync::{
        mpsc::{Receiver, error::TrySendError},
        oneshot,
    },
};
use tokio_util::task::TaskTracker;

use super::writer::{Answer, Pending};
use crate::loops::{LOOPS, LoopNumber, Loops, Queues};

/// One on each event loop that has asked.
#[derive(Debug, Default)]
pub(super) struct Couriers {
    loops: Loops,
    bundles: Queues<Vec<Pending>>,
    tasks: TaskTracker,
}

/// Where an answer is awaited.
#[derive(Debug)]
pub(super) struct Asker<T> {
    answer: oneshot::Sender<Answer<T>>,
    /// On which event loop, if on any.
    pub(super) at: Option<LoopNumber>,
}

impl Couriers {
    /// Somebody who asks here and now, and what is answered.
    pub(super) fn asker<T>(&self) -> (Asker<T>, oneshot::Receiver<Answer<T>>) {
        let runtime = Handle::try_current().ok();
        let at = runtime.map(|runtime| self.loops.number_of(&runtime));
        if let Some(at) = at {
            let begin = |bundles| drop(self.tasks.spawn(deliver(bundles)));
            self.bundles.open(at, begin);
        }
        let (answer, answered) = oneshot::channel();
        (Asker { answer, at }, answered)
    }

    /// Waits until all that was sent has arrived; nothing is sent any more.
    pub(super) async fn close(&self) {
        self.bundles.close();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Brings all of these to those who wait for them.
    pub(super) fn send(&self, answers: Vec<Pending>) {
        let mut bundles: [Vec<Pending>; LOOPS] = Default::default();
        for answer in answers {
            match answer.at() {
                Some(at) => bundles[at.0].push(answer),
                None => answer.send(),
            }
        }
        for (at, bundle) in bundles.into_iter().enumerate() {
            if bundle.is_empty() {
                continue;
            }
            // If the loop has ended, they may have gone on elsewhere.
            if let Err(TrySendError::Closed(bundle) | TrySendError::Full(bundle)) =
                self.bundles.send(LoopNumber(at), bundle)
            {
                bundle.into_iter().for_each(Pending::send);
            }
        }
    }
}

impl<T> Asker<T> {
    /// Answers at once. Whoever asked may have gone; what was done stays done.
    pub(super) fn hear(self, answer: Answer<T>) {
        self.answer.send(answer).ok();
    }
}

async fn deliver(mut bundles: Receiver<Vec<Pending>>) {
    while let Some(bundle) = bundles.recv().await {
        bundle.into_iter().for_each(Pending::send);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tokio::runtime::{Builder, Runtime};

    use super::*;

    fn event_loop() -> Runtime {
        Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn everybody_hears_their_own_answer_on_whichever_loop_they_ask() {
        let couriers = Couriers::default();
        let loops = [event_loop(), event_loop()];
        let (mut answers, mut awaited) = (Vec::new(), Vec::new());
        for number in 0..20_usize {
            let at = &loops[number % 2];
            let (asker, answer) = at.block_on(async { couriers.asker() });
            answers.push(Pending::Whether(asker, number % 3 == 0));
            awaited.push((number, answer));
        }
        thread::scope(|scope| drop(scope.spawn(|| couriers.send(answers))));
        for (number, answer) in awaited {
            let heard = loops[number % 2].block_on(answer).unwrap();
            assert_eq!(heard.unwrap(), number % 3 == 0);
        }
    }

    #[test]
    fn who_has_no_loop_or_lost_it_is_answered_too() {
        let couriers = Couriers::default();
        let (asker, mut elsewhere) = couriers.asker();
        let (lost, mut answer) = event_loop().block_on(async { couriers.asker() });
        couriers.send(vec![
            Pending::Whether(asker, true),
            Pending::Whether(lost, true),
        ]);
        assert!(elsewhere.try_recv().unwrap().unwrap());
        assert!(answer.try_recv().unwrap().unwrap());
    }

    #[test]
    fn what_was_sent_before_the_end_arrives_and_what_is_sent_after_it_too() {
        let couriers = Couriers::default();
        event_loop().block_on(async {
            let (first, mut answer) = couriers.asker();
            couriers.send(vec![Pending::Whether(first, true)]);
            assert!(answer.try_recv().is_err(), "it is on its way");
            couriers.close().await;
            assert!(answer.try_recv().unwrap().unwrap());
            let (second, mut answer) = couriers.asker();
            couriers.send(vec![Pending::Whether(second, true)]);
            assert!(answer.try_recv().unwrap().unwrap());
            couriers.close().await;
        });
    }
}
