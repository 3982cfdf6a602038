//! `ropeline load`: visitors by the thousand, who check what they are told.

mod chance;
mod crowd;
mod estimates;
mod judge;
mod options;
mod place;
mod policy;
mod progress;
mod questions;
mod report;
mod script;
mod stats;
mod tally;
mod text;
mod visitor;

use std::{sync::Arc, time::Duration};

use clap::Subcommand;
use ropeline_server::config::{Overrides, Settings};
use tokio::{runtime::Runtime, signal::ctrl_c, task::JoinSet};

use self::{
    chance::{Chance, unforeseen},
    crowd::{Crowd, Stop},
    options::CrowdArgs,
    policy::RoomPolicy,
    progress::{Progress, ReportFor},
    report::{Known, Report},
    script::Script,
    visitor::Visitor,
};
use crate::{
    failure::Failure,
    http::{BaseUrl, Bounds, Http, admin_key},
    open_files,
    output::print,
};

/// An answer that takes longer is lost: people reload sooner.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// How long visitors have to go when the run is stopped.
const GOODBYE_MAX: Duration = Duration::from_secs(20);

#[derive(Subcommand)]
pub(crate) enum LoadCommand {
    /// A crowd of visitors, each of whom judges every answer
    Crowd(CrowdArgs),
}

pub(crate) fn run(command: LoadCommand, overrides: &Overrides) -> Result<(), Failure> {
    let LoadCommand::Crowd(args) = command;
    let settings = Settings::load(overrides)?;
    if let Err(limit) = open_files::allow(args.connections.into()) {
        return Err(Failure::Crowd(format!(
            "only {} files may be open here: raise `ulimit -Hn`, or lower --connections",
            limit.allowed
        )));
    }
    let runtime = Runtime::new().map_err(Failure::Runtime)?;
    runtime.block_on(send_crowd(&args, &settings))
}

async fn send_crowd(args: &CrowdArgs, settings: &Settings) -> Result<(), Failure> {
    let base = args.url.clone();
    let base = base.unwrap_or_else(|| BaseUrl::of_listener(settings.listen));
    let bounds = Bounds {
        answer_max: ANSWER_MAX,
        connections_max: args.connections.into(),
    };
    let http = Http::new(base, bounds)?;
    // Says at once if nobody is there.
    http.send(http.get("/readyz")).await?;
    let key = admin_key(settings, http.base());
    let ask_policy = async || RoomPolicy::ask(&http, &args.room, key.as_deref()).await;
    let before = ask_policy().await;
    let crowd = Crowd::new(
        http.clone(),
        args.room.clone(),
        args.visitors as usize,
        unforeseen(),
    );
    let crowd = Arc::new(crowd);
    let took = watch(args, &crowd).await;
    let after = ask_policy().await;
    if let Stop::Refused(why) = crowd.stopped() {
        return Err(Failure::Crowd(format!(
            "nobody can join the room {} at {}: {why}",
            args.room,
            crowd.http.base()
        )));
    }
    let cap = args.cap.or_else(|| highest_cap(before, after));
    let mut judge = crowd.judge();
    let closing = judge.close(cap);
    let known = Known {
        url: http.base().to_string(),
        took,
        policy: after,
        cap,
        closing,
    };
    conclude(
        args,
        &Report::new(&crowd.tally(), judge.wrong.clone(), known),
    )
}

/// Lets the visitors loose and shows how they do; how long it took.
async fn watch(args: &CrowdArgs, crowd: &Arc<Crowd>) -> Duration {
    let report_for = if args.json {
        ReportFor::Programs
    } else {
        ReportFor::People
    };
    let progress = Progress::new(args.visitors.into(), report_for);
    let mut visitors = let_loose(args, crowd);
    tokio::select! {
        () = everybody(&mut visitors) => {}
        () = progress.follow(crowd) => {}
        () = enough(args.until) => {}
        _ = ctrl_c() => {}
    }
    let took = crowd.now();
    crowd.stop(Stop::Enough);
    // Who is still there goes now; a second interruption does not wait for that.
    tokio::select! {
        () = everybody(&mut visitors) => {}
        () = tokio::time::sleep(GOODBYE_MAX) => {}
        _ = ctrl_c() => {}
    }
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
        visitors.spawn(visitor.visit());
    }
    visitors
}

async fn everybody(visitors: &mut JoinSet<()>) {
    while visitors.join_next().await.is_some() {}
}

async fn enough(until: Option<Duration>) {
    match until {
        Some(span) => tokio::time::sleep(span).await,
        None => std::future::pending().await,
    }
}

/// A cap that was changed meanwhile may have been either; none at all at one time is no cap.
fn highest_cap(before: Option<RoomPolicy>, after: Option<RoomPolicy>) -> Option<u64> {
    let (before, after) = (before?.active_max?, after?.active_max?);
    Some(before.max(after))
}

fn conclude(args: &CrowdArgs, report: &Report) -> Result<(), Failure> {
    if args.json {
        let json = serde_json::to_string(report).expect("a report is plain data");
        print(&format!("{json}\n"))?;
    } else {
        print(&format!("\n{report}"))?;
    }
    if report.wrong_answers > 0 {
        let count = report.wrong_answers;
        return Err(Failure::Crowd(format!(
            "{count} wrong answers: see the report"
        )));
    }
    Ok(())
}
