//! `ropeline health`: one question, one line, and an exit code for scripts.

use std::time::Duration;

use ropeline_server::config::{Overrides, Settings};
use serde_json::Value;
use tokio::runtime::Builder;

use crate::{
    failure::Failure,
    http::{Answer, BaseUrl, Bounds, Http},
    output::print,
};

/// Health checks of containers give up after 30 s; a person does sooner.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub(crate) struct HealthArgs {
    /// The server [default: the address that the settings listen on]
    url: Option<BaseUrl>,
}

pub(crate) fn run(args: HealthArgs, overrides: &Overrides) -> Result<(), Failure> {
    let base = match args.url {
        Some(url) => url,
        None => BaseUrl::of_listener(Settings::load(overrides)?.listen),
    };
    let runtime = Builder::new_current_thread().enable_all().build();
    let answer = runtime.map_err(Failure::Runtime)?.block_on(ask(&base))?;
    match verdict(&answer) {
        Ok(word) => print(&format!("{base} is {word}\n")),
        Err(word) => Err(Failure::NotReady(format!("{base} {word}"))),
    }
}

async fn ask(base: &BaseUrl) -> Result<Answer, Failure> {
    let bounds = Bounds {
        answer_max: PATIENCE,
        connections_max: 1,
    };
    let http = Http::new(base.clone(), bounds)?;
    Ok(http.send(http.get("/readyz")).await?)
}

/// Ready, or why not. A degraded server takes visitors, so it is ready.
fn verdict(answer: &Answer) -> Result<String, String> {
    let body = answer.json().unwrap_or_default();
    let status = body["status"].as_str().unwrap_or_default();
    match (answer.status.as_u16(), status) {
        (200, "ready") => Ok("ready".into()),
        (200, "degraded") => Ok(format!("ready, but degraded: {}", reasons(&body))),
        (503, "draining") => Err("is stopping".into()),
        (other, _) => Err(format!(
            "answers, but not as Ropeline does ({other} for /readyz); is something else listening there?"
        )),
    }
}

fn reasons(body: &Value) -> String {
    let parts = body["degraded"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |part: &Value, key: &str| part[key].as_str().unwrap_or("unknown").to_owned();
    let reasons = parts
        .iter()
        .map(|part| format!("{}: {}", text(part, "part"), text(part, "reason")));
    reasons.collect::<Vec<_>>().join("; ")
}
