//! The product with its own store, beside a bare axum server.

use super::{Args, CROWD, Load, OwnServer, figures, product::Product, requests, turns::Turns};
use crate::{
    Result,
    goals::{Bound, Goal},
    progress,
    report::Chapter,
};

pub(crate) fn run(args: &Args) -> Result<Chapter> {
    progress::phase("servers");
    let turns = Turns::new(args)?;
    let yardsticks = Yardsticks::start()?;
    let product = Product::start(&args.product, "embedded", turns.runtime())?;
    progress::step("all answer");

    match measure(&turns, &yardsticks, &product) {
        Ok(loads) => Ok(Chapter {
            tables: vec![figures::table(args, &loads)],
            goals: goals(&loads),
            ..Chapter::default()
        }),
        Err(error) => Err(format!("{error}\n{}", product.last_words()).into()),
    }
}

/// What the machine can do over HTTP, from the most of a server to the least.
struct Yardsticks {
    hello: OwnServer,
    axum: OwnServer,
    hyper: OwnServer,
}

impl Yardsticks {
    fn start() -> Result<Self> {
        Ok(Self {
            hello: OwnServer::start(&["hello"])?,
            axum: OwnServer::start(&["hello", "axum"])?,
            hyper: OwnServer::start(&["hello", "hyper"])?,
        })
    }
}

fn measure(turns: &Turns<'_>, yardsticks: &Yardsticks, product: &Product) -> Result<Vec<Load>> {
    progress::phase("filling and warming up");
    let mut loads = loads(turns, yardsticks, product)?;
    turns.warm_up(&mut loads)?;
    progress::phase("requests over HTTP");
    turns.measure(&mut loads)?;
    Ok(loads)
}

fn goals(loads: &[Load]) -> Vec<Goal> {
    let [_, _, _, status, join, _, _, crowd] = loads else {
        return Vec::new();
    };
    let goal = |what, bound, load: &Load| {
        let hello = Load::hello_beside(loads, load);
        let ratios = load.figures.ratios(&hello.figures);
        Goal::new(what, Bound::AtLeast(bound), "× hello", &ratios)
    };
    vec![
        goal("status", 0.90, status),
        goal("durable join, embedded", 0.55, join),
        goal("durable join, embedded, 256 connections", 0.55, crowd),
    ]
}

/// The yardstick is the first.
fn loads(turns: &Turns<'_>, yardsticks: &Yardsticks, product: &Product) -> Result<Vec<Load>> {
    let target = product.target();
    let waiting = turns.fill(target.address, "main", "bench-waiting", turns.args.waiting)?;
    let inside = turns.fill(target.address, "inside", "bench-inside", turns.args.inside)?;
    let status = requests::with_tokens("/api/v1/queue/status", &waiting);
    let joins = requests::joins("main", "bench-joining");
    let verify = requests::with_tokens("/api/v1/queue/verify?room=inside", &inside);
    Ok(vec![
        Load::hello(&yardsticks.hello),
        Load::new(
            "bare axum, fixed body",
            yardsticks.axum.target(),
            requests::hello(),
        ),
        Load::new(
            "bare hyper, fixed body",
            yardsticks.hyper.target(),
            requests::hello(),
        ),
        Load::new("status", target, status),
        Load::new("durable join", target, joins.clone()),
        Load::new("gate check", target, verify),
        Load::new(
            "hello, 256 connections",
            yardsticks.hello.target(),
            requests::hello(),
        )
        .over(CROWD),
        Load::new("durable join, 256 connections", target, joins).over(CROWD),
    ])
}
