//! What happens too often for a line each: counted, and written once a minute.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use ropeline_core::{RoomId, Timestamp};
use serde_json::{Value, json};

/// How long is counted before it is written.
const SPAN: Duration = Duration::from_secs(60);
/// Wrong keys that have a line each within that time; what comes after them is only counted.
const WRONG_LINES_MAX: u64 = 20;
/// Rooms and addresses that are told apart; the rest share a line.
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
    wrong_keys: u64,
    services: BTreeMap<Option<(RoomId, IpAddr)>, Calls>,
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
    pub(super) room: Option<RoomId>,
    pub(super) address: Option<IpAddr>,
    pub(super) outcome: &'static str,
    pub(super) details: Value,
}

impl Counts {
    /// Counts a wrong key, and says whether it is to have a line of its own.
    pub(super) fn wrong_key(&mut self, now: Timestamp) -> bool {
        self.since.get_or_insert(now);
        self.wrong_keys += 1;
        self.wrong_keys <= WRONG_LINES_MAX
    }

    pub(super) fn service(
        &mut self,
        now: Timestamp,
        room: &RoomId,
        address: IpAddr,
        call: ServiceCall,
    ) {
        self.since.get_or_insert(now);
        let mut caller = Some((room.clone(), address));
        if self.services.len() >= CALLERS_MAX && !self.services.contains_key(&caller) {
            caller = None;
        }
        let calls = self.services.entry(caller).or_default();
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
            services,
            ..
        } = std::mem::take(self);
        let mut sums = Vec::new();
        if wrong_keys > WRONG_LINES_MAX {
            sums.push(Sum {
                action: "wrong_keys",
                room: None,
                address: None,
                outcome: "RATE_LIMITED",
                details: json!({"more": wrong_keys - WRONG_LINES_MAX}),
            });
        }
        sums.extend(services.into_iter().map(|(caller, calls)| {
            let (room, address) = caller.unzip();
            let mut details = json!(calls.done);
            if calls.refused > 0 {
                details["refused"] = calls.refused.into();
            }
            Sum {
                action: "service",
                room,
                address,
                outcome: "done",
                details,
            }
        }));
        sums
    }
}
