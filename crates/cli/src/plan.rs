//! `ropeline plan`: from what a service bears to the policy of a room.

use std::{fmt::Write, time::Duration};

use ropeline_core::{
    RoomId,
    plan::{Capacity, Decimal, PlanError, inside, last_wait},
};
use ropeline_server::config::span_text;
use serde_json::json;

use crate::{
    failure::Failure,
    output::print,
    units::{grouped, percent, room, span, spoken},
};

#[derive(clap::Args)]
pub(crate) struct PlanArgs {
    /// Requests per second that your service bears, as a load test shows
    #[arg(long, value_name = "N")]
    tps: Decimal,

    /// Requests that one visitor makes inside, from entering to leaving
    #[arg(long, value_name = "N")]
    calls: Decimal,

    /// How many times a request is made on average, repetitions included
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    retry: Decimal,

    /// How often people are to be let in
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = span)]
    every: Duration,

    /// Part of the requests per second to keep in reserve
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = percent)]
    headroom: Decimal,

    /// How long a visitor stays inside on average; gives a cap
    #[arg(long, value_name = "SPAN", value_parser = span)]
    stay: Option<Duration>,

    /// How many are expected at once; says how long the last of them waits
    #[arg(long, value_name = "N")]
    crowd: Option<u64>,

    /// The room that the policy is for
    #[arg(long, default_value = "main", value_parser = room)]
    room: RoomId,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// A plan that came out.
struct Plan {
    batch: u64,
    active_max: Option<u64>,
    last_wait: Option<Duration>,
}

pub(crate) fn run(args: &PlanArgs) -> Result<(), Failure> {
    let batch = args.capacity().batch().map_err(Failure::Plan)?;
    let plan = Plan {
        batch,
        active_max: args.stay.map(|stay| inside(batch, args.every, stay)),
        last_wait: args.crowd.map(|crowd| last_wait(crowd, batch, args.every)),
    };
    if args.json {
        return print(&as_json(args, &plan));
    }
    print(&format!(
        "{}\n{}\n{}",
        derivation(args, &plan),
        section(args, &plan),
        while_running(args, &plan)
    ))
}

/// What is wrong with figures that give no plan, and what to do about it.
pub(crate) fn advice(error: PlanError) -> String {
    match error {
        PlanError::LessThanOne {
            shortest: Some(tick),
        } => format!(
            "{error}: let people in less often, with --every {} or longer",
            span_text(tick)
        ),
        PlanError::LessThanOne { shortest: None } => {
            format!("{error}, nor into one of 30 days: check --tps, --calls and --retry")
        }
        other => format!("--{other}"),
    }
}

impl PlanArgs {
    fn capacity(&self) -> Capacity {
        Capacity {
            tps: self.tps,
            calls: self.calls,
            retry: self.retry,
            headroom: self.headroom,
            every: self.every,
        }
    }

    /// Requests that one visitor makes, repetitions included.
    fn per_visitor(&self) -> Decimal {
        self.calls.times(self.retry)
    }
}

/// The arithmetic as one would write it on paper.
fn derivation(args: &PlanArgs, plan: &Plan) -> String {
    let every = span_text(args.every);
    let (tps, mut spent) = (args.tps, args.tps);
    let mut text = String::new();
    let mut line = |name: &str, sum: &str| {
        writeln!(text, "{name:<26} {sum}").expect("a String takes everything");
    };
    line("your service bears", &format!("{tps} requests a second"));
    if args.headroom > Decimal::ZERO {
        spent = tps.less_percent(args.headroom);
        let headroom = args.headroom;
        line("less a reserve", &format!("{tps} − {headroom}% = {spent}"));
    }
    let per_visitor = args.per_visitor();
    if args.retry == Decimal::ONE {
        line("one visitor makes", &format!("{per_visitor} requests"));
    } else {
        let (calls, retry) = (args.calls, args.retry);
        let sum = format!("{calls} × {retry} = {per_visitor} requests");
        line("one visitor makes", &sum);
    }
    let seconds = Decimal::seconds(args.every);
    let requests = spent.times(seconds);
    line(
        &format!("requests in {every}"),
        &format!("{spent} × {seconds} = {requests}"),
    );
    line(
        &format!("visitors in {every}"),
        &format!("{requests} ÷ {per_visitor} = {} (rounded down)", plan.batch),
    );
    if let (Some(cap), Some(stay)) = (plan.active_max, args.stay) {
        let sum = format!(
            "{} ÷ {seconds} × {} = {cap} (rate of entering × stay, rounded up)",
            plan.batch,
            Decimal::seconds(stay)
        );
        line("inside at once", &sum);
    }
    if let (Some(wait), Some(crowd)) = (plan.last_wait, args.crowd) {
        let sum = format!(
            "⌈({crowd} − 1) ÷ {}⌉ × {every} = {} if all come at once",
            plan.batch,
            spoken(wait)
        );
        line(&format!("the last of {} waits", grouped(crowd)), &sum);
    }
    text
}

fn section(args: &PlanArgs, plan: &Plan) -> String {
    let mut text = format!(
        "For ropeline.toml:\n\n[rooms.{}]\nevery = \"{}\"\nbatch = {}\n",
        args.room,
        span_text(args.every),
        plan.batch
    );
    match plan.active_max {
        Some(cap) => writeln!(text, "active_max = {cap}"),
        None => writeln!(
            text,
            "# no active_max: however many may be inside; --stay works one out"
        ),
    }
    .expect("a String takes everything");
    text
}

fn while_running(args: &PlanArgs, plan: &Plan) -> String {
    let cap = match plan.active_max {
        Some(cap) => format!(" active_max={cap}"),
        None => String::new(),
    };
    format!(
        "Or while the server runs:\n\nropeline room set {} every={} batch={}{cap}\n",
        args.room,
        span_text(args.every),
        plan.batch
    )
}

fn policy_json(args: &PlanArgs, plan: &Plan) -> serde_json::Value {
    let mut policy = json!({"every": span_text(args.every), "batch": plan.batch});
    if let Some(cap) = plan.active_max {
        policy["activeMax"] = cap.into();
    }
    policy
}

fn as_json(args: &PlanArgs, plan: &Plan) -> String {
    let wait = plan.last_wait.map(|wait| wait.as_secs_f64());
    let result = json!({
        "room": args.room,
        "policy": policy_json(args, plan),
        "requestsPerVisitor": args.per_visitor().to_string(),
        "lastWaitSeconds": wait,
    });
    format!("{result}\n")
}
