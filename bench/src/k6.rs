//! The load test of seed 002, by k6, against the room and its box office.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use serde::Deserialize;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    Result, disk,
    goals::{Bound, Goal},
    http::product::{Product, Setup},
    progress,
    report::{self, Chapter, Table},
    stats::{Run, Samples},
};

const SCENARIO: &str = include_str!("../k6/scenario.js");
const SETTINGS: &str = include_str!("../k6/ropeline.toml");

/// What seed 002 measured.
const SEED_MEAN_MS: f64 = 7.99;

/// Where files are in memory, and a sync has nothing to wait for.
const IN_MEMORY: &str = "/dev/shm";
/// How long the disk is looked at before and after the load test.
const DISK_LOOK: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// k6, of the version in `bench/k6/requirements.txt`.
    #[arg(long, default_value = "target/k6/bin/k6")]
    k6: PathBuf,
    /// Seconds of each of the three stages; seed 002 has 30.
    #[arg(long, default_value_t = 5)]
    stage_seconds: u32,
    /// Users at the height of the load; seed 002 has 1,000.
    #[arg(long, default_value_t = 1_000)]
    users: u32,
}

/// Whether users pause between the answer and their next request.
#[derive(Debug, Clone, Copy)]
enum Think {
    /// A second: with 1,000 users and these stages that makes about 660 requests/s.
    OneSecond,
    Never,
}

impl Think {
    fn seconds(self) -> &'static str {
        match self {
            Self::OneSecond => "1",
            Self::Never => "0",
        }
    }
}

/// What the script leaves.
#[derive(Debug, Deserialize)]
struct Summary {
    answers: u32,
    waits: Waits,
    requests: Requests,
    reserved: u32,
    taken: Option<u32>,
    wrong: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct Requests {
    join: Option<Waits>,
    status: Option<Waits>,
    reservation: Option<Waits>,
    leave: Option<Waits>,
}

/// Milliseconds.
#[derive(Debug, Deserialize)]
struct Waits {
    avg: f64,
    med: f64,
    #[serde(rename = "p(99)")]
    p99: f64,
    max: f64,
}

impl Summary {
    /// A run that was answered wrongly is no measurement.
    fn check(&self) -> Result<()> {
        match (self.wrong, self.taken) {
            (Some(0), Some(taken)) if self.reserved <= taken && self.reserved > 0 => Ok(()),
            (Some(0), Some(taken)) => Err(format!(
                "{} reservations were answered with a seat, and {taken} seats are taken",
                self.reserved
            )
            .into()),
            (wrong, taken) => {
                Err(format!("k6 saw {wrong:?} wrong answers and {taken:?} taken seats").into())
            }
        }
    }
}

/// How one run went, and where its files were.
struct Tried {
    what: &'static str,
    summary: Summary,
}

pub(crate) fn run(binary: &Path, args: &Args) -> Result<Chapter> {
    progress::phase("k6: the load test of seed 002");
    let on_disk = std::env::temp_dir();
    let before = disk::sync_for(DISK_LOOK, &on_disk)?;
    let try_out = |what, think, beneath: &Path| {
        let summary = once(binary, args, think, beneath)?;
        Result::Ok(Tried { what, summary })
    };
    let thinking = try_out("with a second between requests", Think::OneSecond, &on_disk)?;
    let after = disk::sync_for(DISK_LOOK, &on_disk)?;
    let goals = goals(&thinking.summary);
    let mut tried = vec![thinking];
    if Path::new(IN_MEMORY).is_dir() {
        let what = "the same, all files in memory";
        tried.push(try_out(what, Think::OneSecond, Path::new(IN_MEMORY))?);
    }
    tried.push(try_out("without a pause", Think::Never, &on_disk)?);
    Ok(Chapter {
        tables: vec![table(args, &tried), disk_table(&[before, after])],
        goals,
        ..Chapter::default()
    })
}

fn once(binary: &Path, args: &Args, think: Think, beneath: &Path) -> Result<Summary> {
    let runtime = Runtime::new()?;
    let setup = Setup {
        binary: binary.to_owned(),
        store: "embedded".to_owned(),
        settings: SETTINGS.into(),
        service_key: None,
        beneath: beneath.to_owned(),
    };
    let product = Product::with(setup, &runtime)?;
    let directory = TempDir::new()?;
    let (script, summary) = (
        directory.path().join("scenario.js"),
        directory.path().join("summary.json"),
    );
    fs::write(&script, SCENARIO)?;
    progress::step(&format!("{think:?}: three times {} s", args.stage_seconds));
    let settings = [
        format!("BASE=http://{}", product.target().address),
        format!("ADMIN_KEY={}", product.admin_key()?),
        format!("STAGE={}", args.stage_seconds),
        format!("USERS={}", args.users),
        format!("THINK={}", think.seconds()),
        format!("SUMMARY={}", summary.display()),
    ];
    let output = Command::new(&args.k6)
        .args(["run", "--quiet", "--no-usage-report"])
        .args(settings.iter().flat_map(|setting| ["-e", setting]))
        .arg(&script)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} does not start: {error}", args.k6.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let words = product.last_words();
        return Err(format!("k6 failed with {}\n{said}\n{words}", output.status).into());
    }
    let summary: Summary = serde_json::from_slice(&fs::read(&summary)?)?;
    summary.check()?;
    progress::step(&format!(
        "{} requests, mean {:.2} ms",
        summary.answers, summary.waits.avg
    ));
    Ok(summary)
}

