//! Load by an open model: everything is sent when a schedule says so, whatever became of what was sent before.
//!
//! Whoever waits for an answer before asking again asks a slow server less, and never sees how slow it is. Here the
//! latency counts from when a question was to be sent. That includes what it waited for a connection, and what the
//! generator itself was late; both are told apart in the report.

mod errand;
mod idle;
mod options;
mod pacer;
mod plan;
mod report;
mod schedule;
mod text;

use std::{sync::Arc, time::Duration};

use tokio::{signal::ctrl_c, task::JoinSet};

pub(crate) use self::options::{HerdArgs, JourneyArgs, PollArgs, RampArgs};
use self::{
    errand::Run,
    pacer::pace,
    plan::{Errand, Plan},
    report::{Known, Report},
};
use super::{
    chance::unforeseen,
    conclude,
    crowd::{Crowd, Stop},
    judge::At,
    progress::{Pace, Picture, Progress, answers},
    run::{enough, everybody, say_goodbye},
    shop,
    tally::Tally,
    target::{Server, Target},
};
use crate::{failure::Failure, units::grouped};

pub(crate) async fn run(plan: Plan, target: &Target, server: &Server) -> Result<(), Failure> {
    if plan.buys() {
        shop::is_open(&server.http, &server.room).await?;
    }
    let crowd = Crowd::new(
        server.http.clone(),
        server.room.clone(),
        plan.visitors,
        unforeseen(),
    );
    let run = Arc::new(Run::new(Arc::new(crowd), plan));
    let progress = Progress::new(run.plan.schedule.len() as u64, target.report_for());
    if run.plan.errand == Errand::Poll {
        prepare(&run, &progress, target.connections).await;
    }
    let seen = watch(&run, &progress, target.connections).await;
    progress.end();
    if let Stop::Refused(why) = run.crowd.stopped() {
        return Err(server.refusal(&why));
    }
    let cap = server.cap(server.ask_policy().await);
    let mut judge = run.crowd.judge();
    let closing = judge.close(cap);
    let known = Known {
        url: server.http.base().to_string(),
        connections: target.connections,
        cap,
        closing,
    };
    let report = Report::new(&run.plan, &seen, judge.wrong.clone(), known);
    conclude(target.report_for(), &report, report.wrong_answers)
}

/// What was seen of the schedule, before the visitors were sent away.
#[derive(Debug)]
struct Outcome {
    took: Duration,
    tally: Tally,
    in_flight_most: u64,
    /// Questions that were not answered when the run was cut short.
    in_flight_left: u64,
}

/// Lets those join who are to wait.
async fn prepare(run: &Arc<Run>, progress: &Progress, connections: u16) {
    let look = || Picture {
        now: run.crowd.now(),
        done: 0,
        parts: vec![format!(
            "{} of {} have joined",
            grouped(run.joined()),
            grouped(run.plan.visitors)
        )],
    };
    tokio::select! {
        () = run.gather(connections) => {}
        () = progress.follow(look) => {}
        _ = ctrl_c() => run.crowd.stop(Stop::Enough),
    }
    run.crowd.measure_from_here();
}

/// Sends everything off, waits for the answers, and dismisses the visitors.
async fn watch(run: &Arc<Run>, progress: &Progress, connections: u16) -> Outcome {
    let crowd = &run.crowd;
    let (origin, mut errands) = (crowd.now(), JoinSet::new());
    tokio::select! {
        () = send_all(run, origin, &mut errands) => {}
        () = progress.follow(look(run, origin)) => {}
        () = enough(run.plan.until) => {}
        () = crowd.end() => {}
        _ = ctrl_c() => {}
    }
    let seen = Outcome {
        took: crowd.now().saturating_sub(origin),
        tally: crowd.tally().clone(),
        in_flight_most: crowd.flight.most(),
        in_flight_left: crowd.flight.now(),
    };
    crowd.stop(Stop::Enough);
    say_goodbye(&mut errands).await;
    say_goodbye(&mut run.dismiss(connections)).await;
    seen
}

async fn send_all(run: &Arc<Run>, origin: At, errands: &mut JoinSet<()>) {
    let mut arrivals = pace(&run.crowd, run.plan.schedule.clone(), origin);
    while let Some(arrival) = arrivals.recv().await {
        errands.spawn(Arc::clone(run).errand(arrival, origin));
        while errands.try_join_next().is_some() {}
    }
    everybody(errands).await;
}

/// How the run is doing.
fn look(run: &Run, origin: At) -> impl FnMut() -> Picture {
    let mut pace = Pace::default();
    move || {
        let crowd = &run.crowd;
        let wrong = crowd.judge().wrong.total();
        let now = crowd.now().saturating_sub(origin);
        let tally = crowd.tally();
        let sent = tally.sent_late.count();
        let flying = crowd.flight.now();
        let all = grouped(run.plan.schedule.len());
        Picture {
            now,
            done: sent,
            parts: vec![
                format!(
                    "{} of {all} sent, {} in flight",
                    grouped(sent),
                    grouped(flying)
                ),
                answers(pace.rate(now, tally.answers), wrong),
            ],
        }
    }
}
