//! What the loads on Redis come to.

use super::{
    super::{Args, Load, figures, turns::SLICE},
    Servers,
};
use crate::report::{self, Table};

/// Of ours, and of the plain design's, by their places among the loads.
const PAIRS: [(usize, usize, &str); 5] = [
    (6, 1, "join, beside one that counts by `ZCARD`"),
    (6, 2, "join, beside one that counts by `KEYS`, 200 inside"),
    (6, 3, "join, beside one that counts by `KEYS`, 3333 inside"),
    (7, 4, "status"),
    (8, 5, "gate check"),
];

pub(crate) fn requests(args: &Args, loads: &[Load], servers: &Servers) -> Table {
    let hello = &loads[0].figures;
    let mut columns = figures::COLUMNS.to_vec();
    columns.insert(columns.len() - 1, "Redis µs");
    let mut rows: Vec<_> = loads.iter().map(|load| row(load, &loads[0])).collect();
    if servers.product.is_err() {
        let mut missing = vec!["–".to_owned(); columns.len()];
        missing[..2].clone_from_slice(&["Ropeline".to_owned(), "refuses the store".to_owned()]);
        rows.push(missing);
    }
    Table {
        title: "Requests over HTTP, on Redis".to_owned(),
        note: format!(
            "As above, {} repetitions of {} s in slices of {} ms, each side on a Redis of its own with the log synced\n\
             every second. `plain` is what the seeds' teams wrote (`bench/src/http/plain`): an axum service that sends one\n\
             command after the other over one connection. Its join counts those inside, then `ZADD NX` and\n\
             `ZRANK`; its status is `EXISTS`, then `ZRANK`; its gate is `EXISTS`, then `EXPIRE`. It signs nothing, and its\n\
             answers are short. {} wait, {} are inside. Redis µs is what Redis takes beside the server; the load\n\
             generator takes another {:.1} µs.",
            args.rounds,
            args.seconds,
            SLICE.as_millis(),
            args.waiting,
            args.inside,
            hello.generator_micros(),
        ),
        columns,
        rows,
    }
}

fn row(load: &Load, hello: &Load) -> Vec<String> {
    let mut row = figures::row(load, &hello.figures);
    let redis = match load.server.redis {
        None => "–".to_owned(),
        Some(_) => format!("{:.1}", load.figures.redis_micros()),
    };
    row.insert(row.len() - 1, redis);
    row
}

pub(crate) fn beside(loads: &[Load]) -> Table {
    let rows = PAIRS.map(|(ours, theirs, what)| ratio(loads, ours, theirs, what));
    Table {
        title: "Ropeline on Redis beside the plain design".to_owned(),
        note: "Requests per second, each repetition against the same one of the plain design."
            .to_owned(),
        columns: vec!["request", "× plain", "min..max"],
        rows: rows.to_vec(),
    }
}

fn ratio(loads: &[Load], ours: usize, theirs: usize, what: &str) -> Vec<String> {
    let Some(load) = loads.get(ours) else {
        return vec![what.to_owned(), "not measured".to_owned(), "–".to_owned()];
    };
    let ratios = load.figures.ratios(&loads[theirs].figures);
    vec![
        what.to_owned(),
        report::ratio(ratios.median()),
        ratios.spread(report::ratio),
    ]
}
