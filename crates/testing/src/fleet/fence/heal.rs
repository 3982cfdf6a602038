//! Bringing the room and the node to the same knowledge.

use ropeline_core::{
    Bounds, Command, Header, Holder, Ordinal, Outcome, Reply, RoomState, Stamp, View,
};

use super::{
    Fence, Mistake, Picture, Repair, Rule,
    store::{self, Looked},
    vouch::{Failed, Freshness},
};
use crate::fleet::{network::Network, schedule::Millis};

/// A room that still is not whole after this many tries is left to the next caller.
const TRIES_MAX: u32 = 6;
/// Ordinals that a room leaves out when it is restored.
const RESERVE: u64 = 20;
/// A node that remembers a room restores it within this.
const RESTORED_WITHIN: Millis = 1_000;

impl Fence {
    fn look(&mut self, network: &mut Network) -> Result<Option<Looked>, Failed> {
        let server = self.reach(Freshness::Lease, network)?;
        let looked = network.call(self.number, server, |it, now| store::look(it, now));
        looked.ok_or(Failed)
    }

    pub(super) fn header(&self) -> Option<&Header> {
        self.picture.as_ref().map(|picture| &picture.view.header)
    }

    /// Whether the room, or this node, may have missed something.
    fn must_merge(&self, looked: &Looked) -> bool {
        let stored = &looked.view.header;
        let other = |known: &Header| known.server != stored.server;
        let other = self.rule.has(Repair::Generation) && self.header().is_some_and(other);
        if self.rule == Rule::With(Mistake::MergeOnce) {
            return looked.is_elsewhere;
        }
        other || looked.is_elsewhere || self.term() > stored.term
    }

    /// Replaces the picture, unless it is newer.
    fn publish(&mut self, looked: Looked, now: Millis) {
        let new = &looked.view.header;
        if let Some(old) = &self.picture {
            let order = |header: &Header, at| (header.generation, header.version, at);
            let known = &old.view.header;
            if order(new, now) < order(known, old.fresh_at) && self.rule.has(Repair::Generation) {
                return;
            }
            if new.voids(known.epoch) {
                self.acknowledged = Ordinal(0);
                self.recent.clear();
            }
        }
        let picture = Picture {
            view: looked.view,
            fresh_at: now,
            next_due: looked.next_due,
        };
        let header = &picture.view.header;
        // What was shown before is of the same room, or of one that was deleted since.
        let useless = |shown: &Picture| {
            header.voids(shown.view.header.epoch) && self.rule.has(Repair::NoDeletedView)
        };
        let show_at_once =
            !self.rule.has(Repair::OldViewWhileMerging) || self.shown.as_ref().is_none_or(useless);
        if show_at_once || !picture.is_being_merged() {
            self.shown = Some(picture.clone());
        }
        self.picture = Some(picture);
    }

    /// Makes the picture as new as the store is.
    pub(super) fn follow(&mut self, network: &mut Network) -> Result<(), Failed> {
        match self.look(network)? {
            Some(looked) if !self.must_merge(&looked) => {
                self.publish(looked, network.now);
                Ok(())
            }
            None if self.picture.is_none() => Err(Failed),
            _ => self.heal(network),
        }
    }

    fn heal(&mut self, network: &mut Network) -> Result<(), Failed> {
        let mut merged = false;
        for _ in 0..TRIES_MAX {
            let known = self.memory();
            let Some(looked) = self.look(network)? else {
                let mut known = known.ok_or(Failed)?;
                if self.rule.has(Repair::Reserve) {
                    known.header.issued.0 += RESERVE;
                }
                self.restore(&known, network)?;
                merged = true;
                continue;
            };
            if !self.must_merge(&looked) {
                self.publish(looked, network.now);
                if merged && self.rule.has(Repair::Retelling) {
                    self.retell(network);
                }
                return Ok(());
            }
            self.merge_into(known, looked, network)?;
            merged = true;
        }
        Err(Failed)
    }

    /// What the node knows, with what it has acknowledged, in the term that it knows of.
    pub(super) fn memory(&self) -> Option<View> {
        let mut memory = self.picture.as_ref()?.view.clone();
        if self.rule == Rule::With(Mistake::AlwaysRaise) {
            memory.header.generation += 1;
        }
        memory.header.issued = memory.header.issued.max(self.acknowledged);
        memory.header.term = self.term();
        Some(memory)
    }

    fn restore(&mut self, memory: &View, network: &mut Network) -> Result<(), Failed> {
        let (server, rule) = (self.reach(Freshness::Lease, network)?, self.rule);
        network.timeline.say(network.now, || {
            let issued = memory.header.issued;
            format!(
                "  node {} restores the room with {issued} issued",
                self.number
            )
        });
        let restored = network.call(self.number, server, |it, now| {
            store::restore(it, memory, rule, now);
        });
        restored.ok_or(Failed)?;
        self.adopt(network)
    }

