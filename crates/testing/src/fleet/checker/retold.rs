//! Joins that a node sends again, for visitors who never poll.

use ropeline_core::Room;

use super::{Checker, Excuse, Promise, RETOLD, Token, has_ended, has_place};
use crate::fleet::schedule::Millis;

impl Checker {
    /// Places that the master lacked, and that a running node should have sent again by now.
    pub(in crate::fleet) fn check_retold(&mut self, master: Option<&Room>, now: Millis) {
        let Some(room) = master else {
            return;
        };
        let mut missing = Vec::new();
        for (visitor, token) in &self.tokens {
            let exempt = token.ended_at.is_some() || token.written_off;
            let Some(since) = token.missing_since.filter(|_| !exempt) else {
                continue;
            };
            if !has_place(room, &token.holder) && !has_ended(room, &token.holder, now) {
                let due = self.should_be_retold(token, since, now);
                missing.push((*visitor, due && !self.was_given_to_another(*visitor)));
            }
        }
        for (visitor, guilty) in missing {
            if guilty {
                let ordinal = self.tokens[&visitor].holder.ordinal;
                let seen = format!("the store lacks {ordinal} of v{visitor}");
                self.break_promise(Promise::Retold, seen);
            } else {
                self.excuses.make(Excuse::NotRetoldInTime);
            }
        }
    }

    fn should_be_retold(&self, token: &Token, since: Millis, now: Millis) -> bool {
        token.vouched_by.iter().any(|node| {
            let times = (since, now.min(node.since + RETOLD));
            self.lives.could_merge(&[*node], self.master, times)
        })
    }
}
