//! What the loads on Redis come to.

use super::{
    super::{Args, Load, figures, turns::SLICE},
    SLOW_CONNECTIONS, Servers, names,
    opponents::WAITING,
};
use crate::{
    report::{self, Table},
    stats::Samples,
};

/// Of ours, and of theirs.
const PAIRS: [(&str, &str, &str); 16] = [
    (
        names::JOIN,
        names::PLAIN_JOIN,
        "join, beside one that counts by `ZCARD`",
    ),
    (
        names::CROWD_JOIN,
        names::CROWD_PLAIN_JOIN,
        "the same, 256 connections",
    ),
    (
        names::TOGETHER_JOIN,
        names::PLAIN_JOIN,
        "not ours: join, many by one script, beside one that counts by `ZCARD`",
    ),
    (
        names::CROWD_TOGETHER_JOIN,
        names::CROWD_PLAIN_JOIN,
        "the same, 256 connections",
    ),
    (
        names::JOIN,
        names::TOGETHER_JOIN,
        "join, beside many by one script",
    ),
    (
        names::BARE_JOIN,
        names::PLAIN_JOIN,
        "not ours: join, bare, beside one that counts by `ZCARD`",
    ),
    (
        names::CROWD_BARE_JOIN,
        names::CROWD_PLAIN_JOIN,
        "the same, 256 connections",
    ),
    (names::JOIN, names::BARE_JOIN, "join, beside the bare one"),
    (
        names::JOIN,
        names::KEYS_FEW,
        "join, beside one that counts by `KEYS`, 200 inside",
    ),
    (
        names::JOIN,
        names::KEYS_MANY,
        "join, beside one that counts by `KEYS`, 3333 inside",
    ),
    (
        names::JOIN,
        names::LIST_JOIN,
        "join, beside a list that is scanned",
    ),
    (names::JOIN, names::TABLE_JOIN, "join, beside a table"),
    (names::STATUS, names::PLAIN_STATUS, "status"),
    (
        names::STATUS,
        names::LIST_STATUS,
        "status, beside a list that is scanned",
    ),
    (names::STATUS, names::TABLE_STATUS, "status, beside a table"),
    (names::GATE, names::PLAIN_GATE, "gate check"),
];

pub(crate) fn requests(args: &Args, loads: &[Load], servers: &Servers) -> Table {
    let hello = &loads[0].figures;
    let mut columns = figures::COLUMNS.to_vec();
    columns.insert(columns.len() - 1, "Redis µs");
    let beside = |load| row(load, Load::hello_beside(loads, load));
    let mut rows: Vec<_> = loads.iter().map(beside).collect();
    if servers.ours.is_err() {
        let mut missing = vec!["–".to_owned(); columns.len()];
        missing[..2].clone_from_slice(&["Ropeline".to_owned(), "refuses the store".to_owned()]);
        rows.push(missing);
    }
    Table {
        title: "Requests over HTTP, on Redis".to_owned(),
        note: format!(
            "As above, {} repetitions of {} s in slices of {} ms, each side on a Redis of its own with the log synced\n\
             every second; that alone is not durable, since a crash of the machine loses the last second. `plain` is what\n\
             the seeds' teams wrote (`bench/src/http/plain`): an axum service that sends one command after the other over\n\
             one connection. `many by one script` is the same service, whose joins are written together by one script and\n\
             nothing else: no token, no cap, no failover is seen to. It shows what that alone gains on this machine. `bare` is\n\
             what is left of that without axum: hyper on event loops like Ropeline's, the joins of each by the same script, and an\n\
             answer as long as Ropeline's that is made once for all. That is about the least that joins take with hyper. The\n\
             plain join counts those inside, then `ZADD NX` and `ZRANK`; the plain status is `EXISTS`, then `ZRANK`; the plain\n\
             gate is `EXISTS`, then `EXPIRE`. They sign nothing, and their answers are an eighth as long as ours and hello's,\n\
             as the seeds' are: both spare them work, which is kinder to them than to us. `list` reads the whole\n\
             list for a place in it, over {SLOW_CONNECTIONS} connections. `table` is PostgreSQL as it comes, over a pool of 10 as Spring has, with\n\
             an index for each of its questions; it syncs each join to disk. {WAITING} wait in the list and in the table,\n\
             {} in the others, {} are inside. `replica has it` is a second Redis that must have a join before it is\n\
             answered (`durability = \"strict\"`, by `WAIT 1`). Redis µs is what Redis takes beside the server; the load\n\
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
    let pairs = PAIRS.map(|(ours, theirs, what)| row_of(what, Load::ratios(loads, ours, theirs)));
    Table {
        title: "Ropeline on Redis beside the plain designs".to_owned(),
        note: "Requests per second, each repetition against the same one of whom it is beside."
            .to_owned(),
        columns: vec!["request", "× plain", "min..max"],
        rows: pairs.to_vec(),
    }
}

fn row_of(what: &str, ratios: Option<Samples>) -> Vec<String> {
    let Some(ratios) = ratios else {
        return vec![what.to_owned(), "not measured".to_owned(), "–".to_owned()];
    };
    vec![
        what.to_owned(),
        report::short(ratios.median()),
        ratios.spread(report::short),
    ]
}
