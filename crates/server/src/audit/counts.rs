//! What happens too often for a line each: counted, and written once a minute for each address.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use ropeline_core::{RoomId, Timestamp};
use serde_json::{Value, json};

use super::{Api, Proof};

/// How long is counted before it is written.
const SPAN: Duration = Duration::from_secs(60);
/// Wrong keys that have a line each within that time; what comes after them is only counted.
const WRONG_LINES_MAX: u64 = 20;
/// Rooms and addresses that are told apart, and likewise APIs and addresses; the rest share a line.
const CALLERS_MAX: usize = 100;

/// What a service did in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServiceCall {
    pub(crate) name: &'static str,
    pub(crate) is_done: bool,
}

/// Counts since the last lines.
#[derive(Debug, Default)]
pub(super) struct Counts {
    since: Option<Timestamp>,
    /// Wrong keys that have had a line each.
    wrong_lines: u64,
    /// Those that came after them.
    wrong_keys: Callers<(Api, IpAddr), u64>,
    /// Requests with the right key that were too many.
    limited: Callers<(Proof, IpAddr), u64>,
    services: Callers<(RoomId, IpAddr), Calls>,
}

/// Counts for each caller. Those beyond the first [`CALLERS_MAX`] share one, which has no key.
#[derive(Debug)]
struct Callers<K, V>(BTreeMap<Option<K>, V>);

impl<K, V> Default for Callers<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord, V: Default> Callers<K, V> {
    fn of(&mut self, caller: K) -> &mut V {
        let mut caller = Some(caller);
        if self.0.len() >= CALLERS_MAX && !self.0.contains_key(&caller) {
            caller = None;
        }
        self.0.entry(caller).or_default()
    }
}

/// How often each call was made, and how many of all were refused.
#[derive(Debug, Default)]
struct Calls {
    done: BTreeMap<&'static str, u64>,
    refused: u64,
}

/// A line that sums up.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) action: &'static str,
    pub(super) by: Option<Proof>,
    pub(super) room: Option<RoomId>,
    pub(super) address: Option<IpAddr>,
    pub(super) outcome: &'static str,
    pub(super) details: Value,
}

impl Counts {
    /// Counts a wrong key, and says whether it is to have a line of its own.
    pub(super) fn wrong_key(&mut self, now: Timestamp, api: Api, address: IpAddr) -> bool {
        self.since.get_or_insert(now);
        if self.wrong_lines < WRONG_LINES_MAX {
            self.wrong_lines += 1;
            return true;
        }
        *self.wrong_keys.of((api, address)) += 1;
        false
    }

    /// Counts a request of an operator that was refused since its address asks too often.
    pub(super) fn limited(&mut self, now: Timestamp, by: Proof, address: IpAddr) {
        self.since.get_or_insert(now);
        *self.limited.of((by, address)) += 1;
    }

    pub(super) fn service(
        &mut self,
        now: Timestamp,
        room: &RoomId,
        address: IpAddr,
        call: ServiceCall,
    ) {
        self.since.get_or_insert(now);
        let calls = self.services.of((room.clone(), address));
        if call.is_done {
            *calls.done.entry(call.name).or_default() += 1;
        } else {
            calls.refused += 1;
        }
    }

    /// The lines to write, if it is time.
    pub(super) fn due(&mut self, now: Timestamp) -> Vec<Sum> {
        match self.since {
            Some(since) if now >= since + SPAN => self.take(),
            _ => Vec::new(),
        }
    }

    /// The lines to write now.
    pub(super) fn take(&mut self) -> Vec<Sum> {
        let Self {
            wrong_keys,
            limited,
            services,
            ..
        } = std::mem::take(self);
        let wrong_keys = wrong_keys.0.into_iter().map(wrong_keys_sum);
        let limited = limited.0.into_iter().map(limited_sum);
        let services = services.0.into_iter().map(service_sum);
        wrong_keys.chain(limited).chain(services).collect()
    }
}

fn wrong_keys_sum((caller, count): (Option<(Api, IpAddr)>, u64)) -> Sum {
    let (api, address) = caller.unzip();
    let mut details = json!({"more": count});
    if let Some(api) = api {
        details["api"] = api.name().into();
    }
    Sum {
        action: "wrong_keys",
        by: None,
        room: None,
        address,
        outcome: "RATE_LIMITED",
        details,
    }
}

fn limited_sum((caller, count): (Option<(Proof, IpAddr)>, u64)) -> Sum {
    let (by, address) = caller.unzip();
    Sum {
        action: "rate_limited",
        by,
        room: None,
        address,
        outcome: "RATE_LIMITED",
        details: json!({"requests": count}),
    }
}

fn service_sum((caller, calls): (Option<(RoomId, IpAddr)>, Calls)) -> Sum {
    let (room, address) = caller.unzip();
    let mut details = json!(calls.done);
    if calls.refused > 0 {
        details["refused"] = calls.refused.into();
    }
    Sum {
        action: "service",
        by: Some(Proof::Service),
        room,
        address,
        outcome: "done",
        details,
    }
}
