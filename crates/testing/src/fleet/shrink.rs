//! Makes a history that breaks a promise as short as possible.

use super::{Event, Fault, OldMaster, Promise, Schedule, Step, Timeline, Trial};

/// The history with everything left out that it does not take to break the same promise.
pub fn shrink(schedule: &Schedule, trial: &Trial, promise: Promise) -> Schedule {
    let mut best = schedule.clone();
    loop {
        let before = best.clone();
        drop_steps(&mut best, trial, promise);
        simplify_steps(&mut best, trial, promise);
        if best == before {
            return best;
        }
    }
}

fn breaks(schedule: &Schedule, trial: &Trial, promise: Promise) -> bool {
    let played = schedule.play(trial, Timeline::default());
    played
        .broken
        .is_some_and(|broken| broken.promise == promise)
}

/// Leaves out longer and longer parts that are not needed, then shorter and shorter ones.
fn drop_steps(best: &mut Schedule, trial: &Trial, promise: Promise) {
    let mut size = best.steps.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < best.steps.len() {
            let mut shorter = best.clone();
            let end = (at + size).min(shorter.steps.len());
            shorter.steps.drain(at..end);
            if breaks(&shorter, trial, promise) {
                *best = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
}

fn simplify_steps(best: &mut Schedule, trial: &Trial, promise: Promise) {
    for at in 0..best.steps.len() {
        for simpler in simpler(&best.steps[at]) {
            let mut schedule = best.clone();
            schedule.steps[at] = simpler;
            if breaks(&schedule, trial, promise) {
                *best = schedule;
            }
        }
    }
}

/// The same step with less in it.
fn simpler(step: &Step) -> Vec<Step> {
    let with = |event| Step { at: step.at, event };
    match &step.event {
        Event::Join {
            visitor,
            node,
            answer_delay: 1..,
        } => vec![with(Event::Join {
            visitor: *visitor,
            node: *node,
            answer_delay: 0,
        })],
        Event::Fault(Fault::Failover { to, lag, old }) => {
            let failover = |lag, old: &OldMaster| {
                with(Event::Fault(Fault::Failover {
                    to: *to,
                    lag,
                    old: old.clone(),
                }))
            };
            let prompt = (*lag > 0).then(|| failover(0, old));
            let dies = (*old != OldMaster::Dies).then(|| failover(*lag, &OldMaster::Dies));
            prompt.into_iter().chain(dies).collect()
        }
        _ => Vec::new(),
    }
}
