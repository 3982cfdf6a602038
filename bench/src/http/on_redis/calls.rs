//! How often the store is called while visitors poll.

use std::{
    fs::{self, File},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ropeline_testing::TestRedis;
use tempfile::NamedTempFile;

use super::{
    super::{
        Load,
        turns::{SLICE, Turns},
    },
    servers::Ours,
    status,
};
use crate::{
    Result,
    goals::{Bound, Goal},
    progress,
    report::{self, Chapter, Table},
    stats::{self, Samples},
};

/// What the store may call: so often a second for its picture of the room, and once per so many polls for marks.
const PER_SECOND: f64 = 10.0;
const POLLS: f64 = 500.0;

/// Redis tells of calls from when it says so, which is at once.
const WATCHED_WITHIN: Duration = Duration::from_secs(5);

/// One slice in which visitors did nothing but poll.
struct Polled {
    polls: f64,
    calls: Calls,
    seconds: f64,
}

/// What Redis was asked meanwhile.
struct Calls {
    /// For the room whose visitors poll, and for none in particular.
    counted: f64,
    /// For rooms where nobody polls.
    elsewhere: f64,
}

impl Polled {
    fn allowed(&self) -> f64 {
        PER_SECOND * self.seconds + self.polls / POLLS
    }
}

/// Every repetition has visitors of its own: who has been seen in this round of presence is not marked again.
pub(crate) fn measure(turns: &Turns<'_>, ours: &Ours, tokens: &[String]) -> Result<Chapter> {
    let each = tokens.len().div_ceil(turns.args.rounds.max(1)).max(1);
    let mut all = Vec::new();
    for tokens in tokens.chunks(each) {
        let load = Load::new("polls", ours.target(), status(tokens));
        let watch = Watch::start(&ours.redis)?;
        let tally = turns.slice(&load, SLICE)?;
        all.push(Polled {
            polls: stats::count(tally.waits.len()),
            calls: watch.end()?,
            seconds: tally.elapsed.as_secs_f64(),
        });
    }
    progress::step(&format!("{} slices", all.len()));
    Ok(chapter(&all))
}

fn chapter(all: &[Polled]) -> Chapter {
    let of = |pick: fn(&Polled) -> f64| all.iter().map(pick).collect::<Samples>();
    let used = of(|polled| polled.calls.counted / polled.allowed());
    let shown = [
        ("polls a second", of(|polled| polled.polls / polled.seconds)),
        (
            "calls a second",
            of(|polled| polled.calls.counted / polled.seconds),
        ),
        (
            "polls per call",
            of(|polled| polled.polls / polled.calls.counted),
        ),
        (
            "calls a second for the other two rooms",
            of(|polled| polled.calls.elsewhere / polled.seconds),
        ),
    ];
    let row = |(what, samples): (&str, Samples)| {
        let median = report::short(samples.median());
        vec![what.to_owned(), median, samples.spread(report::short)]
    };
    Chapter {
        tables: vec![Table {
            title: "Calls of the store while visitors poll".to_owned(),
            note: "What Redis was asked, by its own account (`MONITOR`), in slices in which visitors of a room with presence\n\
                   did nothing but poll: for the picture of the room, to mark who was seen, and for the list of rooms and the\n\
                   keys that servers share. No poll waits for any of them. Every room has its own picture."
                .to_owned(),
            columns: vec!["what", "median", "min..max"],
            rows: shown.map(row).to_vec(),
        }],
        goals: vec![Goal::new(
            "calls of the store while visitors poll",
            Bound::AtMost(1.0),
            "× (10 a second and one per 500 polls)",
            &used,
        )],
        ..Chapter::default()
    }
}

/// Redis's own account of what it is asked.
struct Watch {
    client: Child,
    account: NamedTempFile,
}

impl Watch {
    fn start(redis: &TestRedis) -> Result<Self> {
        let account = NamedTempFile::new()?;
        let client = Command::new("redis-cli")
            .args(["-p", &redis.port().to_string(), "MONITOR"])
            .stdin(Stdio::null())
            .stdout(File::create(account.path())?)
            .spawn()?;
        let watch = Self { client, account };
        let deadline = Instant::now() + WATCHED_WITHIN;
        while !fs::read_to_string(watch.account.path())?.starts_with("OK") {
            if Instant::now() > deadline {
                return Err("Redis does not tell what it is asked".into());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(watch)
    }

    fn end(mut self) -> Result<Calls> {
        self.client.kill()?;
        self.client.wait()?;
        Ok(calls(&fs::read_to_string(self.account.path())?))
    }
}

/// Lines that tell of a client's command: what functions call in their turn takes no round trip.
fn calls(account: &str) -> Calls {
    let told = account.lines().filter(|line| line.contains("] \""));
    let told = told.filter(|line| !line.contains(" lua] "));
    let (counted, elsewhere): (Vec<_>, Vec<_>) =
        told.partition(|line| line.contains("{tick}") || !line.contains("\"rl:{"));
    Calls {
        counted: stats::count(counted.len()),
        elsewhere: stats::count(elsewhere.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_function_calls_is_not_a_call() {
        let account = "OK\n\
            1800000000.1 [0 127.0.0.1:60866] \"FCALL\" \"rl_abc_join\" \"16\" \"rl:{tick}:room\"\n\
            1800000000.1 [0 lua] \"HGETALL\" \"rl:{tick}:room\"\n\
            1800000000.2 [0 127.0.0.1:60866] \"FCALL\" \"rl_abc_join\" \"16\" \"rl:{main}:room\"\n\
            1800000000.2 [0 127.0.0.1:60866] \"SMEMBERS\" \"rl:rooms\"\n";
        let calls = calls(account);
        assert!((calls.counted - 2.0).abs() < f64::EPSILON);
        assert!((calls.elsewhere - 1.0).abs() < f64::EPSILON);
    }
}
