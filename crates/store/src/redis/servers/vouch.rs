//! For how long a server may be relied upon after it was last confirmed to be in charge.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ropeline_core::LEASE;
use tokio::time::Instant;

use super::super::url::Address;

/// What is to be acknowledged for good needs fresher word than what is only shown or used for a moment.
const ACKNOWLEDGED: Duration = Duration::from_millis(500);

/// That a server is in charge, by a majority of those who watch over the servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::redis) struct Vouch {
    /// None if the operator has named the only one.
    server: Option<Address>,
    /// Rises whenever another server is put in charge.
    term: u64,
}

impl Vouch {
    pub(super) const OF_THE_OPERATOR: Self = Self {
        server: None,
        term: 0,
    };
}

/// How old the last confirmation may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redis) enum Freshness {
    /// For joins, departures and operators' commands.
    Acknowledge,
    /// For the gate, for settling and for looking.
    Lease,
}

impl Freshness {
    fn age_max(self) -> Duration {
        match self {
            Self::Acknowledge => ACKNOWLEDGED,
            Self::Lease => LEASE,
        }
    }
}

/// The last confirmations.
#[derive(Debug, Default)]
pub(super) struct Vouches {
    all: Mutex<BTreeMap<Address, (u64, Instant)>>,
}

impl Vouches {
    /// Notes which servers were confirmed when it was asked at `asked`. The others stay as they were: whoever was asked
    /// may only have been slow.
    pub(super) fn note(&self, vouched: Vec<(Address, Option<u64>)>, asked: Instant) {
        let mut all = self.lock();
        for (server, term) in vouched {
            let known = all.get(&server).map_or(0, |(term, _)| *term);
            all.insert(server, (term.unwrap_or(known), asked));
        }
    }

    pub(super) fn get(&self, server: &Address, fresh: Freshness) -> Option<Vouch> {
        let (term, asked) = *self.lock().get(server)?;
        let vouch = || Vouch {
            server: Some(server.clone()),
            term,
        };
        (asked.elapsed() <= fresh.age_max()).then(vouch)
    }

    /// The last known term of a server.
    pub(super) fn term(&self, server: &Address) -> u64 {
        self.lock().get(server).map_or(0, |(term, _)| *term)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Address, (u64, Instant)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
