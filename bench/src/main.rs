//! Measures Ropeline beside its yardsticks, in one run.
//!
//! `bench/run quick` builds everything, calls `ropeline-bench all` and leaves `docs/BENCHMARKS.md`.
//! What is compared runs interleaved on the same machine, so the ratios hold even where the rates move.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a stopwatch reads the clock, and a command line tool prints"
)]

mod beforehand;
mod boxoffice;
mod disk;
mod engine;
mod filled;
mod goals;
mod growth;
mod http;
mod ids;
mod k6;
mod limit;
mod machine;
mod memory;
mod micro;
mod plot;
mod progress;
mod report;
mod resume;
mod stats;

use std::{error::Error, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use report::{Chapter, Report};

/// Whatever goes wrong ends the run with a sentence: there is nobody to act on a kind of error.
type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[derive(Debug, Parser)]
// `bench/run` puts what it is given behind its own choices.
#[command(version, about, args_override_self = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Everything below, and the report as a Markdown file.
    All(AllArgs),
    /// The server beside a bare axum one: status, durable join, gate check.
    Http(http::Args),
    /// The server on Redis beside the plain designs and the Redis limit: join, status, gate check, tick.
    Redis(http::Args),
    /// Two builds of the product in turn, embedded and on Redis: what a change costs.
    Compare(http::compare::Args),
    /// The Redis limit alone, and the store without HTTP.
    Limit(http::Args),
    /// Status, join and tick as the line grows, embedded, on Redis and in the plain design.
    Growth(GrowthArgs),
    /// Memory for each who waits, in the server and in Redis, and restarts after a crash.
    Memory(MemoryArgs),
    /// The load test of seed 002, by k6.
    K6(K6Args),
    /// The storage engines under durable joins, without HTTP.
    Engine(engine::Args),
    /// The box office: reservations and payments on both databases, without HTTP.
    Boxoffice(boxoffice::Args),
    /// How soon, and in which order, visitors before a paused room know of their turn once it is resumed.
    Resume(resume::Args),
    /// Single functions, in nanoseconds.
    Micro,
    /// The bare axum server; `http` starts it as a child process.
    #[command(hide = true)]
    Hello {
        /// How much of a server there is.
        #[arg(value_enum, default_value = "hello")]
        kind: http::hello::Kind,
    },
    /// The plain design; `redis` starts it as a child process.
    #[command(hide = true)]
    Plain(http::plain::Args),
}

#[derive(Debug, clap::Args)]
struct GrowthArgs {
    #[command(flatten)]
    http: http::Args,
    #[command(flatten)]
    growth: growth::Args,
    #[command(flatten)]
    part: PartArgs,
}

#[derive(Debug, clap::Args)]
struct MemoryArgs {
    #[command(flatten)]
    http: http::Args,
    #[command(flatten)]
    memory: memory::Args,
    #[command(flatten)]
    part: PartArgs,
}

#[derive(Debug, clap::Args)]
struct K6Args {
    #[command(flatten)]
    http: http::Args,
    #[command(flatten)]
    k6: k6::Args,
    #[command(flatten)]
    part: PartArgs,
}

