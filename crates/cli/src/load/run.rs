//! Sends a crowd and waits for it.

use std::{sync::Arc, time::Duration};

use tokio::{signal::ctrl_c, task::JoinSet};

use super::{
    GOODBYE_MAX,
    chance::{Chance, unforeseen},
    conclude,
    crowd::{Crowd, Stop},
    options::CrowdArgs,
    progress::Progress,
    report::{Known, Report},
    script::Script,
    target::Server,
    visitor::Visitor,
};
use crate::failure::Failure;

pub(crate) async fn send_crowd(args: &CrowdArgs, server: &Server) -> Result<(), Failure> {
    let crowd = Crowd::new(
        server.http.clone(),
        args.target.room.clone(),
        args.visitors as usize,
        unforeseen(),
    );
    let crowd = Arc::new(crowd);
    let took = watch(args, &crowd).await;
    let after = server.ask_policy().await;
    if let Stop::Refused(why) = crowd.stopped() {
        return Err(server.refusal(&why));
    }
    let cap = server.cap(after);
    let mut judge = crowd.judge();
    let closing = judge.close(cap);
    let known = Known {
        url: server.http.base().to_string(),
        took,
        policy: after,
        cap,
        closing,
    };
    let report = Report::new(&crowd.tally(), judge.wrong.clone(), known);
    conclude(args.target.report_for(), &report, report.wrong_answers)
}

/// Lets the visitors loose and shows how they do; how long it took.
async fn watch(args: &CrowdArgs, crowd: &Arc<Crowd>) -> Duration {
    let progress = Progress::new(args.visitors.into(), args.target.report_for());
    let mut visitors = let_loose(args, crowd);
    tokio::select! {
        () = everybody(&mut visitors) => {}
        () = progress.follow_crowd(crowd) => {}
        () = enough(args.until) => {}
        _ = ctrl_c() => {}
    }
    let took = crowd.now();
    crowd.stop(Stop::Enough);
    say_goodbye(&mut visitors).await;
    progress.end();
    took
}

fn let_loose(args: &CrowdArgs, crowd: &Arc<Crowd>) -> JoinSet<()> {
    let mut chance = Chance::new(args.seed);
    let mut visitors = JoinSet::new();
    let mut scripts: Vec<_> = (0..args.visitors)
        .map(|_| Script::draw(args, &mut chance))
        .collect();
    // Numbered as they come, so that the one in the middle sees half of the crowd ahead.
    scripts.sort_by_key(|script| script.arrives);
    for (who, script) in scripts.into_iter().enumerate() {
        let own_chance = Chance::new(chance.number());
        let visitor = Visitor::new(Arc::clone(crowd), who, script, own_chance);
        visitors.spawn(visitor.arrive());
    }
    visitors
}

/// Who is still there goes now; a second interruption does not wait for that.
pub(crate) async fn say_goodbye(visitors: &mut JoinSet<()>) {
    tokio::select! {
        () = everybody(visitors) => {}
        () = tokio::time::sleep(GOODBYE_MAX) => {}
        _ = ctrl_c() => {}
    }
}

pub(crate) async fn everybody(visitors: &mut JoinSet<()>) {
    while visitors.join_next().await.is_some() {}
}

pub(crate) async fn enough(until: Option<Duration>) {
    match until {
        Some(span) => tokio::time::sleep(span).await,
        None => std::future::pending().await,
    }
}
