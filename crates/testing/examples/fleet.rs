//! Plays random histories of a fleet, as many as wanted.
//!
//! ```sh
//! cargo run -p ropeline-testing --example fleet -- --seeds 100000 --from 0
//! cargo run -p ropeline-testing --example fleet -- --story 17
//! cargo run -p ropeline-testing --example fleet -- --without Retelling --only Retold
//! ```

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::process::ExitCode;

use ropeline_testing::fleet::{
    Found, Promise, Repair, Report, Rule, Schedule, Timeline, Trial, search,
};

const USAGE: &str = "options: --seeds N, --from SEED, --stories N (of each promise), --story SEED, \
                     --without REPAIR, --only PROMISE";

struct Options {
    seeds: u64,
    from: u64,
    stories: usize,
    story: Option<u64>,
    trial: Trial,
}

fn main() -> ExitCode {
    let Some(options) = Options::read() else {
        println!(
            "{USAGE}\nrepairs: {:?}\npromises: {:?}",
            Repair::ALL,
            Promise::ALL
        );
        return ExitCode::FAILURE;
    };
    match options.story {
        Some(seed) => print_story(seed, &options.trial),
        None => play(&options),
    }
}

impl Options {
    fn read() -> Option<Self> {
        let mut options = Self {
            seeds: 10_000,
            from: 0,
            stories: 1,
            story: None,
            trial: Trial::of(Rule::Fence),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            options.take(&name, &arguments.next()?)?;
        }
        Some(options)
    }

    fn take(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "--seeds" => self.seeds = value.parse().ok()?,
            "--from" => self.from = value.parse().ok()?,
            "--stories" => self.stories = value.parse().ok()?,
            "--story" => self.story = Some(value.parse().ok()?),
            "--without" => {
                let mut repairs = Repair::ALL.into_iter();
                let repair = repairs.find(|repair| format!("{repair:?}") == value)?;
                self.trial.rule = Rule::Without(repair);
            }
            "--only" => {
                let mut promises = Promise::ALL.into_iter();
                let promise = promises.find(|promise| format!("{promise:?}") == value)?;
                self.trial.watched = vec![promise];
            }
            _ => return None,
        }
        Some(())
    }
}

fn play(options: &Options) -> ExitCode {
    let Options {
        seeds, from, trial, ..
    } = options;
    let report = search(*from..from + seeds, trial, print_progress);
    println!("{report}");
    for promise in report.broken().keys() {
        let found = report.found.values();
        let found = found.filter(|found| found.broken.promise == *promise);
        for found in found.take(options.stories) {
            println!("{}", found.story(trial));
        }
    }
    if report.found.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn print_progress(report: &Report) {
    if report.histories.is_multiple_of(10_000) {
        let failed = report.found.len();
        println!("{} histories, {failed} fail", report.histories);
    }
}

/// Prints the history of one seed: as short as it can be made, if it breaks a promise.
fn print_story(seed: u64, trial: &Trial) -> ExitCode {
    let played = Schedule::random(seed).play(trial, Timeline::kept());
    match played.broken {
        Some(broken) => println!("{}", Found { seed, broken }.story(trial)),
        None => println!("{}\nno promise is broken", played.timeline),
    }
    ExitCode::SUCCESS
}
