//! `ropeline boxoffice`: the box office as a service of its own, behind the gate of a room elsewhere.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::Router;
use ropeline_boxoffice::http::{Logins, Operators, Parts, Service, Standalone};
use ropeline_core::{Clock, RoomId};
use ropeline_gate::{GateError, Gatekeeper, HttpGatekeeper, HttpOptions};
use ropeline_server::{
    AdminKeyNote, api_docs,
    audit::ServiceLog,
    config::{BearerKey, LogFormat, Overrides, Settings},
    problems::EXPLAINED,
};
use ropeline_store::SystemClock;
use ropeline_web::{Rates, Server, Tasks, bind};
use tokio::runtime::Runtime;

use super::{
    beside::{self, cookie_scope, public_host},
    books::Books,
};
use crate::{
    args::TypedFlags,
    failure::Failure,
    http::BaseUrl,
    output::print,
    serve::{self, Reloading},
};

/// How long the workers may take to put down what they have in hand.
const PUT_DOWN: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub(crate) struct BoxOfficeArgs {
    /// The server of the waiting room, as in <http://127.0.0.1:8080>
    #[arg(long, value_name = "URL", env = "ROPELINE_GATE")]
    gate: BaseUrl,
}

pub(crate) fn run(
    args: &BoxOfficeArgs,
    overrides: &Overrides,
    typed: &TypedFlags,
) -> Result<(), Failure> {
    let runtime = Runtime::new().map_err(Failure::Runtime)?;
    let hangup = serve::hangup_signal(&runtime)?;
    let settings = Settings::load(overrides)?;
    check_logins(&settings)?;
    let level = serve::prepare_process(&settings, typed);
    let keeper = keeper(&args.gate, &settings)?;
    let reloading = Reloading::new(hangup, overrides, level, &settings);
    runtime.block_on(until_stopped(&args.gate, settings, keeper, reloading))
}

/// Rooms are often started with the same settings file, and then they would verify these logins.
fn check_logins(settings: &Settings) -> Result<(), Failure> {
    if settings.login.source.is_none() {
        return Ok(());
    }
    let text = "login names a key, but the box office gives out user ids itself: user 7 of your site and user 7 of the \
                box office would have one place in the room\nRemove the key from [login], here and in the settings of \
                the room.";
    Err(Failure::Server(text.into()))
}

fn keeper(gate: &BaseUrl, settings: &Settings) -> Result<Arc<dyn Gatekeeper>, Failure> {
    let key = settings.service_key.as_ref().ok_or_else(|| {
        let text = "the box office needs the service key of the waiting room: give both of them the same, by \
                    ROPELINE_SERVICE_KEY or --service-key-file";
        Failure::Usage(text.into())
    })?;
    let keeper = HttpGatekeeper::new(&gate.to_string(), key.reveal(), HttpOptions::default());
    Ok(Arc::new(
        keeper.map_err(|error| Failure::Server(Box::new(error)))?,
    ))
}

async fn until_stopped(
    gate: &BaseUrl,
    settings: Settings,
    keeper: Arc<dyn Gatekeeper>,
    reloading: Reloading<'_>,
) -> Result<(), Failure> {
    let stop = serve::stop_signal()?;
    tokio::pin!(stop);
    // Before the database is touched: a start that cannot listen leaves no trace.
    let cannot_listen = |cause| {
        let address = settings.listen;
        let text =
            format!("cannot listen on {address}: {cause}. Choose another with --listen ADDR");
        Failure::Server(text.into())
    };
    let bound = bind(settings.listen).map_err(cannot_listen)?;
    let address = bound.address().map_err(cannot_listen)?;
    let operators = Arc::new(Mutex::new(settings.admin_key.clone()));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let opened = tokio::select! {
        opened = open(gate, &settings, keeper, Arc::clone(&operators), &clock) => opened,
        () = &mut stop => return Ok(()),
    };
    let (service, books) = opened?;
    let service = Standalone::new(service, EXPLAINED);
    let log = ServiceLog::open(&settings.data, clock, settings.trusted_proxies.clone());
    let log = log.map_err(|error| Failure::Server(Box::new(error)))?;
    let listener = bound.listen().map_err(cannot_listen)?;
    greet(address, gate, &settings, &books)?;
    let running = settings.clone();
    let tasks = Tasks::new();
    service.run(&tasks);
    let (counting, stopping) = (log.clone(), tasks.stopping());
    tasks.spawn(async move {
        stopping.run_until_cancelled(counting.write_counts()).await;
    });
    let hosts = settings.hosts();
    let own_origin = settings.public_url.map(|url| url.as_str().to_owned());
    let origins = settings.cors_origins.into_iter().chain(own_origin);
    let server = Server::new(log.note(router(&service), &tasks), settings.limits)
        .origins(origins.collect())
        .hosts(hosts)
        .proxies(settings.trusted_proxies);
    let stop = async {
        stop.await;
        service.start_draining();
    };
    let mut running = running;
    let reloads = reloading.run(async |fresh| {
        take_up(&mut running, fresh, &operators);
        log.note_reload().await;
    });
    let report = tokio::select! {
        report = server.serve(listener, stop) => report,
        never = reloads => match never {},
    };
    serve::tell_cut(report);
    tasks.stop();
    tasks.finish(PUT_DOWN).await;
    log.close().await;
    books.close().await;
    Ok(())
}