fn table(args: &Args, tried: &[Tried]) -> Table {
    let seed = ["seed 002", "660", "7.99", "–", "–", "86.06"];
    let mut rows = vec![seed.map(str::to_owned).to_vec()];
    for Tried { what, summary } in tried {
        let per_second = f64::from(summary.answers) / f64::from(3 * args.stage_seconds);
        rows.push(row(what, &report::rate(per_second), &summary.waits));
        rows.extend(summary.requests.rows());
    }
    Table {
        title: "The load test of seed 002, by k6".to_owned(),
        note: format!(
            "1 to {} users in {} s, as long with all of them, and back in as long: each joins, asks for the status until it is their\n\
             turn, reserves a seat and leaves, again and again (`bench/k6/scenario.js`). The room lets in 220 a second, which is the\n\
             2,200 every 10 s that the seed comes to; room, box office and SQLite are one process, and joins, departures and reservations are synced to disk\n\
             before their answers. k6 checks every answer and runs on the same cores, of which without a pause it takes the most. The\n\
             seed's figures are from another machine (M3, 18 GB) and without a database in the way of the reservation: they say what\n\
             its users were used to. With all files in memory (`{IN_MEMORY}`) nothing waits for the disk, and everything else is the same.",
            report::count(args.users.into()),
            args.stage_seconds,
        ),
        columns: vec!["run", "requests/s", "mean ms", "p50 ms", "p99 ms", "max ms"],
        rows,
    }
}

fn disk_table(looks: &[Run; 2]) -> Table {
    let row = |(when, run): (&str, &Run)| {
        let millis = |wait: Duration| report::millis(wait.as_secs_f64() * 1e3);
        let mut row = vec![when.to_owned(), run.answers.to_string()];
        row.extend([run.p50, run.p99, run.max].map(millis));
        row
    };
    Table {
        title: "The disk around the load test".to_owned(),
        note: format!(
            "What a program waits that does nothing but write a kilobyte over an older one and sync it, every 3 ms for {} s, with\n\
             nobody else on the machine. An answer that is synced waits for that much at least.",
            DISK_LOOK.as_secs(),
        ),
        columns: vec!["when", "syncs", "p50 ms", "p99 ms", "max ms"],
        rows: ["before", "after"]
            .into_iter()
            .zip(looks)
            .map(row)
            .collect(),
    }
}

impl Requests {
    fn rows(&self) -> Vec<Vec<String>> {
        let kinds = [
            ("of these join", &self.join),
            ("of these status", &self.status),
            ("of these seat reservation", &self.reservation),
            ("of these leave", &self.leave),
        ];
        let asked = kinds
            .into_iter()
            .filter_map(|(what, waits)| Some((what, waits.as_ref()?)));
        asked.map(|(what, waits)| row(what, "–", waits)).collect()
    }
}

fn row(what: &str, rate: &str, waits: &Waits) -> Vec<String> {
    let mut row = vec![what.to_owned(), rate.to_owned()];
    row.extend([waits.avg, waits.med, waits.p99, waits.max].map(report::millis));
    row
}

fn goals(thinking: &Summary) -> Vec<Goal> {
    let goal = |what, figure: f64| {
        let samples: Samples = [figure].into_iter().collect();
        Goal::new(what, Bound::AtMost(SEED_MEAN_MS), "ms", &samples)
    };
    vec![
        goal(
            "k6 as in seed 002, a second between requests: mean",
            thinking.waits.avg,
        ),
        goal("the same: p99", thinking.waits.p99),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(reserved: u32, taken: Option<u32>, wrong: Option<u32>) -> Summary {
        let waits = r#"{"avg":1,"min":1,"med":1,"max":1,"p(99)":1}"#;
        let (taken, wrong) = (serde_json::json!(taken), serde_json::json!(wrong));
        let text = format!(
            r#"{{"answers":4,"waits":{waits},"requests":{{"join":{waits},"status":null,"reservation":null,"leave":null}},
               "reserved":{reserved},"lost":0,"taken":{taken},"wrong":{wrong}}}"#
        );
        serde_json::from_str(&text).expect("what the script leaves")
    }

    #[test]
    fn a_seat_that_two_were_given_fails_the_run() {
        assert!(summary(10, Some(10), Some(0)).check().is_ok());
        // Whoever was sent home between request and answer has a seat that nobody counted.
        assert!(summary(10, Some(11), Some(0)).check().is_ok());
        assert!(summary(11, Some(10), Some(0)).check().is_err());
    }

    #[test]
    fn a_wrong_answer_and_a_missing_count_fail_the_run() {
        assert!(summary(10, Some(10), Some(1)).check().is_err());
        assert!(summary(10, Some(10), None).check().is_err());
        assert!(summary(10, None, Some(0)).check().is_err());
        assert!(summary(0, Some(0), Some(0)).check().is_err());
    }
}
