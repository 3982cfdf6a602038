//! The product on Redis beside the plain design on Redis.
//!
//! Each side has a Redis of its own with the same settings, so that neither pays for what the other wrote.

pub(crate) mod servers;
mod tables;
pub(crate) mod tick;

use servers::Servers;

use super::{Args, Load, requests, turns::Turns};
use crate::{Result, progress, report::Chapter};

/// How the comparison ended.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) chapter: Chapter,
    /// Why the product is missing from it, where it is. The rest is worth reading all the same.
    pub(crate) refused: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Compared> {
    progress::phase("servers on Redis");
    let turns = Turns::new(args)?;
    let servers = Servers::start(args, &turns)?;
    progress::step("all answer");

    let measured = measure(&turns, &servers);
    let chapter = measured.map_err(|error| format!("{error}\n{}", servers.last_words()))?;
    Ok(Compared {
        chapter,
        refused: servers.product.err(),
    })
}

fn measure(turns: &Turns<'_>, servers: &Servers) -> Result<Chapter> {
    progress::phase("filling and warming up");
    let mut loads = loads(turns, servers)?;
    turns.warm_up(&mut loads)?;
    progress::phase("requests over HTTP, on Redis");
    turns.measure(&mut loads)?;
    progress::phase("ticks, on Redis");
    let ticks = tick::measure(turns, servers)?;
    Ok(Chapter {
        tables: vec![
            tables::requests(turns.args, &loads, servers),
            tables::beside(&loads),
            tick::table(turns.args, &ticks),
        ],
        goals: tick::goals(&ticks),
        ..Chapter::default()
    })
}

/// The yardstick is the first; then come those of the plain design, then ours. [`tables`] relies on it.
fn loads(turns: &Turns<'_>, servers: &Servers) -> Result<Vec<Load>> {
    let mut loads = vec![Load::hello(&servers.hello)];
    loads.extend(of_the_plain_design(turns, servers)?);
    if servers.product.is_ok() {
        loads.extend(of_the_product(turns, servers)?);
    }
    Ok(loads)
}

fn of_the_plain_design(turns: &Turns<'_>, servers: &Servers) -> Result<Vec<Load>> {
    let plain = servers.plain();
    // Those who come first get in without waiting, and all others wait.
    let inside = turns.fill(plain.address, "plain", "bench-inside", turns.args.inside)?;
    let waiting = turns.fill(plain.address, "plain", "bench-waiting", turns.args.waiting)?;
    let joins = || requests::joins("plain", "bench-joining");
    let [few, many] = servers.counting_keys();
    Ok(vec![
        Load::new("plain: join, `ZCARD`", plain, joins()),
        Load::new("plain: join, `KEYS`, 200 inside", few, joins()),
        Load::new("plain: join, `KEYS`, 3333 inside", many, joins()),
        Load::new("plain: status", plain, status(&waiting)),
        Load::new("plain: gate check", plain, verify(&inside)),
    ])
}

fn of_the_product(turns: &Turns<'_>, servers: &Servers) -> Result<Vec<Load>> {
    let target = servers.on_redis()?;
    let waiting = turns.fill(target.address, "main", "bench-waiting", turns.args.waiting)?;
    let inside = turns.fill(target.address, "inside", "bench-inside", turns.args.inside)?;
    let joins = requests::joins("main", "bench-joining");
    Ok(vec![
        Load::new("Ropeline: join", target, joins),
        Load::new("Ropeline: status", target, status(&waiting)),
        Load::new("Ropeline: gate check", target, verify(&inside)),
    ])
}

fn status(tokens: &[String]) -> requests::Requests {
    requests::with_tokens("/api/v1/queue/status", tokens)
}

fn verify(tokens: &[String]) -> requests::Requests {
    requests::with_tokens("/api/v1/queue/verify?room=inside", tokens)
}