/// The key of the operators, replaced when the settings are reloaded.
type OperatorsKey = Arc<Mutex<Option<BearerKey>>>;

/// Takes up what can be taken up of other settings, and names what needs a restart.
fn take_up(running: &mut Settings, fresh: Settings, operators: &OperatorsKey) {
    for change in running.changes_to(&fresh) {
        if change.setting != "log.level" {
            tracing::warn!(
                setting.name = change.setting,
                setting.running = change.before,
                setting.new = change.after,
                "this setting has changed and needs a restart"
            );
        }
    }
    if fresh.service_key != running.service_key {
        tracing::warn!(
            setting.name = "service_key",
            "this setting has changed and needs a restart"
        );
    }
    let admin_key = running.long_enough("admin", fresh.admin_key, running.admin_key.as_ref());
    if admin_key != running.admin_key {
        tracing::info!("the admin key has changed: the one before is void");
        let mut right = operators.lock().unwrap_or_else(PoisonError::into_inner);
        right.clone_from(&admin_key);
        running.admin_key = admin_key;
    }
    running.log.level = fresh.log.level;
}

async fn open(
    gate: &BaseUrl,
    settings: &Settings,
    keeper: Arc<dyn Gatekeeper>,
    operators: OperatorsKey,
    clock: &Arc<dyn Clock>,
) -> Result<(Service, Books), Failure> {
    let no_directory = |cause| {
        let text = format!("cannot use {}: {cause}", settings.data.display());
        Failure::Server(text.into())
    };
    settings.make_data_directory().map_err(no_directory)?;
    introduce(gate, settings, &*keeper).await?;
    let books = Books::open(settings, clock.now()).await?;
    let room = settings.boxoffice.room.clone();
    let join_at = join_at(gate, &room);
    let service = Service::new(Parts {
        office: books.office.clone(),
        gate: beside::gate(settings, Arc::clone(&keeper)).join_at(&join_at),
        gatekeeper: keeper,
        room,
        logins: Logins::with_secret(&books.secret),
        // Without a key there are none.
        operators: Operators::by_key(move |key| {
            let right = operators.lock().unwrap_or_else(PoisonError::into_inner);
            right.as_ref().is_some_and(|right| right.matches(key))
        }),
        clock: Arc::clone(clock),
        cookies: cookie_scope(settings),
        rates: Arc::new(Rates::new(settings.rate_limits)),
        host: public_host(settings),
        trusted_proxies: settings.trusted_proxies.clone(),
    });
    Ok((service, books))
}

/// The waiting page is on the host of the box office, behind one proxy, since the pass is a cookie of that host. On one
/// machine there need not be a proxy.
fn join_at(gate: &BaseUrl, room: &RoomId) -> String {
    let page = format!("/wait/{room}");
    match gate.socket() {
        Some(address) if address.ip().is_loopback() => gate.join(&page),
        _ => page,
    }
}

/// Asks the room about a token that nobody has: what is wrong with the settings is known before anybody is refused.
async fn introduce(
    gate: &BaseUrl,
    settings: &Settings,
    keeper: &dyn Gatekeeper,
) -> Result<(), Failure> {
    match keeper.verify(&settings.boxoffice.room, "nobody").await {
        // One that is away is told of again, and people are refused, until it is there.
        Ok(_) | Err(GateError::Away(_)) => Ok(()),
        Err(error) => {
            let room = &settings.boxoffice.room;
            let text = format!(
                "the waiting room {room} at {gate} cannot be asked: {error}\nIs the service key the same as there, and \
                 does boxoffice.room name a room there?"
            );
            Err(Failure::Server(text.into()))
        }
    }
}

fn router(service: &Standalone) -> Router {
    service.router().merge(api_docs())
}

/// Where the admin key is.
fn place_of_key(key: Option<&BearerKey>) -> String {
    let given = |key: &BearerKey| AdminKeyNote::Given(key.file().map(Path::to_owned));
    key.map_or_else(
        || "none: to make concerts, give one by --admin-key-file or ROPELINE_ADMIN_KEY".to_owned(),
        |key| given(key).to_string(),
    )
}

fn greet(
    address: SocketAddr,
    gate: &BaseUrl,
    settings: &Settings,
    books: &Books,
) -> Result<(), Failure> {
    let (room, place) = (&settings.boxoffice.room, &books.place);
    let admin_key = place_of_key(settings.admin_key.as_ref());
    match settings.log.format {
        LogFormat::Text => print(&format!(
            "Ropeline box office {}\n  listening   http://{address}\n  database    {place}\n  room        {room} at {gate}\n  admin key   {admin_key}\n",
            env!("CARGO_PKG_VERSION")
        )),
        LogFormat::Json => {
            tracing::info!(
                version = env!("CARGO_PKG_VERSION"),
                server.address = %address,
                database = place,
                room.id = %room,
                gate = %gate,
                admin_key,
                "listening"
            );
            Ok(())
        }
    }
}
