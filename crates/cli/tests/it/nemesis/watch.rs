//! Watches who the master is, and says when another one takes over.

use std::{
    sync::{
        RwLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use ropeline_testing::history::{At, Kind};

use super::{records::Records, store::Store};
use crate::nemesis::inject::read;

const LOOK_EVERY: Duration = Duration::from_millis(150);
/// A server that has copied nothing for so long may lack what nodes no longer send again.
const STALE_AFTER: Duration = Duration::from_secs(7);

/// What was last seen.
struct Seen {
    master: usize,
    /// When it was still the master by common consent.
    at: At,
    servers: Vec<Server>,
}

/// What was last seen of a server that may be the master.
struct Server {
    number: usize,
    /// When it was the master, or had all that the master had.
    whole_at: At,
    /// When it took itself for a replica.
    replica_at: At,
}

/// Watches until it is over. What a server lacks that takes over is forgotten from the moment at which it may have done
/// so until the others know.
pub(super) fn watch(store: &RwLock<Store>, records: &Records<'_>, is_over: &AtomicBool) {
    let Some(mut seen) = Seen::first(&read(store), records) else {
        return;
    };
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(LOOK_EVERY);
        seen.look(&read(store), records);
    }
}

impl Seen {
    fn first(store: &Store, records: &Records<'_>) -> Option<Self> {
        let at = records.now();
        let servers = store.candidates().into_iter().map(|number| Server {
            number,
            whole_at: at,
            replica_at: at,
        });
        Some(Self {
            master: store.master()?,
            at,
            servers: servers.collect(),
        })
    }

    fn look(&mut self, store: &Store, records: &Records<'_>) {
        let at = records.now();
        let Some(master) = store.master() else {
            return;
        };
        if master != self.master {
            self.takes_over(master, records);
        }
        (self.master, self.at) = (master, at);
        for server in &mut self.servers {
            let role = store.servers().ask(server.number, &["INFO", "replication"]);
            let role = role.unwrap_or_default();
            if role.contains("role:slave") {
                server.replica_at = at;
            }
            if server.number == master || role.contains("master_link_status:up") {
                server.whole_at = at;
            }
        }
    }

    fn takes_over(&self, master: usize, records: &Records<'_>) {
        let server = self.servers.iter().find(|server| server.number == master);
        let server = server.expect("a server that may be the master");
        let stale = records.now().saturating_sub(server.whole_at);
        let (kind, what) = if stale < STALE_AFTER {
            (Kind::Forgot, "")
        } else {
            (Kind::Emptied, ", which had not followed for long")
        };
        records.tell(format!("server {master} has taken over{what}"));
        // It may have been promoted before the others said so.
        records.forgot(kind, server.replica_at.min(self.at));
    }
}
