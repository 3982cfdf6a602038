//! From settings to a server that answers.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use ropeline_core::{Identity, RoomId, View};
use ropeline_store::{Clock, EmbeddedStore, OpenError, Operation, Store, StoreError};
use ropeline_web::{Limits, Report, Server, Tasks, listen};
use thiserror::Error;
use tokio::net::TcpListener;

use crate::{
    app::{AdminKeyDigest, App, Parts},
    config::{PublicUrl, RoomSettings, Settings, difference},
    metrics::{Metrics, Observer},
    pages::ReturnRule,
    queue::Cookies,
    router::{cors, router},
    token::{KeyError, KeyFile, KeyRing, random, write_secret},
};

/// How often a change of the key file is looked for.
const KEYS_LOOK: Duration = Duration::from_secs(2);
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
    /// The admin key cannot be read or written.
    #[error("cannot use the admin key in {path}: {cause}")]
    AdminKey {
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
    data: PathBuf,
    started: Started,
}

impl Ready {
    /// Opens the store, the keys and the address, and applies the rooms' sections.
    pub async fn prepare(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, StartError> {
        let store = Arc::new(EmbeddedStore::open(&settings.data, Arc::clone(&clock))?);
        let keys = KeyFile::open_or_create(&settings.data, clock.now())?;
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
        let app = App::new(Parts {
            store,
            clock,
            keys: Arc::new(ArcSwap::from_pointee(ring(&keys, &settings.data)?)),
            admin_key,
            token_ttl_s: settings.token_ttl.as_secs(),
            cookies: if secure {
                Cookies::HostOnly
            } else {
                Cookies::Plain
            },
            returns: ReturnRule::new(&settings.return_hosts, settings.public_url.as_ref()),
            public_url: settings.public_url.clone(),
            metrics: Arc::new(Metrics::new()),
            draining: AtomicBool::new(false),
        });
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
            data,
            ..
        } = settings;
        Ok(Self {
            app,
            listener,
            limits,
            cors_origins,
            data,
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
            data,
            ..
        } = self;
        let tasks = Tasks::new();
        let stopping = tasks.stopping();
        let keys = Arc::clone(&app.keys);
        tasks.spawn(async move {
            tokio::select! {
                () = follow_keys(&data, &keys) => {}
                () = stopping.cancelled() => {}
            }
        });
        let server = Server::new(cors(router(app.clone()), &cors_origins), limits)
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

fn ring(file: &KeyFile, directory: &Path) -> Result<KeyRing, KeyError> {
    file.ring().map_err(|cause| KeyError::Malformed {
        path: KeyFile::path(directory),
        cause,
    })
}

/// Takes up rotated keys while the server runs.
async fn follow_keys(directory: &Path, keys: &ArcSwap<KeyRing>) {
    let path = KeyFile::path(directory);
    let changed_at = || {
        std::fs::metadata(&path)
            .and_then(|file| file.modified())
            .ok()
    };
    let mut known: Option<SystemTime> = changed_at();
    loop {
        tokio::time::sleep(KEYS_LOOK).await;
        let now = changed_at();
        if now == known {
            continue;
        }
        known = now;
        match KeyFile::open(directory).and_then(|file| ring(&file, directory)) {
            Ok(ring) => {
                keys.store(Arc::new(ring));
                tracing::info!("the signing keys have changed and were taken up");
            }
            Err(error) => tracing::error!(%error, "the changed signing keys were not taken up"),
        }
    }
}
