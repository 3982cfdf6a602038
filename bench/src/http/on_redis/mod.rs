//! The product on Redis beside the plain design on Redis.
//!
//! Each side has a Redis of its own with the same settings, so that neither pays for what the other wrote.

mod calls;
mod goals;
mod names;
pub(crate) mod opponents;
mod replicated;
pub(crate) mod servers;
mod tables;
pub(crate) mod tick;

use servers::{Ours, Servers};

use super::{Args, CROWD, Load, Target, requests, turns::Turns};
use crate::{
    Result,
    beforehand::{Found, What},
    filled, progress,
    report::Chapter,
};

/// How many connections ask a design that takes milliseconds for an answer: more would only wait, for minutes.
const SLOW_CONNECTIONS: usize = 4;

/// How the comparison ended.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) chapter: Chapter,
    /// What is known of the opponents from elsewhere.
    pub(crate) found: Vec<Found>,
    /// Why the product is missing from it, where it is. The rest is worth reading all the same.
    pub(crate) refused: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Compared> {
    progress::phase("servers on Redis");
    let turns = Turns::new(args)?;
    let servers = Servers::start(args, &turns)?;
    progress::step("all answer");

    let measured = measure(&turns, &servers);
    let (chapter, found) =
        measured.map_err(|error| format!("{error}\n{}", servers.last_words()))?;
    Ok(Compared {
        chapter,
        found,
        refused: servers.ours.err(),
    })
}

fn measure(turns: &Turns<'_>, servers: &Servers) -> Result<(Chapter, Vec<Found>)> {
    progress::phase("filling and warming up");
    let mut loads = loads(turns, servers)?;
    turns.warm_up(&mut loads)?;
    progress::phase("requests over HTTP, on Redis");
    turns.measure(&mut loads)?;
    let mut chapter = Chapter {
        tables: vec![
            tables::requests(turns.args, &loads, servers),
            tables::beside(&loads),
        ],
        goals: goals::of(&loads),
        ..Chapter::default()
    };
    let queue = servers
        .ours
        .as_ref()
        .ok()
        .map(|ours| tick::fill(turns, ours));
    let queue = queue.transpose()?;
    if let (Ok(ours), Some(tokens)) = (&servers.ours, &queue) {
        progress::phase("calls of the store while visitors poll");
        chapter.append(calls::measure(turns, ours, tokens)?);
    }
    progress::phase("ticks, on Redis");
    let ticks = tick::measure(turns, servers)?;
    chapter.append(tick::chapter(turns.args, &ticks));
    let found = of_the_loads(&loads).chain(tick::found(&ticks)).collect();
    Ok((chapter, found))
}

fn of_the_loads(loads: &[Load]) -> impl Iterator<Item = Found> {
    let known = [
        (What::Hello, names::HELLO),
        (What::Join, names::PLAIN_JOIN),
        (What::JoinTogether, names::TOGETHER_JOIN),
        (What::JoinByKeysFew, names::KEYS_FEW),
        (What::JoinByKeysMany, names::KEYS_MANY),
        (What::Status, names::PLAIN_STATUS),
    ];
    known.into_iter().filter_map(|(what, name)| {
        let load = Load::named(loads, name)?;
        Some(Found::new(what, load.figures.per_second().median()))
    })
}

/// The yardstick is the first.
fn loads(turns: &Turns<'_>, servers: &Servers) -> Result<Vec<Load>> {
    let mut loads = vec![
        Load::hello(&servers.hello),
        Load::new(
            names::CROWD_HELLO,
            servers.hello.target(),
            requests::hello(),
        )
        .over(CROWD),
    ];
    loads.extend(of_the_plain_design(turns, servers)?);
    let together = [names::TOGETHER_JOIN, names::CROWD_TOGETHER_JOIN];
    let bare = [names::BARE_JOIN, names::CROWD_BARE_JOIN];
    let opponents = &servers.opponents;
    loads.extend(of_joins_alone(turns, opponents.together(), together)?);
    loads.extend(of_joins_alone(turns, opponents.bare(), bare)?);
    loads.extend(of_the_list_and_the_table(servers));
    if let Ok(ours) = &servers.ours {
        loads.extend(of_the_product(turns, ours)?);
    }
    let turn = |load: &Load| names::IN_TURN.iter().position(|name| *name == load.name);
    loads.sort_by_key(|load| turn(load).unwrap_or(names::IN_TURN.len()));
    Ok(loads)
}

