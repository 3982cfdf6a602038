//! `redis-benchmark`, which comes with Redis and costs next to nothing per command.

use std::process::Command;

use ropeline_testing::TestRedis;

use crate::{Result, filled, ids::Ids};

/// Commands that a connection has on the way.
pub(super) const PIPELINE: &str = "64";
/// Connections: what `redis-benchmark` has by default.
pub(super) const CONNECTIONS: &str = "50";
/// Numbers that are drawn, as many as it can: hardly any comes twice.
const NUMBERS: u32 = 2_000_000_000;
/// Where it writes a number of twelve digits, as many as our ids end with.
const NUMBER: &str = "__rand_int__";

const JOIN: &str = include_str!("join.lua");
const ORDINAL: &str = "ordinal";

/// Something that Redis is asked again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// `ZRANK` in the filled line.
    Rank,
    /// `ZADD` of a newcomer to another line.
    Add,
    /// The join script for one visitor, by `EVALSHA`, to the filled line.
    Join,
}

/// A Redis with a filled line.
#[derive(Debug)]
pub(super) struct Asked {
    redis: TestRedis,
    waiting: u64,
    join: String,
}

impl Asked {
    pub(super) fn new(redis: TestRedis, waiting: u64) -> Self {
        redis.cli(&["SET", ORDINAL, &waiting.to_string()]);
        let join = redis.cli(&["SCRIPT", "LOAD", JOIN]);
        Self {
            join: join.trim().to_owned(),
            redis,
            waiting,
        }
    }

    /// How many a second are answered, of so many, in one repetition of several.
    pub(super) fn ask(&self, question: Question, requests: u64, round: usize) -> Result<f64> {
        let before = self.places()?;
        let output = self.command(question, requests, round).output()?;
        let text = String::from_utf8(output.stdout)?;
        if !output.status.success() || text.to_lowercase().contains("error") {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("redis-benchmark failed: {text}{errors}").into());
        }
        let joined = self.places()? - before;
        if question == Question::Join && joined < requests / 100 * 99 {
            return Err(format!("{requests} calls of the join script made {joined} places").into());
        }
        per_second(&text)
    }

    fn command(&self, question: Question, requests: u64, round: usize) -> Command {
        let numbers = match question {
            Question::Rank => self.waiting.to_string(),
            Question::Add | Question::Join => NUMBERS.to_string(),
        };
        let id = |group: &str| format!("{}{NUMBER}", Ids::of(group).start());
        let waiting = id(filled::GROUP);
        // It may draw the same numbers as in another repetition: its seed is made of the second and its process id.
        let joining = id(&format!("bench-joining-{round}"));
        let mut command = Command::new("redis-benchmark");
        command
            .args(["-p", &self.redis.port().to_string(), "--csv"])
            .args(["-P", PIPELINE, "-c", CONNECTIONS])
            .args(["-n", &requests.to_string(), "-r", &numbers]);
        match question {
            Question::Rank => command.args(["ZRANK", filled::LINE, &waiting]),
            Question::Add => command.args(["ZADD", "added", NUMBER, &joining]),
            Question::Join => {
                command.args(["EVALSHA", &self.join, "2", ORDINAL, filled::LINE, &joining])
            }
        };
        command
    }

    fn places(&self) -> Result<u64> {
        let count = self.redis.cli(&["ZCARD", filled::LINE]);
        Ok(count.trim().parse()?)
    }
}

/// The second column of the only row below the header.
fn per_second(csv: &str) -> Result<f64> {
    let row = csv.lines().last().unwrap_or_default();
    let columns = row.trim_matches('"').split("\",\"");
    // The name of the test is the whole command, which has no such separator.
    let rate = columns
        .into_iter()
        .nth(1)
        .and_then(|rate| rate.parse().ok());
    rate.ok_or_else(|| format!("redis-benchmark said {csv}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_the_second_column() {
        let csv =
            "\"test\",\"rps\",\"avg_latency_ms\"\n\"ZRANK waiting x\",\"341296.91\",\"0.5\"\n";
        assert!((per_second(csv).expect("it is there") - 341_296.91).abs() < 0.01);
        assert!(per_second("Could not connect to Redis\n").is_err());
    }
}
