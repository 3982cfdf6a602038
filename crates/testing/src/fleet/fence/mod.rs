//! A node that fences by generation and term, as `crates/store/src/redis` and the servers above it
//! do.

mod ask;
mod heal;
mod recent;
mod repair;
mod store;
mod vouch;

use std::sync::Arc;

use ropeline_core::{
    Command, Departure, Header, Holder, Joined, Joiner, Ordinal, Reply, ServerId, Timestamp, View,
    Visitor,
};

pub use repair::{Mistake, Repair};

use self::{
    ask::How,
    recent::Recent,
    vouch::{Freshness, Vouch},
};
use super::{
    Rule,
    network::{Network, clock},
    node::{Asking, Given, Joining, Node, Record, Shown},
    policy,
    schedule::Millis,
};

#[derive(Debug)]
pub(super) struct Fence {
    number: usize,
    rule: Rule,
    vouch: Option<Vouch>,
    /// What this node knows, and calls with.
    picture: Option<Picture>,
    /// What it shows: while nodes merge, the picture from before.
    shown: Option<Picture>,
    /// The highest ordinal that this node has answered a join with.
    acknowledged: Ordinal,
    recent: Recent,
    /// Places that were confirmed in this generation.
    confirmed: (Option<ServerId>, Vec<Ordinal>),
    /// Whether the node has served this store before.
    has_past: bool,
    missing_since: Option<Millis>,
}

#[derive(Debug, Clone)]
struct Picture {
    view: View,
    fresh_at: Millis,
    next_due: Option<Timestamp>,
}

impl Fence {
    pub(super) fn new(number: usize, rule: Rule) -> Self {
        Self {
            number,
            rule,
            vouch: None,
            picture: None,
            shown: None,
            acknowledged: Ordinal(0),
            recent: Recent::default(),
            confirmed: (None, Vec::new()),
            has_past: false,
            missing_since: None,
        }
    }

    /// Notes that the store has a place, which its holder may have brought back just now.
    fn confirm(&mut self, holder: &Holder, now: Millis) {
        let server = self.header().map(|header| header.server.clone());
        if self.confirmed.0 != server {
            self.confirmed = (server, Vec::new());
        }
        if !self.confirmed.1.contains(&holder.ordinal) {
            self.confirmed.1.push(holder.ordinal);
            self.recent.add(holder, now);
        }
    }
}

impl Node for Fence {
    fn start(&mut self, record: Record<'_>) {
        *self = Self::new(self.number, self.rule);
        self.has_past = !matches!(record, Record::None);
        if let (Record::Of(view), true) = (record, self.rule.has(Repair::Record)) {
            self.picture = Some(Picture {
                view: view.clone(),
                fresh_at: 0,
                next_due: None,
            });
            self.shown = self.picture.clone();
        }
    }

    fn tick(&mut self, network: &mut Network) {
        self.review(network);
        let Some(picture) = &self.picture else {
            self.make_room(network).ok();
            return;
        };
        let now = picture.view.now(clock(network.now));
        let settles = self.rule != Rule::With(Mistake::NeverSettle);
        if settles && picture.next_due.is_some_and(|due| due <= now) {
            let settle = Command::Settle;
            self.perform(&settle, Freshness::Lease, network).ok();
        } else {
            self.follow(network).ok();
        }
    }

    fn join(&mut self, visitor: &Visitor, network: &mut Network) -> Joining {
        let joiner = Joiner {
            visitor: visitor.clone(),
            key: None,
        };
        let join = Command::Join(vec![joiner]);
        let Ok(outcome) = self.perform(&join, Freshness::Acknowledge, network) else {
            return Joining::Refused;
        };
        let ordinal = match outcome.reply {
            Reply::Held(_) => return Joining::Held,
            Reply::Joined(joined) => match joined[0] {
                Joined::New(ordinal) | Joined::Already(ordinal) => ordinal,
                _ => return Joining::Refused,
            },
            _ => return Joining::Refused,
        };
        match self.header() {
            Some(header) => Joining::Given(Given {
                ordinal,
                epoch: header.epoch,
                under: header.server.clone(),
            }),
            None => Joining::Refused,
        }
    }

    fn may_acknowledge(&mut self, given: &Given, network: &mut Network) -> bool {
        if !self.rule.has(Repair::AnswerCheck) {
            return true;
        }
        let vouched = self.reach(Freshness::Acknowledge, network).is_ok();
        let stands = |header: &Header| header.server == given.under && !header.voids(given.epoch);
        let stands = self.header().is_some_and(stands);
        vouched && (stands || !self.rule.has(Repair::AnswerGeneration))
    }

    fn acknowledged(&mut self, holder: &Holder, now: Millis) {
        self.acknowledged = self.acknowledged.max(holder.ordinal);
        self.recent.add(holder, now);
    }

    fn poll(&mut self, asking: &Asking, network: &mut Network) -> Shown {
        match self.claims(asking, network) {
            Ok(()) => self.place(asking, How::Ask, network),
            Err(shown) => shown,
        }
    }

    fn leave(&mut self, asking: &Asking, network: &mut Network) -> Option<u64> {
        match self.claims(asking, network) {
            Err(Shown::Nothing) => return None,
            Err(_) => return Some(asking.version),
            Ok(()) => {}
        }
        if self.may_be_replaced(asking, network) {
            return None;
        }
        self.heed_signed(asking.holder.ordinal, network).ok()?;
        let leave = Command::Leave(asking.holder.clone());
        let left = self.perform(&leave, Freshness::Acknowledge, network);
        match left.ok()?.reply {
            Reply::Departed(Departure::Left | Departure::Finished | Departure::Nothing) => {
                self.header().map(|header| header.version)
            }
            _ => None,
        }
    }

    fn enter(&mut self, asking: &Asking, network: &mut Network) -> bool {
        let renewed = match self.claims(asking, network) {
            Ok(()) => self.place(asking, How::Renew, network),
            Err(shown) => shown,
        };
        matches!(renewed, Shown::Inside { .. })
    }

    fn delete(&mut self, network: &mut Network) -> Option<Timestamp> {
        let delete = Command::Delete;
        self.perform(&delete, Freshness::Acknowledge, network)
            .ok()?;
        self.header().map(|header| header.deleted_until)
    }

    fn create(&mut self, network: &mut Network) {
        let (policy, digest) = (Arc::new(policy()), None);
        let create = Command::Create { policy, digest };
        self.perform(&create, Freshness::Acknowledge, network).ok();
    }

    fn gate_server(&self, network: &Network) -> Option<usize> {
        let server = self.vouch?.named.server;
        let opens = self.picture.is_some() && self.is_vouched(Freshness::Lease, network.now);
        (opens && network.reaches(self.number, server)).then_some(server)
    }

    fn memory(&self) -> Option<View> {
        Fence::memory(self)
    }

    fn view(&self) -> Option<&View> {
        self.picture.as_ref().map(|picture| &picture.view)
    }

    fn as_of(&self) -> Millis {
        let known = self.shown.as_ref().map_or(0, |shown| shown.fresh_at);
        let vouched = self.vouch.map_or(0, |vouch| vouch.asked_at);
        known.min(vouched)
    }
}
