//! From settings to a server that answers.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use arc_swap::ArcSwap;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use ropeline_core::{Identity, RoomId, View};
use ropeline_store::{Clock, EmbeddedStore, OpenError, Operation, Store, StoreError};
use ropeline_web::{Limits, Report, Server, Tasks, listen};
use thiserror::Error;
use tokio::net::TcpListener;

use crate::{
    admin::{Audit, Histories, Sessions},
    app::{AdminKeyDigest, App, Parts},
    config::{LoginSettings, PublicUrl, RoomSettings, Settings, difference},
    follow::{Followed, follow},
    login::{LoginKeyError, Logins},
    metrics::{Metrics, Observer},
    pages::ReturnRule,
    queue::Cookies,
    rate::Rates,
    router::{cors, router},
    token::{KeyError, KeyFile, KeyRing, random, write_secret},
};

/// How often a look is taken at the rooms, for their operators' figures.
const LOOK: Duration = Duration::from_secs(1);
const ADMIN_KEY_FILE: &str = "admin.key";

/// Why the server did not start, worded for the operator.
#[derive(Debug, Error)]
pub enum StartError {
    /// The data directory cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The signing keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The keys that verify logins cannot be used.
    #[error("cannot verify logins: {0}")]
    Logins(#[from] LoginKeyError),
    /// The admin key cannot be read or written.
    #[error("cannot use the admin key in {path}: {cause}")]
    AdminKey {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// The audit log cannot be written.
    #[error("cannot write the audit log {path}: {cause}")]
    Audit {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// The store refused a room.
    #[error("cannot set up the room {room}: {cause}")]
    Room {
        /// Which room.
        room: RoomId,
        /// Why not.
        cause: StoreError,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}. Choose another with --listen ADDR")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        cause: io::Error,
    },
}

/// What an operator wants to see at the start.
#[derive(Debug)]
pub struct Started {
    /// Where requests are answered.
    pub address: SocketAddr,
    /// The data directory.
    pub data: PathBuf,
    /// The admin key, if it was made just now.
    pub new_admin_key: Option<NewAdminKey>,
    /// The rooms of the settings as they are now, and what was done to them.
    pub rooms: Vec<StartedRoom>,
    /// Rooms that believe any user id although others than this machine can reach them.
    pub open_to_others: Vec<RoomId>,
}

/// A room at the start.
#[derive(Debug)]
pub struct StartedRoom {
    /// Which one.
    pub room: RoomId,
    /// What was done to it.
    pub note: RoomNote,
    /// Its line as it was found.
    pub view: Arc<View>,
}

/// An admin key that was made just now.
#[derive(Debug)]
pub struct NewAdminKey {
    /// The key.
    pub key: String,
    /// Where it is kept.
    pub file: PathBuf,
}

/// What was done to a room at the start.
#[derive(Debug, PartialEq, Eq)]
pub enum RoomNote {
    /// It is new.
    Created,
    /// Its section is the one last applied; live changes stay.
    Kept,
    /// Its section had changed and was applied: setting by setting.
    Changed(Vec<String>),
}

/// A server that is ready to answer.
#[derive(Debug)]
pub struct Ready {
    app: App,
    listener: TcpListener,
    limits: Limits,
    cors_origins: Vec<String>,
    public_url: Option<PublicUrl>,
    followed: Vec<Followed>,
    started: Started,
}

impl Ready {
    /// Opens the store, the keys and the address, and applies the rooms' sections.
    pub async fn prepare(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, StartError> {
        let store = Arc::new(EmbeddedStore::open(&settings.data, Arc::clone(&clock))?);
        KeyFile::open_or_create(&settings.data, clock.now())?;
        let (keys, mut followed) = follow_keys(&settings.data)?;
        let logins = follow_logins(&settings.login, &mut followed)?;
        let (admin_key, new_admin_key) = admin_key(&settings)?;
        let mut rooms = Vec::new();
        for (room, section) in &settings.rooms {
            let started = apply_section(&*store, room, section).await;
            rooms.push(started.map_err(|cause| StartError::Room {
                room: room.clone(),
                cause,
            })?);
        }
        let cannot_listen = |cause| StartError::Listen {
            address: settings.listen,
            cause,
        };
        let listener = listen(settings.listen).map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;
        let secure = settings
            .public_url
            .as_ref()
            .is_some_and(PublicUrl::is_https);
        let cookies = if secure {
            Cookies::HostOnly
        } else {
            Cookies::Plain
        };
        let app = App::new(Parts {
            store,
            clock,
            keys,
            logins,
            sessions: Sessions::new(&admin_key, cookies),
            admin_key,
            audit: audit(&settings.data)?,
            histories: Histories::default(),
            shipped_policy: Settings::shipped_policy(),
            token_ttl_s: settings.token_ttl.as_secs(),
            cookies,
            trusted_proxies: settings.trusted_proxies.clone(),
            rates: Rates::new(settings.rate_limits),
            returns: ReturnRule::new(&settings.return_hosts, settings.public_url.as_ref()),
            public_url: settings.public_url.clone(),
            metrics: Arc::new(Metrics::new()),
            draining: AtomicBool::new(false),
        });
        warn_of_missing_logins(&app);
        let started = Started {
            address,
            data: settings.data.clone(),
            new_admin_key,
            rooms,
            open_to_others: open_to_others(&app, address),
        };
        let Settings {
            limits,
            cors_origins,
            public_url,
            ..
        } = settings;
        Ok(Self {
            app,
            listener,
            limits,
            cors_origins,
            public_url,
            followed,
            started,
        })
    }

    /// What an operator wants to see.
    pub fn started(&self) -> &Started {
        &self.started
    }

    /// The rooms, for whoever runs the server in the same process.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.app.store)
    }

    /// Answers requests until `shutdown` resolves, then lets those in progress finish and writes what is
    /// left to write.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) -> Report {
        let Self {
            app,
            listener,
            limits,
            cors_origins,
            public_url,
            followed,
            ..
        } = self;
        let tasks = Tasks::new();
        let stopping = tasks.stopping();
        tasks.spawn(async move {
            tokio::select! {
                () = follow(followed) => {}
                () = stopping.cancelled() => {}
            }
        });
        let looks = (app.clone(), tasks.stopping());
        tasks.spawn(async move {
            let (app, stopping) = looks;
            while stopping
                .run_until_cancelled(tokio::time::sleep(LOOK))
                .await
                .is_some()
            {
                app.histories.observe(&*app.store);
            }
        });
        let router = cors(router(app.clone()), &cors_origins);
        let own_origin = public_url.map(|url| url.as_str().to_owned());
        let server = Server::new(router, limits)
            .origins(cors_origins.into_iter().chain(own_origin).collect())
            .observe(Observer(Arc::clone(&app.metrics)));
        app.metrics.watch(server.open_connections());
        let stop = async {
            shutdown.await;
            app.start_draining();
        };
        let report = server.serve(listener, stop).await;
        tasks.stop();
        tasks.finish(Duration::from_secs(1)).await;
        app.store.close().await;
        report
    }
}

/// Makes a room, or applies its section if the text is another one than last time; otherwise live changes
/// stay, so that a restart never resets a cap in mid-sale.
async fn apply_section(
    store: &dyn Store,
    room: &RoomId,
    section: &RoomSettings,
) -> Result<StartedRoom, StoreError> {
    let RoomSettings { policy, digest } = section;
    let created = store
        .create(room, Arc::clone(policy), Some(digest.clone()))
        .await?;
    let view = || {
        store
            .view(room)
            .ok_or_else(|| StoreError::NoSuchRoom(room.clone()))
    };
    let header = &view()?.view.header;
    let note = if created {
        RoomNote::Created
    } else if header.digest.as_ref() == Some(digest) {
        RoomNote::Kept
    } else {
        let changes = difference(&header.policy, policy);
        let digest = Some(digest.clone());
        let operation = Operation::SetPolicy {
            policy: Arc::clone(policy),
            digest,
        };
        store.operate(room, operation).await?;
        RoomNote::Changed(changes)
    };
    Ok(StartedRoom {
        room: room.clone(),
        note,
        view: view()?.view,
    })
}

/// The admin key of the settings, else that of the data directory, made now if there is none.
fn admin_key(settings: &Settings) -> Result<(AdminKeyDigest, Option<NewAdminKey>), StartError> {
    if let Some(key) = &settings.admin_key {
        return Ok((AdminKeyDigest::of(key.reveal()), None));
    }
    let path = settings.data.join(ADMIN_KEY_FILE);
    let fail = |cause| StartError::AdminKey {
        path: path.clone(),
        cause,
    };
    match std::fs::read_to_string(&path) {
        Ok(key) if !key.trim().is_empty() => Ok((AdminKeyDigest::of(key.trim()), None)),
        Ok(_) => Err(fail(io::Error::other(
            "the file is empty; remove it to have a new key made",
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = format!("rladm_{}", BASE64.encode(random::<24>()));
            write_secret(&path, format!("{key}\n").as_bytes()).map_err(fail)?;
            Ok((
                AdminKeyDigest::of(&key),
                Some(NewAdminKey { key, file: path }),
            ))
        }
        Err(error) => Err(fail(error)),
    }
}

fn audit(directory: &Path) -> Result<Audit, StartError> {
    let path = Audit::path(directory);
    Audit::open(&path).map_err(|cause| StartError::Audit { path, cause })
}

fn open_to_others(app: &App, address: SocketAddr) -> Vec<RoomId> {
    if address.ip().is_loopback() {
        return Vec::new();
    }
    let mut rooms = app.store.rooms();
    rooms.retain(|room| {
        let seen = app.store.view(room);
        seen.is_some_and(|seen| seen.view.header.policy.identity == Identity::Open)
    });
    rooms
}

/// Rooms that were made while running may need logins that the settings no longer have.
fn warn_of_missing_logins(app: &App) {
    for room in app.store.rooms() {
        let Some(seen) = app.store.view(&room) else {
            continue;
        };
        if let Err(error) = app.check_identity(&seen.view.header.policy) {
            tracing::error!(room.id = %room, %error, "nobody can join this room");
        }
    }
}

type Slot<T> = Arc<ArcSwap<T>>;

/// The signing keys, which follow their rotation.
fn follow_keys(data: &Path) -> Result<(Slot<KeyRing>, Vec<Followed>), KeyError> {
    let path = KeyFile::path(data);
    let directory = data.to_owned();
    let read = move || {
        let ring = KeyFile::open(&directory)?.ring();
        ring.map_err(|cause| KeyError::Malformed {
            path: KeyFile::path(&directory),
            cause,
        })
    };
    let (keys, followed) = Followed::open("signing keys", path, read)?;
    Ok((keys, vec![followed]))
}

/// The verifier of logins, where there is one, which follows its file of keys.
fn follow_logins(
    settings: &LoginSettings,
    followed: &mut Vec<Followed>,
) -> Result<Option<Slot<Logins>>, LoginKeyError> {
    let Some(source) = settings.source.clone() else {
        return Ok(None);
    };
    let (path, leeway) = (source.keys.path().to_owned(), settings.leeway);
    let read = move || Logins::open(&source, leeway);
    let (logins, file) = Followed::open("keys of logins", path, read)?;
    followed.push(file);
    Ok(Some(logins))
}
