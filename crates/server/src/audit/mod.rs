//! Who did what with a key: one line of JSON for each action, in the data directory.
//!
//! Services call a room as often as visitors come, so what they did is counted and written once a minute, for each
//! room and address. The same holds for wrong keys beyond the first in a minute, and for requests beyond a rate limit.

mod chain;
mod changes;
mod complete;
mod counts;
#[cfg(test)]
mod tests;
mod verify;

use std::{
    borrow::Cow,
    io,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ropeline_core::{RoomId, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

pub use self::changes::ServiceLog;
pub use self::verify::{Before, Break, Unverified, Verified, verify};
use self::{
    chain::Chain,
    counts::{Counts, Sum},
};
pub(crate) use self::{
    changes::{is_change, is_for_operators, watched},
    complete::{complete, complete_for_operators},
    counts::ServiceCall,
};
use crate::moment::Moment;

const FILE: &str = "audit.log";

/// Where the log of a data directory is.
pub fn path(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

/// The log of what was done with a key.
#[derive(Debug)]
pub(crate) struct Audit {
    chain: Arc<Mutex<Chain>>,
    counts: Mutex<Counts>,
}

/// Something that was done, or refused.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    pub(crate) at: Moment,
    pub(crate) action: Cow<'static, str>,
    pub(crate) room: Option<RoomId>,
    pub(crate) details: Value,
    /// `done`, or the code of the problem.
    pub(crate) outcome: Cow<'static, str>,
    /// What showed that the caller might; none if nothing did.
    pub(crate) by: Option<Proof>,
    pub(crate) address: Option<IpAddr>,
    pub(crate) request_id: Option<String>,
}

/// Where a wrong key was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Api {
    /// A request of an operator.
    Admin,
    /// The form at `/admin`.
    Login,
    /// A request of a service.
    Service,
}

impl Api {
    fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Login => "login",
            Self::Service => "service",
        }
    }

    fn action(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Admin | Self::Service => "key",
        }
    }

    fn details(self) -> Value {
        match self {
            Self::Login => json!({}),
            Self::Admin | Self::Service => json!({"api": self.name()}),
        }
    }
}

/// A key that was wrong.
#[derive(Debug)]
pub(crate) struct WrongKey {
    pub(crate) at: Moment,
    pub(crate) api: Api,
    /// The code of the problem.
    pub(crate) outcome: &'static str,
    pub(crate) address: IpAddr,
    pub(crate) request_id: Option<String>,
}

/// What shows that somebody may do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Proof {
    /// The admin key.
    Key,
    /// The cookie of somebody who has logged in with the admin key.
    Session,
    /// The service key.
    Service,
    /// A signal of the operating system.
    Signal,
}

/// A line as it is written.
#[derive(Serialize)]
struct Line<'a> {
    prev: &'a str,
    #[serde(flatten)]
    entry: &'a Entry,
}

impl Audit {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            chain: Arc::new(Mutex::new(Chain::open(path)?)),
            counts: Mutex::default(),
        })
    }

    /// Writes a line and makes sure that it is on the disk. The action has happened by then, so a disk that is full is
    /// told to the log and to nobody else.
    pub(crate) async fn write(&self, entry: Entry) {
        self.append(vec![entry]).await;
    }

    /// Notes a key that was wrong. Only the first of a minute have a line each, so that a guesser cannot fill the disk.
    pub(crate) async fn write_wrong_key(&self, wrong: WrongKey) {
        let Moment(now) = wrong.at;
        if !lock(&self.counts).wrong_key(now, wrong.api, wrong.address) {
            return;
        }
        let entry = Entry {
            at: wrong.at,
            action: wrong.api.action().into(),
            room: None,
            details: wrong.api.details(),
            outcome: wrong.outcome.into(),
            by: None,
            address: Some(wrong.address),
            request_id: wrong.request_id,
        };
        self.write(entry).await;
    }

    /// Goes on in the file of that name, which may be a new one by now, and notes there that the settings were reloaded.
    pub(crate) async fn note_reload(&self, now: Timestamp) {
        if let Err(error) = lock(&self.chain).reopen() {
            tracing::error!(%error, "the audit log cannot be opened again: it goes on in the old file");
        }
        let entry = Entry {
            at: Moment(now),
            action: "reload".into(),
            room: None,
            details: json!({}),
            outcome: "done".into(),
            by: Some(Proof::Signal),
            address: None,
            request_id: None,
        };
        self.write(entry).await;
    }

    /// Counts a request of an operator that was refused since its address asks too often.
    pub(crate) fn count_limited(&self, now: Timestamp, by: Proof, address: IpAddr) {
        lock(&self.counts).limited(now, by, address);
    }

    /// Counts what a service did.
    pub(crate) fn count(&self, now: Timestamp, room: &RoomId, address: IpAddr, call: ServiceCall) {
        lock(&self.counts).service(now, room, address, call);
    }

    /// Writes what was counted, if it is time.
    pub(crate) async fn write_counts(&self, now: Timestamp) {
        let sums = lock(&self.counts).due(now);
        self.append_sums(now, sums).await;
    }

    /// Writes what was counted, before the server ends.
    pub(crate) async fn close(&self, now: Timestamp) {
        let sums = lock(&self.counts).take();
        self.append_sums(now, sums).await;
    }

    async fn append_sums(&self, now: Timestamp, sums: Vec<Sum>) {
        let entries = sums.into_iter().map(|sum| Entry {
            at: Moment(now),
            action: sum.action.into(),
            by: sum.by,
            room: sum.room,
            details: sum.details,
            outcome: sum.outcome.into(),
            address: sum.address,
            request_id: None,
        });
        self.append(entries.collect()).await;
    }

    async fn append(&self, entries: Vec<Entry>) {
        if entries.is_empty() {
            return;
        }
        let chain = Arc::clone(&self.chain);
        let written = tokio::task::spawn_blocking(move || {
            let mut chain = lock(&chain);
            let mut entries = entries.iter();
            entries.try_for_each(|entry| chain.append(|prev| text(prev, entry)))
        });
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the audit log cannot be written"),
            Err(error) => tracing::error!(%error, "the audit log was not written"),
        }
    }
}

fn text(prev: &str, entry: &Entry) -> String {
    serde_json::to_string(&Line { prev, entry }).expect("a line is plain data")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
