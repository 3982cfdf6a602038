//! What must hold once faults have stopped.

use ropeline_core::{Live, Room, Standing, View};

use super::{Checker, Promise, has_place};
use crate::fleet::{network::clock, schedule::Millis};

impl Checker {
    /// All nodes have just looked at the master.
    pub(in crate::fleet) fn check_agreement(&mut self, views: &[Option<&View>], room: &Room) {
        let facts = |view: &View| {
            let header = &view.header;
            let numbers = (header.issued, header.head, header.version);
            (header.epoch, header.server.clone(), numbers)
        };
        let wanted = facts(&room.view(room.header().clock.last()));
        for (node, view) in views.iter().enumerate() {
            let known = view.map(facts);
            if known.as_ref() != Some(&wanted) {
                let seen = format!("node {node} knows {known:?}, the store {wanted:?}");
                self.break_promise(Promise::NodesAgree, seen);
            }
        }
    }

    /// Faults stopped at that time.
    pub(in crate::fleet) fn check_livelock(&mut self, quiet_since: Millis) {
        if self.renamed_at > quiet_since {
            let seen = format!("a node has merged at {} ms", self.renamed_at);
            self.break_promise(Promise::NoLivelock, seen);
        }
    }

    /// Visitors who came at the end, one at each node, were not given a place in time.
    pub(in crate::fleet) fn check_joins(&mut self, refused: &[usize]) {
        if !refused.is_empty() {
            let seen = format!("nodes {refused:?} take no joins");
            self.break_promise(Promise::JoinsGoOn, seen);
        }
    }

    /// Everybody has asked.
    pub(in crate::fleet) fn check_everybody(&mut self, room: &Room) {
        let missing = self.tokens.iter().find(|(_, token)| {
            let waits = token.ended_at.is_none() && !token.written_off;
            waits && !has_place(room, &token.holder)
        });
        if let Some((visitor, token)) = missing {
            let ordinal = token.holder.ordinal;
            let found = room.find(&token.holder.visitor);
            let seen = format!("v{visitor} has {ordinal} and asked, and the store has {found:?}");
            self.break_promise(Promise::EverybodyIsBack, seen);
        }
    }

    /// The grace for lost places is over.
    pub(in crate::fleet) fn check_admission(&mut self, room: &Room, now: Millis) {
        let standings = self.visitors.iter().filter_map(|visitor| {
            let ordinal = room.find(visitor)?;
            Some(room.standing_of_joined(ordinal, clock(now)))
        });
        let (mut inside, mut waiting) = (0, 0);
        for standing in standings {
            match standing {
                Standing::Live(Live::Inside(_)) => inside += 1,
                Standing::Live(Live::InLine | Live::AtDoor { .. }) => waiting += 1,
                _ => {}
            }
        }
        if inside < self.cap && waiting > 0 {
            let seen = format!("{inside} are inside while {waiting} wait");
            self.break_promise(Promise::AdmissionGoesOn, seen);
        }
    }
}
