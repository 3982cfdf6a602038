//! `ropeline load`: visitors by the thousand, who check what they are told.

mod chance;
mod crowd;
mod estimates;
mod judge;
mod latency;
mod open;
mod options;
mod place;
mod policy;
mod progress;
mod questions;
mod report;
mod run;
mod script;
mod shop;
mod stats;
mod tally;
mod target;
mod text;
mod turn;
mod visitor;

use std::{fmt::Display, time::Duration};

use clap::Subcommand;
use ropeline_server::config::{Overrides, Settings};
use serde::Serialize;
use tokio::runtime::Runtime;

use self::{
    open::{HerdArgs, JourneyArgs, PollArgs, RampArgs},
    options::CrowdArgs,
    progress::ReportFor,
    target::{Server, Target},
};
use crate::{args::TypedFlags, failure::Failure, http::KeyDirectory, open_files, output::print};

/// How long visitors have to go when the run is stopped.
const GOODBYE_MAX: Duration = Duration::from_secs(20);

/// Each is explained where its flags are.
#[derive(Subcommand)]
pub(crate) enum LoadCommand {
    Crowd(CrowdArgs),
    Herd(HerdArgs),
    Poll(PollArgs),
    Journey(JourneyArgs),
    Ramp(RampArgs),
}

pub(crate) fn run(
    command: LoadCommand,
    overrides: &Overrides,
    typed: &TypedFlags,
) -> Result<(), Failure> {
    let settings = Settings::load(overrides)?;
    if let Err(limit) = open_files::allow(command.target().connections.into()) {
        return Err(Failure::Crowd(format!(
            "only {} files may be open here: raise `ulimit -Hn`, or lower --connections",
            limit.allowed
        )));
    }
    let runtime = Runtime::new().map_err(Failure::Runtime)?;
    runtime.block_on(async {
        let target = command.target();
        let directory = KeyDirectory::of(typed, target.url.as_ref());
        let server = Server::reach(target, &settings, directory).await?;
        match command {
            LoadCommand::Crowd(args) => run::send_crowd(&args, &server).await,
            LoadCommand::Herd(args) => open::run(args.plan()?, &args.target, &server).await,
            LoadCommand::Poll(args) => open::run(args.plan()?, &args.target, &server).await,
            LoadCommand::Journey(args) => open::run(args.plan()?, &args.target, &server).await,
            LoadCommand::Ramp(args) => open::run(args.plan()?, &args.target, &server).await,
        }
    })
}

impl LoadCommand {
    fn target(&self) -> &Target {
        match self {
            Self::Crowd(args) => &args.target,
            Self::Herd(args) => &args.target,
            Self::Poll(args) => &args.target,
            Self::Journey(args) => &args.target,
            Self::Ramp(args) => &args.target,
        }
    }
}

/// Prints the report; wrong answers are a failure.
fn conclude(
    report_for: ReportFor,
    report: &(impl Display + Serialize),
    wrong_answers: u64,
) -> Result<(), Failure> {
    match report_for {
        ReportFor::Programs => {
            let json = serde_json::to_string(report).expect("a report is plain data");
            print(&format!("{json}\n"))?;
        }
        ReportFor::People => print(&format!("\n{report}"))?,
    }
    if wrong_answers > 0 {
        return Err(Failure::Crowd(format!(
            "{wrong_answers} wrong answers: see the report"
        )));
    }
    Ok(())
}
