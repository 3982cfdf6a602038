//! What the repetitions of a load come to.

use std::process;

use super::{Args, Load, Target, turns::SLICE};
use crate::{
    machine,
    report::{self, Table},
    stats::{self, Run, Samples, Tally},
};

/// The repetitions of one load.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    runs: Vec<Run>,
    /// Processor time for one request, in microseconds.
    server_micros: Vec<f64>,
    redis_micros: Vec<f64>,
    generator_micros: Vec<f64>,
    pub(crate) answer_bytes: usize,
}

/// One repetition while it is taken, slice by slice.
#[derive(Debug, Default)]
pub(crate) struct Repetition {
    tally: Tally,
    cpu: Cpu,
}

/// Processor time in seconds; zero where the system does not tell.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cpu {
    server: f64,
    redis: f64,
    generator: f64,
}

impl Cpu {
    pub(crate) fn used(server: Target) -> Self {
        let used = |process| machine::cpu_seconds(process).unwrap_or(0.0);
        Self {
            server: used(server.process),
            redis: server.redis.map_or(0.0, used),
            generator: used(process::id()),
        }
    }
}

impl Repetition {
    pub(crate) fn add(&mut self, slice: Tally, before: Cpu, after: Cpu) {
        self.tally.append(slice);
        self.cpu.server += after.server - before.server;
        self.cpu.redis += after.redis - before.redis;
        self.cpu.generator += after.generator - before.generator;
    }
}

impl Figures {
    pub(crate) fn add(&mut self, repetition: Repetition) -> Run {
        let run = Run::from(repetition.tally);
        let micros_each = 1e6 / stats::count(run.answers.max(1));
        self.server_micros.push(repetition.cpu.server * micros_each);
        self.redis_micros.push(repetition.cpu.redis * micros_each);
        self.generator_micros
            .push(repetition.cpu.generator * micros_each);
        self.runs.push(run.clone());
        run
    }

    pub(crate) fn of(&self, pick: fn(&Run) -> f64) -> Samples {
        self.runs.iter().map(pick).collect()
    }

    pub(crate) fn per_second(&self) -> Samples {
        self.of(|run| run.per_second)
    }

    /// How many requests of all repetitions were answered.
    pub(crate) fn answers(&self) -> f64 {
        let answers = self.runs.iter().map(|run| run.answers);
        stats::count(answers.sum())
    }

    pub(crate) fn generator_micros(&self) -> f64 {
        median(&self.generator_micros)
    }

    pub(crate) fn redis_micros(&self) -> f64 {
        median(&self.redis_micros)
    }

    /// Processor time of server and Redis for one request.
    pub(crate) fn all_micros(&self) -> f64 {
        median(&self.server_micros) + self.redis_micros()
    }

    /// Each repetition against the same repetition of the yardstick.
    pub(crate) fn ratios(&self, yardstick: &Self) -> Samples {
        let pairs = self.runs.iter().zip(&yardstick.runs);
        pairs
            .map(|(run, base)| run.per_second / base.per_second)
            .collect()
    }
}

fn median(values: &[f64]) -> f64 {
    let samples: Samples = values.iter().copied().collect();
    samples.median()
}

/// What [`row`] has.
pub(crate) const COLUMNS: [&str; 9] = [
    "request",
    "requests/s",
    "min..max",
    "p50 ms",
    "p99 ms",
    "× hello",
    "min..max",
    "CPU µs",
    "answer bytes",
];

pub(crate) fn table(args: &Args, loads: &[Load]) -> Table {
    let yardstick = &loads[0].figures;
    Table {
        title: "Requests over HTTP".to_owned(),
        note: format!(
            "{} connections, kept alive, each with one request on the way; {} repetitions of {} s, taken in\n\
             slices of {} ms in turn. `hello` is a bare axum server with a router, a path parameter and a JSON\n\
             answer; below it what axum and hyper do with an answer of the same bytes that is made once. Status is asked with the tokens of {} waiting visitors, the gate with those of {} inside;\n\
             every join is a new visitor, synced to disk before its answer. CPU is the server's for one request;\n\
             the load generator takes another {:.1} µs. It waits its turn for a processor (`SCHED_BATCH`), so that no\n\
             server is pushed off by its own answer.",
            args.connections,
            args.rounds,
            args.seconds,
            SLICE.as_millis(),
            args.waiting,
            args.inside,
            yardstick.generator_micros(),
        ),
        columns: COLUMNS.to_vec(),
        rows: loads
            .iter()
            .map(|load| row(load, &Load::hello_beside(loads, load).figures))
            .collect(),
    }
}

pub(crate) fn row(load: &Load, yardstick: &Figures) -> Vec<String> {
    let figures = &load.figures;
    let rates = figures.per_second();
    let ratios = figures.ratios(yardstick);
    vec![
        load.name.clone(),
        report::rate(rates.median()),
        rates.spread(report::rate),
        report::millis(figures.of(|run| run.p50.as_secs_f64() * 1e3).median()),
        report::millis(figures.of(|run| run.p99.as_secs_f64() * 1e3).median()),
        report::ratio(ratios.median()),
        ratios.spread(report::ratio),
        format!("{:.1}", median(&figures.server_micros)),
        figures.answer_bytes.to_string(),
    ]
}
