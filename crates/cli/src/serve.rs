//! `ropeline serve`: runs the waiting room until it is told to stop.

use std::{fmt::Write, sync::Arc};

use ropeline_server::{
    AdminKeyNote, Ready, RoomNote, Started, StartedRoom,
    config::{BearerKey, Overrides, Settings, StoreChoice, summary},
};
use ropeline_store::SystemClock;
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

use crate::{failure::Failure, http::BaseUrl, logging, open_files, output::print};

pub(crate) fn run(overrides: &Overrides) -> Result<(), Failure> {
    let settings = Settings::load(overrides)?;
    logging::start(&settings.log);
    for (name, key) in [
        ("admin", &settings.admin_key),
        ("service", &settings.service_key),
    ] {
        if key.as_ref().is_some_and(BearerKey::is_short) {
            tracing::warn!("the {name} key is shorter than 16 characters and may be guessed");
        }
    }
    if let Err(limit) = open_files::allow(settings.limits.connections_max) {
        tracing::warn!(
            allowed = limit.allowed,
            "fewer files may be open than limits.connections_max asks for: raise `ulimit -Hn`, or lower the setting"
        );
    }
    let runtime = Runtime::new().map_err(Failure::Runtime)?;
    runtime.block_on(until_stopped(settings))
}

async fn until_stopped(settings: Settings) -> Result<(), Failure> {
    let (mut interrupt, mut terminate) = (
        stop_on(SignalKind::interrupt())?,
        stop_on(SignalKind::terminate())?,
    );
    let stop = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    tokio::pin!(stop);
    let ready = tokio::select! {
        ready = Ready::prepare(settings, Arc::new(SystemClock::start())) => ready,
        // It may be waiting for a store, and nobody has been answered yet.
        () = &mut stop => return Ok(()),
    };
    let ready = ready.map_err(|error| Failure::Server(Box::new(error)))?;
    let started = ready.started();
    print(&greeting(started))?;
    for warning in &started.warnings {
        tracing::warn!("{warning}");
    }
    for room in &started.open_to_others {
        tracing::warn!(
            room.id = %room,
            "this room believes any userId, and others than this machine can reach it: let only your own \
             back end join, or verify logins with [login] and identity = \"jwt\", or set identity = \
             \"anonymous\""
        );
    }
    let report = ready
        .serve(async {
            stop.await;
            tracing::info!("stopping: requests in progress are finished first");
        })
        .await;
    if report.cut > 0 {
        tracing::warn!(
            connections = report.cut,
            "connections were still busy and have been cut"
        );
    }
    Ok(())
}

fn stop_on(kind: SignalKind) -> Result<tokio::signal::unix::Signal, Failure> {
    signal(kind).map_err(Failure::Runtime)
}

/// What an operator wants to see first, with something to try.
fn greeting(started: &Started) -> String {
    let Started {
        address,
        data,
        store,
        admin_key,
        rooms,
        ..
    } = started;
    let mut text = format!("Ropeline {}\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, value: &str| {
        writeln!(text, "  {name:<11} {value}").expect("a String takes everything");
    };
    line("listening", &format!("http://{address}"));
    match store {
        StoreChoice::Embedded => line("data", &format!("{} (embedded store)", data.display())),
        StoreChoice::Redis(url) => {
            line("store", &url.to_string());
            line("data", &format!("{} (keys and audit log)", data.display()));
        }
    }
    for StartedRoom { room, note, view } in rooms {
        line("room", &format!("{room}: {}", summary(&view.header.policy)));
        match note {
            RoomNote::Created => {}
            RoomNote::Kept => {
                line(
                    "",
                    &format!("{} waiting, {} inside", view.waiting(), view.inside),
                );
            }
            RoomNote::Changed(changes) => {
                line(
                    "",
                    &format!("{} waiting, {} inside", view.waiting(), view.inside),
                );
                for change in changes {
                    line("", &format!("changed: {change}"));
                }
            }
        }
    }
    match admin_key {
        AdminKeyNote::Known => {}
        AdminKeyNote::New(new) => {
            line("admin key", &new.key);
            line(
                "",
                &format!("kept in {}; not shown again", new.file.display()),
            );
        }
        AdminKeyNote::OfFirstNode => {
            line(
                "admin key",
                "the one that the first node printed, kept in its data directory",
            );
        }
    }
    let here = BaseUrl::of_listener(*address);
    let api = here.join("/api/v1/queue");
    text + &format!(
        "\nOpen {here}/ in a browser, or {here}/admin as operator. To see a line form:\n  \
         ropeline load crowd --url {here}\nBy hand:\n  \
         curl -X POST {api}/tokens\n  curl {api}/status -H 'X-Queue-Token: <token>'\n"
    )
}