#[derive(Debug, clap::Args)]
struct PartArgs {
    /// A report of this part alone, with its plots in `bench/` beside it.
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct AllArgs {
    #[command(flatten)]
    http: http::Args,
    #[command(flatten)]
    growth: growth::Args,
    #[command(flatten)]
    memory: memory::Args,
    #[command(flatten)]
    k6: k6::Args,
    #[command(flatten)]
    engine: engine::Args,
    #[command(flatten)]
    boxoffice: boxoffice::Args,
    /// Where the report goes.
    #[arg(long, default_value = "docs/BENCHMARKS.md")]
    out: PathBuf,
    /// Which state of the code was measured.
    #[arg(long, default_value = "unknown")]
    commit: String,
    /// The command that a reader repeats the run with.
    #[arg(long, default_value = "bench/run quick")]
    command: String,
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::All(args) => all(&args),
        Command::Http(args) => show(&http::embedded::run(&args)?),
        Command::Redis(args) => {
            let (chapter, refused) = on_redis(&args)?;
            show(&chapter)?;
            all_measured(refused)
        }
        Command::Compare(args) => show(&http::compare::run(&args)?),
        Command::Limit(args) => show(&limit::run(args.limit())?.chapter()),
        Command::Growth(args) => args.part.show(&growth::run(&args.http, &args.growth)?),
        Command::Memory(args) => args.part.show(&memory::run(&args.http, &args.memory)?),
        Command::K6(args) => args.part.show(&k6::run(&args.http.product, &args.k6)?),
        Command::Engine(args) => show(&Chapter::of(engine::run(&args)?)),
        Command::Boxoffice(args) => show(&Chapter::of(boxoffice::run(&args)?)),
        Command::Resume(args) => show(&resume::run(&args)?),
        Command::Micro => show(&Chapter::of(micro::run())),
        Command::Hello { kind } => http::hello::serve(kind),
        Command::Plain(args) => http::plain::serve(&args),
    }
}

/// A part that fails is missing from the report and named at the end; the others took too long to be lost with it.
fn all(args: &AllArgs) -> Result<()> {
    let (mut found, mut missing) = (Chapter::default(), Vec::new());
    let mut part = |name: &str, measured: Result<Chapter>| match measured {
        Ok(chapter) => found.append(chapter),
        Err(error) => {
            eprintln!("\nnot measured: {name}: {error}");
            missing.push(format!("{name}: {error}"));
        }
    };
    part("requests over HTTP", http::embedded::run(&args.http));
    let on_redis = on_redis(&args.http).and_then(|(chapter, refused)| {
        all_measured(refused)?;
        Ok(chapter)
    });
    part("on Redis", on_redis);
    part("growth", growth::run(&args.http, &args.growth));
    part("memory and restarts", memory::run(&args.http, &args.memory));
    part("k6", k6::run(&args.http.product, &args.k6));
    part(
        "box office",
        boxoffice::run(&args.boxoffice).map(Chapter::of),
    );
    part(
        "storage engines",
        engine::run(&args.engine).map(Chapter::of),
    );
    part("single functions", Ok(Chapter::of(micro::run())));
    show(&found)?;

    let report = Report {
        command: &args.command,
        commit: &args.commit,
        machine: machine::facts(&std::env::temp_dir()),
        missing: &missing,
        chapter: &found,
    };
    report.write(&args.out)?;
    println!("\nwritten to {}", args.out.display());
    match missing.as_slice() {
        [] => Ok(()),
        missing => Err(format!("not measured:\n{}", missing.join("\n")).into()),
    }
}

/// All that is measured on Redis, and why the product is missing from it, where it is.
fn on_redis(args: &http::Args) -> Result<(Chapter, Option<String>)> {
    let compared = http::on_redis::run(args)?;
    let limit = limit::run(args.limit())?;
    let mut found = compared.found;
    found.extend(limit.found());
    let mut chapter = compared.chapter;
    chapter.append(limit.chapter());
    chapter.append(Chapter::of(beforehand::table(&found)));
    Ok((chapter, compared.refused))
}

impl PartArgs {
    fn show(&self, found: &Chapter) -> Result<()> {
        show(found)?;
        let Some(out) = &self.out else {
            return Ok(());
        };
        let report = Report {
            command: "a part of bench/run",
            commit: "unknown",
            machine: machine::facts(&std::env::temp_dir()),
            missing: &[],
            chapter: found,
        };
        report.write(out)
    }
}

/// A report with a hole is written, and is a failure.
fn all_measured(refused: Option<String>) -> Result<()> {
    match refused {
        None => Ok(()),
        Some(refused) => Err(format!("Ropeline does not serve on Redis: {refused}").into()),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every command ends with a result")]
fn show(found: &Chapter) -> Result<()> {
    for table in &found.tables {
        println!("\n{}", table.to_text());
    }
    if !found.goals.is_empty() {
        println!("\n{}", goals::table(&found.goals).to_text());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn every_command_can_be_called() {
        Cli::command().debug_assert();
    }
}