    fn merge_into(
        &mut self,
        known: Option<View>,
        looked: Looked,
        network: &mut Network,
    ) -> Result<(), Failed> {
        if !looked.is_elsewhere && known.is_none() {
            self.publish(looked, network.now);
            return Ok(());
        }
        self.merge(known.unwrap_or(looked.view), network)?;
        self.adopt(network)
    }

    pub(super) fn merge(&mut self, memory: View, network: &mut Network) -> Result<(), Failed> {
        let (server, rule) = (self.reach(Freshness::Lease, network)?, self.rule);
        network.timeline.say(network.now, || {
            let Header {
                issued, generation, ..
            } = memory.header;
            let what = format_args!("{issued} issued, generation {generation}");
            format!("  node {} merges into s{server}: {what}", self.number)
        });
        let merged = network.call(self.number, server, |it, now| {
            store::merge(it, memory, rule, now);
        });
        merged.ok_or(Failed)
    }

    /// Takes over the generation of the room, now that this node has merged.
    fn adopt(&mut self, network: &mut Network) -> Result<(), Failed> {
        if let Some(looked) = self.look(network)?.filter(|looked| !looked.is_elsewhere) {
            self.publish(looked, network.now);
        }
        Ok(())
    }

    /// Sends again what this node has acknowledged or confirmed lately.
    fn retell(&mut self, network: &mut Network) {
        let recent: Vec<Holder> = self.recent.all(network.now);
        if !recent.is_empty() {
            let retell = Command::Retell(recent);
            self.call(&retell, Freshness::Lease, network).ok();
        }
    }

    /// One call, in the generation and the term that the node knows; `None` if there is no room.
    fn call(
        &mut self,
        command: &Command,
        fresh: Freshness,
        network: &mut Network,
    ) -> Result<Option<Outcome>, Failed> {
        let server = self.reach(fresh, network)?;
        let stamp = Stamp {
            server: self.header().ok_or(Failed)?.server.clone(),
            term: self.term(),
        };
        let compares = self.rule.has(Repair::Generation);
        let done = network.call(self.number, server, |it, now| {
            let theirs = it.room().map(|room| room.header().server.clone());
            let stamp = match theirs {
                Some(server) if !compares => Stamp { server, ..stamp },
                _ => stamp,
            };
            store::apply(it, command, &stamp, now)
        });
        done.ok_or(Failed)
    }

    /// Carries out a command, and follows the room up to it.
    pub(super) fn perform(
        &mut self,
        command: &Command,
        fresh: Freshness,
        network: &mut Network,
    ) -> Result<Outcome, Failed> {
        if self.picture.is_none() {
            self.follow(network)?;
        }
        for _ in 0..TRIES_MAX {
            match self.call(command, fresh, network)? {
                None => self.heal(network)?,
                Some(outcome) if outcome.reply == Reply::Fenced => self.heal(network)?,
                Some(outcome) if outcome.reply == Reply::NoRoom => {
                    if self.rule.has(Repair::LookAfterDelete) {
                        self.follow(network)?;
                    }
                    return Err(Failed);
                }
                Some(outcome) => {
                    self.follow(network).ok();
                    return Ok(outcome);
                }
            }
        }
        Err(Failed)
    }

    /// Makes a room that is not there, once others had the time to restore it.
    pub(super) fn make_room(&mut self, network: &mut Network) -> Result<(), Failed> {
        let server = self.reach(Freshness::Acknowledge, network)?;
        if self.look(network)?.is_some() {
            self.missing_since = None;
            return self.follow(network);
        }
        let since = *self.missing_since.get_or_insert(network.now);
        let waits = self.rule.has(Repair::WaitForOthers);
        if waits && network.now < since + RESTORED_WITHIN {
            return Err(Failed);
        }
        let leaps = self.has_past && self.rule.has(Repair::Leap);
        let last = if leaps {
            Bounds::default().base_trail
        } else {
            0
        };
        let term = self.term();
        network.timeline.say(network.now, || {
            format!("  node {} makes the room again, behind {last}", self.number)
        });
        network.call(self.number, server, |it, now| {
            store::create(it, Ordinal(last), term, now);
        });
        self.missing_since = None;
        self.follow(network)
    }
}

impl Picture {
    /// Whether other nodes may still be about to merge what they know.
    fn is_being_merged(&self) -> bool {
        let header = &self.view.header;
        self.view.as_of < header.joins_held_until && header.state != RoomState::Deleted
    }
}
