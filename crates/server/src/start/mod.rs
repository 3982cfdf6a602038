//! From settings to a server that answers.

mod admin_key;
mod error;
mod keys;
mod offline;
mod reload;
mod rooms;
mod started;
mod store;

use std::{
    path::Path,
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::Duration,
};

use arc_swap::ArcSwapOption;
use axum::Router;
use ropeline_gate::{Cookies, Gatekeeper};
use ropeline_store::{Clock, Store};
use ropeline_web::{EventLoops, Rates, Report, Server, Tasks, bind};
use tokio::net::TcpListener;

pub(crate) use self::store::Opened;
pub use self::{
    error::StartError,
    offline::Offline,
    reload::Reloader,
    started::{AdminKeyNote, NewAdminKey, RoomNote, Started, StartedRoom},
};
use self::{
    keys::Keys,
    rooms::{apply_section, clear_old_stock, frozen_rooms, open_rooms, warn_of_missing_logins},
};
use crate::{
    admin::{Histories, Sessions},
    app::{App, KeyDigest, Parts},
    audit::{self, Audit},
    beside::Beside,
    config::{Settings, StoreChoice},
    follow::Following,
    metrics::{Metrics, Observer},
    pages::ReturnRule,
    queue::{CatchUps, LastPasses, Outage, Straight},
    router::{cors, router},
    service::InProcess,
    shared::{self, Files, SharedDigest, SharedTexts, Sharing},
};

/// How long a command whose client has gone may still take when the server stops. Redis is waited for at most two seconds.
const LAST_WORK: Duration = Duration::from_secs(5);
/// How often a look is taken at the rooms.
const LOOK: Duration = Duration::from_secs(1);

/// A server that is ready to answer.
#[derive(Debug)]
pub struct Ready {
    app: App,
    listener: TcpListener,
    followed: Following,
    shared: Option<Arc<dyn SharedTexts>>,
    shared_digest: SharedDigest,
    settings: Settings,
    sharing: Option<Sharing>,
    beside: Option<Router>,
    loops: Option<Arc<EventLoops>>,
    started: Started,
}

impl Ready {
    /// Opens the store, the keys and the address, and applies the rooms' sections.
    pub async fn prepare(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, StartError> {
        let opened = store::open(&settings, &clock).await?;
        Self::on(opened, settings, clock).await
    }

    /// As [`Ready::prepare`], on a store that is open already.
    pub(crate) async fn on(
        opened: Opened,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StartError> {
        let Opened {
            store,
            shared,
            mut warnings,
        } = opened;
        // Before any key is made and any room changed: a start that cannot listen leaves no trace of them.
        let cannot_listen = |cause| StartError::Listen {
            address: settings.listen,
            cause,
        };
        let bound = bind(settings.listen).map_err(cannot_listen)?;
        let address = bound.address().map_err(cannot_listen)?;
        let Keys {
            signing: keys,
            logins,
            operators,
            admin_key,
            shared_digest,
            followed,
            sharing,
        } = keys::open(&settings, shared.clone(), &clock).await?;
        warnings.extend(operators.warning);
        let mut rooms = Vec::new();
        for (room, section) in &settings.rooms {
            let started = apply_section(&*store, room, section).await;
            rooms.push(started.map_err(|cause| StartError::Room {
                room: room.clone(),
                cause,
            })?);
        }
        clear_old_stock(&*store, &settings).await;
        warnings.extend(frozen_rooms(&*store).await);
        let listener = bound.listen().map_err(cannot_listen)?;
        let cookies = match &settings.public_url {
            Some(url) if url.is_https() => Cookies::HostOnly,
            _ => Cookies::Plain,
        };
        let texts: Arc<dyn SharedTexts> = match &shared {
            Some(shared) => Arc::clone(shared),
            None => Arc::new(Files::of(settings.data.clone())),
        };
        let app = App::new(Parts {
            store,
            clock,
            keys,
            logins: logins.map_or_else(OnceLock::new, OnceLock::from),
            sessions: Sessions::new(Arc::clone(&admin_key), cookies, texts),
            admin_key,
            service_key: ArcSwapOption::new(service_key(&settings).map(Arc::new)),
            audit: open_audit(&settings.data)?,
            histories: Histories::default(),
            shipped_policy: Settings::shipped_policy(),
            token_ttl_s: settings.token_ttl.as_secs(),
            cookies,
            trusted_proxies: settings.trusted_proxies.clone(),
            catch_ups: CatchUps::new(),
            rates: Arc::new(Rates::new(settings.rate_limits)),
            returns: ReturnRule::new(&settings.return_hosts, settings.public_url.as_ref()),
            public_url: settings.public_url.clone(),
            metrics: Arc::new(Metrics::new()),
            draining: AtomicBool::new(false),
            outage: Outage::new(settings.outage),
            neighbour: OnceLock::new(),
            passes: match settings.store {
                StoreChoice::Embedded => None,
                StoreChoice::Redis(_) => Some(LastPasses::new()),
            },
        });
        let started = Started {
            address,
            data: settings.data.clone(),
            store: settings.store.clone(),
            warnings,
            admin_key: operators.note,
            rooms,
            open_to_others: if settings.is_public(address) {
                open_rooms(&app)
            } else {
                Vec::new()
            },
            advice_for_open_room: settings.advice_for_open_room(),
        };
        Ok(Self {
            app,
            listener,
            settings,
            followed,
            shared,
            shared_digest,
            sharing,
            beside: None,
            loops: None,
            started,
        })
    }

    /// What an operator wants to see.
    pub fn started(&self) -> &Started {
        &self.started
    }

    #[cfg(test)]
    pub(crate) fn app(&self) -> &App {
        &self.app
    }

    /// The rooms, for whoever runs the server in the same process.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.app.store)
    }

    /// Whom a service of the same process asks about the rooms.
    pub fn gatekeeper(&self) -> Arc<dyn Gatekeeper> {
        Arc::new(InProcess(self.app.clone()))
    }

    /// Takes up other settings while the server runs.
    pub fn reloader(&self) -> Reloader {
        Reloader::new(
            self.app.clone(),
            self.shared.clone(),
            Arc::clone(&self.shared_digest),
            self.followed.clone(),
            self.settings.clone(),
        )
    }

    /// Whether a text is the operators' key, for a service that has routes for operators.
    pub fn admin_key(&self) -> impl Fn(&str) -> bool + Clone + Send + Sync + 'static {
        let key = Arc::clone(&self.app.admin_key);
        move |text| key.load().matches(text)
    }

