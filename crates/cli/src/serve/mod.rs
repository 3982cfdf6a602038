//! `ropeline serve`: runs the waiting room, with the box office beside it, until it is told to stop.

mod greeting;
mod reload;

use std::sync::Arc;

use ropeline_core::Clock;
use ropeline_server::{
    Ready,
    config::{BearerKey, DatabaseUrl, Overrides, Settings, StoreChoice},
};
use ropeline_store::SystemClock;
use ropeline_web::{EventLoops, Report};
use tokio::{
    runtime::Runtime,
    signal::unix::{Signal, SignalKind, signal},
};

use self::greeting::greet;
pub(crate) use self::reload::Reloading;
use crate::{
    args::TypedFlags,
    boxoffice::{Neighbour, Wish, has_idle_books},
    failure::Failure,
    logging::{self, LogLevel},
    open_files,
};

pub(crate) fn run(overrides: &Overrides, typed: &TypedFlags) -> Result<(), Failure> {
    let runtime = Runtime::new().map_err(Failure::Runtime)?;
    let hangup = hangup_signal(&runtime)?;
    let settings = Settings::load(overrides)?;
    let level = prepare_process(&settings, typed);
    let loops = Arc::new(EventLoops::start().map_err(Failure::Runtime)?);
    // What was made on the loops, such as connections to Redis, is used until the end.
    let reloading = Reloading::new(hangup, overrides, level, &settings);
    runtime.block_on(until_stopped(settings, Arc::clone(&loops), reloading))
}

/// Starts the log, and makes room for as many connections as there may be.
pub(crate) fn prepare_process(settings: &Settings, typed: &TypedFlags) -> LogLevel {
    let level = logging::start(&settings.log);
    warn_of_visible_secrets(settings, typed);
    for (name, key) in [
        ("admin", &settings.admin_key),
        ("service", &settings.service_key),
    ] {
        if key.as_ref().is_some_and(BearerKey::is_short) {
            tracing::warn!(
                "the {name} key is shorter than 16 characters and may be guessed: it is refused where others can reach this server"
            );
        }
    }
    if let Err(limit) = open_files::allow(settings.limits.descriptors_max()) {
        tracing::warn!(
            allowed = limit.allowed,
            "fewer files may be open than limits.connections_max asks for: raise `ulimit -Hn`, or lower the setting"
        );
    }
    level
}

/// Other users of this machine can read flags for as long as the process runs.
fn warn_of_visible_secrets(settings: &Settings, typed: &TypedFlags) {
    let store_has_password =
        matches!(&settings.store, StoreChoice::Redis(url) if url.has_password());
    let database_has_password = settings
        .database
        .as_ref()
        .is_some_and(DatabaseUrl::has_password);
    for (flag, is_secret, instead) in [
        ("--admin-key", true, "--admin-key-file"),
        ("--service-key", true, "--service-key-file"),
        ("--store", store_has_password, "ROPELINE_STORE"),
        ("--database", database_has_password, "ROPELINE_DATABASE"),
    ] {
        if is_secret && typed.have(flag) {
            tracing::warn!(
                "other users of this machine can read the secret in {flag} from the list of processes: use {instead}"
            );
        }
    }
}

async fn until_stopped(
    settings: Settings,
    loops: Arc<EventLoops>,
    reloading: Reloading<'_>,
) -> Result<(), Failure> {
    let stop = stop_signal()?;
    tokio::pin!(stop);
    let (wish, format) = (Wish::of(&settings), settings.log.format);
    let idle_books = has_idle_books(&settings);
    let opened = tokio::select! {
        opened = open(settings, wish) => opened,
        // It may be waiting for a store, and nobody has been answered yet.
        () = &mut stop => return Ok(()),
    };
    let (ready, neighbour) = opened?;
    let books = neighbour.as_ref().map(Neighbour::books);
    greet(format, ready.started(), wish, books)?;
    warn_of_risks(&ready);
    if idle_books {
        tracing::warn!(
            "the box office is off, though there are books of it: to sell, write [boxoffice] into the settings file"
        );
    }
    if let Some(neighbour) = &neighbour {
        neighbour.go_to_work();
    }
    let mut reloader = ready.reloader();
    let reloads = reloading.run(async |fresh| reloader.reload(fresh).await);
    let served = ready.by(loops).serve(async {
        stop.await;
        tracing::info!("stopping: requests in progress are finished first");
        if let Some(neighbour) = &neighbour {
            neighbour.stop_working();
        }
    });
    let report = tokio::select! {
        report = served => report,
        never = reloads => match never {},
    };
    tell_cut(report);
    if let Some(neighbour) = neighbour {
        neighbour.close().await;
    }
    Ok(())
}

async fn open(settings: Settings, wish: Wish) -> Result<(Ready, Option<Neighbour>), Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let ready = Ready::prepare(settings.clone(), Arc::clone(&clock)).await;
    let ready = ready.map_err(|error| Failure::Server(Box::new(error)))?;
    match wish {
        Wish::BoxOffice => {
            let (ready, neighbour) = Neighbour::move_in(ready, &settings, clock).await?;
            Ok((ready, Some(neighbour)))
        }
        Wish::Nothing | Wish::LacksDatabase => Ok((ready, None)),
    }
}

fn warn_of_risks(ready: &Ready) {
    let started = ready.started();
    for warning in &started.warnings {
        tracing::warn!("{warning}");
    }
    for room in &started.open_to_others {
        tracing::warn!(room.id = %room, "{}", started.advice_for_open_room);
    }
}

/// Says how many were not answered to the end.
pub(crate) fn tell_cut(report: Report) {
    if report.cut > 0 {
        tracing::warn!(
            connections = report.cut,
            "connections were still busy and have been cut"
        );
    }
}

/// Resolves when the process is asked to stop.
pub(crate) fn stop_signal() -> Result<impl Future<Output = ()>, Failure> {
    let (mut interrupt, mut terminate) = (
        listen_for(SignalKind::interrupt())?,
        listen_for(SignalKind::terminate())?,
    );
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// SIGHUP, which reloads the settings. Until somebody listens for it, it ends the process, so this comes first.
pub(crate) fn hangup_signal(runtime: &Runtime) -> Result<Signal, Failure> {
    let _inside = runtime.enter();
    listen_for(SignalKind::hangup())
}

fn listen_for(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(Failure::Runtime)
}
