//! What Redis can do at most, and our store without HTTP beside it.

mod benchmark;
mod store;

use std::time::Duration;

use benchmark::{Asked, CONNECTIONS, PIPELINE, Question};
use ropeline_testing::{Persistence, TestRedis};
use store::{CALLERS, Joins};
use tokio::runtime::Runtime;

use crate::{
    Result,
    beforehand::{Found, What},
    filled,
    goals::{Bound, Goal},
    http::on_redis::servers::OPTIONS,
    progress,
    report::{self, Chapter, Table},
    stats::Samples,
};

/// So many commands for a second of measuring: about what Redis does with the dearest.
const COMMANDS_PER_SECOND: f64 = 50_000.0;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) waiting: u64,
    pub(crate) rounds: usize,
    pub(crate) seconds: f64,
}

/// Answers per second, one figure for each repetition.
#[derive(Debug)]
pub(crate) struct Limit {
    rank: Samples,
    add: Samples,
    script: Samples,
    store: Samples,
    /// Of the store, against the script in the same repetition.
    ratio: Samples,
    waiting: u64,
}

pub(crate) fn run(size: Size) -> Result<Limit> {
    progress::phase("the Redis limit, and the store without HTTP");
    let redis = || TestRedis::with(Persistence::EverySecond, &OPTIONS);
    let (plain, joins) = (redis(), Joins::new(redis())?);
    let url = plain.url();
    Runtime::new()?.block_on(filled::sorted_set(&url, filled::LINE, size.waiting))?;
    joins.fill(size.waiting)?;
    progress::step(&format!("{} wait on both sides", size.waiting));
    let asked = Asked::new(plain, size.waiting);
    let rounds: Vec<_> = (0..size.rounds)
        .map(|number| round(&asked, &joins, size.seconds, number))
        .collect::<Result<_>>()?;
    let of = |pick: fn(&[f64; 4]) -> f64| rounds.iter().map(pick).collect::<Samples>();
    Ok(Limit {
        rank: of(|round| round[0]),
        add: of(|round| round[1]),
        script: of(|round| round[2]),
        store: of(|round| round[3]),
        ratio: of(|round| round[3] / round[2]),
        waiting: size.waiting,
    })
}

/// All in turn: `ZRANK`, `ZADD`, the script, the store.
fn round(asked: &Asked, joins: &Joins, seconds: f64, number: usize) -> Result<[f64; 4]> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of commands"
    )]
    let commands = (seconds * COMMANDS_PER_SECOND) as u64;
    let rank = asked.ask(Question::Rank, 3 * commands, number)?;
    let add = asked.ask(Question::Add, 2 * commands, number)?;
    let script = asked.ask(Question::Join, commands, number)?;
    let store = joins.run(Duration::from_secs_f64(seconds))?.per_second;
    progress::step(&format!(
        "ZRANK {}/s, ZADD {}/s, script {}/s, store {}/s",
        report::rate(rank),
        report::rate(add),
        report::rate(script),
        report::rate(store)
    ));
    Ok([rank, add, script, store])
}

impl Limit {
    /// What is known from elsewhere.
    pub(crate) fn found(&self) -> [Found; 3] {
        [
            Found::new(What::Rank, self.rank.median()),
            Found::new(What::Add, self.add.median()),
            Found::new(What::Script, self.script.median()),
        ]
    }

    pub(crate) fn chapter(&self) -> Chapter {
        let goal = "joins of the Redis store without HTTP";
        let unit = "× the script for one visitor, pipelined";
        Chapter {
            tables: vec![self.table()],
            goals: vec![Goal::new(goal, Bound::AtLeast(1.4), unit, &self.ratio)],
            ..Chapter::default()
        }
    }

    fn table(&self) -> Table {
        let script = self.script.median();
        let beside = |samples: &Samples| samples.median() / script;
        let rows = [
            ("`ZRANK` in the line", &self.rank, beside(&self.rank)),
            ("`ZADD`", &self.add, beside(&self.add)),
            ("join script, one visitor per call", &self.script, 1.0),
            (
                "the store of Ropeline, joins without HTTP",
                &self.store,
                self.ratio.median(),
            ),
        ];
        let row = |(what, samples, ratio): (&str, &Samples, f64)| {
            let rate = report::rate(samples.median());
            let ratio = report::ratio(ratio);
            vec![what.to_owned(), rate, samples.spread(report::rate), ratio]
        };
        Table {
            title: "The Redis limit".to_owned(),
            note: self.note(),
            columns: vec!["what", "per second", "min..max", "× script"],
            rows: rows.map(row).to_vec(),
        }
    }

    fn note(&self) -> String {
        let waiting = self.waiting;
        format!(
            "{waiting} wait, the log is synced every second on both sides. The first three are `redis-benchmark` with\n\
             {CONNECTIONS} connections and a pipeline of {PIPELINE}; the script (`bench/src/limit/join.lua`, by `EVALSHA`) counts an ordinal\n\
             up, adds the visitor with it and returns it, and keeps nothing else. The last is the product's store as a\n\
             library, {CALLERS} callers at once, each with one join on the way; it takes as many as wait into one call."
        )
    }
}