    /// What addresses have asked lately, for a service of the same process that counts with the rooms.
    pub fn rates(&self) -> Arc<Rates> {
        Arc::clone(&self.app.rates)
    }

    /// Answers for this service too, of which there is one at most. Its routes below `/api/v1/admin/` are for operators.
    #[must_use]
    pub fn beside(mut self, service: Beside) -> Self {
        self.beside = Some(service.move_in(&self.app));
        self
    }

    /// Lets these serve connections, in the place of the runtime on which [`Ready::serve`] runs.
    #[must_use]
    pub fn by(mut self, loops: Arc<EventLoops>) -> Self {
        self.loops = Some(loops);
        self
    }

    /// Answers requests until `shutdown` resolves, then lets those in progress finish and writes what is
    /// left to write.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) -> Report {
        let Self {
            app,
            loops,
            listener,
            settings,
            followed,
            shared,
            sharing,
            beside,
            ..
        } = self;
        let hosts = settings.hosts();
        let Settings {
            limits,
            cors_origins,
            public_url,
            ..
        } = settings;
        warn_of_missing_logins(&app);
        let tasks = Tasks::new();
        if let Some(sharing) = sharing {
            let stopping = tasks.stopping();
            tasks.spawn(async move {
                stopping.run_until_cancelled(sharing.run()).await;
            });
        }
        let stopping = tasks.stopping();
        tasks.spawn(async move {
            stopping.run_until_cancelled(followed.run()).await;
        });
        let (watched, stopping) = (app.clone(), tasks.stopping());
        tasks.spawn(async move {
            stopping.run_until_cancelled(look_at_rooms(&watched)).await;
        });
        if shared.is_some() {
            let (sharing, stopping) = (app.clone(), tasks.stopping());
            tasks.spawn(async move {
                stopping
                    .run_until_cancelled(look_at_sessions(&sharing))
                    .await;
            });
        }
        let router = cors(router(app.clone(), beside, &tasks), &cors_origins);
        let own_origin = public_url.map(|url| url.as_str().to_owned());
        let server = Server::new(router, limits)
            .shortcut(Straight(app.clone()))
            .hosts(hosts)
            .proxies(app.trusted_proxies.clone())
            .origins(cors_origins.into_iter().chain(own_origin).collect())
            .encoded_slashes_after("visitors")
            .observe(Observer(Arc::clone(&app.metrics)));
        let server = match loops {
            Some(loops) => server.by(loops),
            None => server,
        };
        app.metrics.watch(server.open_connections());
        let stop = async {
            shutdown.await;
            app.start_draining();
        };
        let report = server.serve(listener, stop).await;
        tasks.stop();
        tasks.finish(LAST_WORK).await;
        app.audit.close(app.now()).await;
        app.store.close().await;
        report
    }
}

fn service_key(settings: &Settings) -> Option<KeyDigest> {
    let key = settings.service_key.as_ref()?;
    Some(KeyDigest::of(key.reveal()))
}

fn open_audit(directory: &Path) -> Result<Audit, StartError> {
    let path = audit::path(directory);
    Audit::open(&path).map_err(|cause| StartError::Audit { path, cause })
}

/// Takes a look at every room now and then, for its operators' figures, at the store, for the gate, and at what was
/// counted for the audit log.
async fn look_at_rooms(app: &App) {
    loop {
        tokio::time::sleep(LOOK).await;
        app.histories.observe(&*app.store);
        app.outage.observe(&app.store.health());
        app.audit.write_counts(app.now()).await;
    }
}

/// Hears of sessions that were opened and ended on other nodes.
async fn look_at_sessions(app: &App) {
    loop {
        tokio::time::sleep(shared::LOOK).await;
        app.sessions.look(app.now()).await;
    }
}