fn of_the_plain_design(turns: &Turns<'_>, servers: &Servers) -> Result<Vec<Load>> {
    let plain = servers.opponents.plain();
    // Those who come first get in without waiting, and all others wait.
    let inside = turns.fill(plain.address, "plain", "bench-inside", turns.args.inside)?;
    let waiting = turns.fill(plain.address, "plain", "bench-waiting", turns.args.waiting)?;
    let joins = || requests::joins("plain", "bench-joining");
    let [few, many] = servers.opponents.counting_keys();
    Ok(vec![
        Load::new(names::PLAIN_JOIN, plain, joins()),
        Load::new(
            names::CROWD_PLAIN_JOIN,
            plain,
            requests::joins("plain", "bench-crowding"),
        )
        .over(CROWD),
        Load::new(names::KEYS_FEW, few, joins()),
        Load::new(names::KEYS_MANY, many, joins()),
        Load::new(names::PLAIN_STATUS, plain, status(&waiting)),
        Load::new(names::PLAIN_GATE, plain, verify(&inside)),
    ])
}

/// Of a yardstick that takes joins and nothing else.
fn of_joins_alone(turns: &Turns<'_>, server: Target, names: [&str; 2]) -> Result<[Load; 2]> {
    turns.fill(server.address, "plain", "bench-waiting", turns.args.waiting)?;
    let joins = |group| requests::joins("plain", group);
    let [few, crowd] = names;
    Ok([
        Load::new(few, server, joins("bench-joining")),
        Load::new(crowd, server, joins("bench-crowding")).over(CROWD),
    ])
}

fn of_the_list_and_the_table(servers: &Servers) -> [Load; 4] {
    let waiting: Vec<_> = (0..opponents::WAITING).map(filled::visitor).collect();
    let joins = || requests::joins("plain", "bench-joining");
    let (list, table) = (servers.opponents.list(), servers.opponents.table());
    [
        Load::new(names::LIST_JOIN, list, joins()).over(SLOW_CONNECTIONS),
        Load::new(names::LIST_STATUS, list, scattered(&waiting)).over(SLOW_CONNECTIONS),
        Load::new(names::TABLE_JOIN, table, joins()),
        Load::new(names::TABLE_STATUS, table, scattered(&waiting)),
    ]
}

fn of_the_product(turns: &Turns<'_>, ours: &Ours) -> Result<Vec<Load>> {
    let (target, replicated) = (ours.target(), ours.replicated.target());
    let fill = |target: Target, room, group, count| turns.fill(target.address, room, group, count);
    let waiting = fill(target, "main", "bench-waiting", turns.args.waiting)?;
    let inside = fill(target, "inside", "bench-inside", turns.args.inside)?;
    fill(replicated, "main", "bench-waiting", turns.args.waiting)?;
    let joins = || requests::joins("main", "bench-joining");
    let verify = verify(&inside);
    let crowding = requests::joins("main", "bench-crowding");
    Ok(vec![
        Load::new(names::CROWD_JOIN, target, crowding).over(CROWD),
        Load::new(names::CROWD_GATE, target, verify.clone()).over(CROWD),
        Load::new(names::JOIN, target, joins()),
        Load::new(names::JOIN_REPLICATED, replicated, joins()),
        Load::new(names::STATUS, target, status(&waiting)),
        Load::new(names::GATE, target, verify),
    ])
}

fn status(tokens: &[String]) -> requests::Requests {
    requests::with_tokens("/api/v1/queue/status", tokens)
}

/// From all over the line: those who ask first are not those who came first, where the place decides what it costs.
fn scattered(tokens: &[String]) -> requests::Requests {
    const STEP: usize = 7_919;
    let all = 0..tokens.len();
    let scattered: Vec<_> = all
        .map(|index| tokens[index * STEP % tokens.len()].clone())
        .collect();
    status(&scattered)
}

fn verify(tokens: &[String]) -> requests::Requests {
    requests::with_tokens("/api/v1/queue/verify?room=inside", tokens)
}
