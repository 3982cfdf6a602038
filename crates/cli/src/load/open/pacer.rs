//! Sends everybody off at the time that the schedule says.

use std::{sync::Arc, thread, time::Duration};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::schedule::{Arrival, Schedule};
use crate::load::{crowd::Crowd, judge::At};

/// Shorter naps cost more than they gain: the system's own timers are as coarse as this.
const NAP_MIN: Duration = Duration::from_micros(100);
/// So soon it notices that nobody listens any more.
const NAP_MAX: Duration = Duration::from_millis(50);

/// Sends arrivals when they are due after `origin`. What piles up is bounded by the schedule.
///
/// It has a thread of its own, since the timers of the runtime count whole milliseconds, and since a runtime that
/// is busy with answers must not hold up the schedule without anybody seeing it.
pub(super) fn pace(
    crowd: &Arc<Crowd>,
    schedule: Schedule,
    origin: At,
) -> UnboundedReceiver<Arrival> {
    let (sender, arrivals) = unbounded_channel();
    let crowd = Arc::clone(crowd);
    tokio::task::spawn_blocking(move || send_off(&crowd, &schedule, origin, &sender));
    arrivals
}

fn send_off(crowd: &Crowd, schedule: &Schedule, origin: At, sender: &UnboundedSender<Arrival>) {
    for arrival in schedule.arrivals() {
        let due = origin + arrival.due;
        while let Some(early) = due
            .checked_sub(crowd.now())
            .filter(|early| !early.is_zero())
        {
            if sender.is_closed() {
                return;
            }
            thread::sleep(early.clamp(NAP_MIN, NAP_MAX));
        }
        if sender.send(arrival).is_err() {
            return;
        }
    }
}
