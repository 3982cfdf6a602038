//! Places: given once, kept until they end, and then ended for good.

use ropeline_core::{Ending, Holder, Ordinal, Room, Timestamp};

use super::{Checker, Excuse, Knower, LEASE, Promise, Token, has_place, line_of};
use crate::fleet::{
    node::{Given, Shown},
    schedule::Millis,
};

impl Checker {
    /// A visitor asks for a place, perhaps not for the first time.
    pub(in crate::fleet) fn asked(&mut self, visitor: usize, now: Millis) {
        self.first_asked.entry(visitor).or_insert(now);
    }

    /// A visitor has received a place.
    pub(in crate::fleet) fn acknowledged(
        &mut self,
        (visitor, node): (usize, usize),
        given: &Given,
        master: Option<&Room>,
        now: Millis,
    ) {
        let Some(life) = self.lives.current(node) else {
            return;
        };
        let holder = Holder {
            visitor: self.visitors[visitor].clone(),
            ordinal: given.ordinal,
        };
        let missing = !master.is_some_and(|room| has_place(room, &holder));
        let had_at = if missing { self.last_loss() } else { now };
        let mut token = Token {
            holder,
            epoch: given.epoch,
            acknowledged_at: now,
            ended_at: None,
            asked_to_leave: false,
            missed_turn: false,
            written_off: false,
            ahead: None,
            ending_known_by: Vec::new(),
            vouched_by: vec![Knower { life, since: now }],
            had_at,
            missing_since: missing.then_some(now),
        };
        // A room that is deleted before the answer leaves takes its place along.
        token.written_off =
            self.compare_with_others(visitor, &token) || self.is_deleted(given.epoch);
        self.tokens.insert(visitor, token);
    }

    /// Holds a new token against all others; whether an excuse had to be made.
    fn compare_with_others(&mut self, visitor: usize, new: &Token) -> bool {
        let mut excused = false;
        let others: Vec<usize> = self.tokens.keys().copied().collect();
        for other in others {
            let Some(promise) = self.contradicts(other, visitor, new) else {
                continue;
            };
            let (old, ordinal) = (self.tokens[&other].holder.ordinal, new.holder.ordinal);
            if self.was_preventable((other, old), (visitor, ordinal)) {
                let seen = format!("v{other} has {old}, and v{visitor} is given {ordinal}");
                self.break_promise(promise, seen);
            } else {
                self.excuses.make(Excuse::OrdinalKnownToUnavailable);
                excused = true;
                if let Some(token) = self.tokens.get_mut(&other) {
                    token.written_off = true;
                }
            }
        }
        excused
    }

    /// The promise that is broken if both have their places.
    fn contradicts(&self, other: usize, visitor: usize, new: &Token) -> Option<Promise> {
        let old = &self.tokens[&other];
        let line = |token: &Token| line_of(&self.deleted, token.epoch);
        if line(old) != line(new) || self.is_deleted(old.epoch) {
            return None;
        }
        if old.holder.ordinal == new.holder.ordinal {
            return Some(Promise::OrdinalUnique);
        }
        let waits = old.ended_at.is_none() && !old.written_off;
        let came_first = old.acknowledged_at < self.first_asked[&visitor];
        let behind = old.holder.ordinal > new.holder.ordinal;
        (waits && came_first && behind).then_some(Promise::FirstComeFirstServed)
    }

    /// Whether somebody could have informed the store of one place before it gave the other.
    fn was_preventable(&self, one: (usize, Ordinal), other: (usize, Ordinal)) -> bool {
        let (Some(one_issue), Some(other_issue)) = (self.issues.get(&one), self.issues.get(&other))
        else {
            return true;
        };
        let (first, issue, second) = if one_issue.at <= other_issue.at {
            (one, one_issue, other_issue)
        } else {
            (other, other_issue, one_issue)
        };
        // Joins were held before the second was given, so an answer that left later had not been
        // checked.
        let token = self.tokens.get(&first.0);
        let late = token.is_some_and(|token| token.acknowledged_at > second.at);
        let knowers = self.knowers(issue.epoch, first.1);
        let times = (second.merged_at, second.at);
        late || self.lives.could_merge(&knowers, second.server, times)
    }

    /// Whether a server has given the place of a visitor to somebody else, because no node could
    /// prevent it.
    pub(super) fn was_given_to_another(&self, visitor: usize) -> bool {
        let ordinal = self.tokens[&visitor].holder.ordinal;
        let others = self.issues.keys().filter(|(_, given)| *given == ordinal);
        let mut others = others.filter(|(other, _)| *other != visitor);
        others.any(|other| !self.was_preventable((visitor, ordinal), *other))
    }

    /// An operator has deleted the room.
    pub(in crate::fleet) fn deleted(&mut self, epoch: Timestamp, node: usize, now: Millis) {
        if !self.deleted.contains(&epoch) {
            self.deleted.push(epoch);
        }
        let life = self.lives.current(node);
        let knower = life.map(|life| Knower { life, since: now });
        for token in self.tokens.values_mut() {
            if token.epoch <= epoch && token.ended_at.is_none() {
                token.ended_at = Some(now);
                token.ending_known_by.extend(knower);
            }
        }
    }

    pub(super) fn is_deleted(&self, epoch: Timestamp) -> bool {
        self.deleted.iter().any(|deleted| epoch <= *deleted)
    }

    /// A departure was confirmed to a visitor.
    pub(in crate::fleet) fn left(&mut self, visitor: usize, node: usize, now: Millis) {
        let life = self.lives.current(node);
        if let Some(token) = self.tokens.get_mut(&visitor) {
            token.asked_to_leave = true;
            token.ended_at.get_or_insert(now);
            let knower = life.map(|life| Knower { life, since: now });
            token.ending_known_by.extend(knower);
        }
    }

    /// A visitor was shown their place by a node that knew so at `as_of` and perhaps has put the
    /// place back.
    pub(in crate::fleet) fn shown(
        &mut self,
        (visitor, node): (usize, usize),
        (shown, as_of): (Shown, Millis),
        (server, put_back): (usize, bool),
        now: Millis,
    ) {
        match shown {
            Shown::Nothing => {}
            Shown::Void => self.shown_void(visitor, now),
            Shown::Ended(ending) => self.shown_ended((visitor, node), ending, now),
            Shown::InLine { ahead, .. } => {
                self.shown_live((visitor, node), as_of, (server, put_back), now);
                self.shown_ahead(visitor, ahead);
            }
            Shown::AtDoor { .. } | Shown::Inside { .. } => {
                self.shown_live((visitor, node), as_of, (server, put_back), now);
                self.shown_ahead(visitor, 0);
            }
        }
    }

    fn shown_void(&mut self, visitor: usize, now: Millis) {
        let Some(token) = self.tokens.get(&visitor) else {
            return;
        };
        let epoch = token.epoch;
        if token.ended_at.is_none() && !token.written_off && !self.is_deleted(epoch) {
            if self.lives.is_remembered(epoch) {
                let seen = format!(
                    "v{visitor} has {} of a room that nobody deleted",
                    token.holder.ordinal
                );
                self.break_promise(Promise::TokenVoidOnlyByDelete, seen);
            } else {
                self.excuses.make(Excuse::AllForgot);
            }
        }
        if let Some(token) = self.tokens.get_mut(&visitor) {
            token.written_off |= token.ended_at.is_none();
            token.ended_at.get_or_insert(now);
        }
    }

    fn shown_ended(&mut self, (visitor, node): (usize, usize), ending: Ending, now: Millis) {
        let life = self.lives.current(node);
        let Some(token) = self.tokens.get_mut(&visitor) else {
            return;
        };
        if token.ended_at.is_some() {
            return;
        }
        token.ended_at = Some(now);
        let knower = life.map(|life| Knower { life, since: now });
        token.ending_known_by.extend(knower);
        let ordinal = token.holder.ordinal;
        let was_inside = self.admitted.contains(&(visitor, ordinal));
        let reason = token.asked_to_leave || token.written_off || was_inside;
        if !reason && self.was_given_to_another(visitor) {
            self.excuses.make(Excuse::OrdinalKnownToUnavailable);
        } else if !reason {
            let seen = format!("v{visitor} is shown that {ordinal} is {ending:?}");
            self.break_promise(Promise::NoLostPlace, seen);
        }
    }

    fn shown_live(
        &mut self,
        (visitor, node): (usize, usize),
        as_of: Millis,
        (server, put_back): (usize, bool),
        now: Millis,
    ) {
        let life = self.lives.current(node);
        let merged_at = self.merged_since(server);
        let Some(token) = self.tokens.get_mut(&visitor) else {
            return;
        };
        if put_back {
            let knower = life.map(|life| Knower { life, since: now });
            token.vouched_by.extend(knower);
        }
        let Some(ended_at) = token.ended_at.filter(|ended_at| as_of >= *ended_at) else {
            return;
        };
        let knowers = &token.ending_known_by;
        let (ordinal, excused) = (token.holder.ordinal, token.written_off);
        let times = (merged_at, as_of);
        let known = self.lives.could_merge(knowers, server, times);
        if known && !excused && !self.was_given_to_another(visitor) {
            let seen =
                format!("v{visitor} is shown that {ordinal} is live, which ended at {ended_at} ms");
            self.break_promise(Promise::EndedStaysEnded, seen);
            return;
        }
        self.excuses.make(Excuse::EndingKnownToUnavailable);
        self.is_back(visitor, ordinal);
    }

    /// A place that had ended goes on; another visitor who was given the same ordinal may have to
    /// give way.
    fn is_back(&mut self, visitor: usize, ordinal: Ordinal) {
        for (number, token) in &mut self.tokens {
            token.written_off |= token.holder.ordinal == ordinal;
            if *number == visitor {
                token.ended_at = None;
                token.ending_known_by.clear();
            }
        }
    }

    fn shown_ahead(&mut self, visitor: usize, ahead: u64) {
        let Some(token) = self.tokens.get_mut(&visitor) else {
            return;
        };
        let lowest = token.ahead.map_or(ahead, |before| before.min(ahead));
        if lowest < ahead {
            let seen = format!("v{visitor} sees {ahead} ahead, after {lowest}");
            self.break_promise(Promise::AheadNeverRises, seen);
        } else {
            token.ahead = Some(ahead);
        }
    }

    /// The gate has opened for a visitor.
    pub(in crate::fleet) fn entered(&mut self, visitor: usize, server: usize, now: Millis) {
        let merged_at = self.merged_since(server);
        let failover = self.lost_at[server];
        let Some(token) = self.tokens.get_mut(&visitor) else {
            return;
        };
        if token.ended_at.is_none() || token.written_off {
            return;
        }
        if now <= failover + LEASE {
            self.excuses.make(Excuse::WithinLease);
        } else if self
            .lives
            .could_merge(&token.ending_known_by, server, (merged_at, now))
        {
            let seen = format!("the gate opens for v{visitor}, whose place has ended");
            self.break_promise(Promise::EndedStaysEnded, seen);
        } else {
            self.excuses.make(Excuse::EndingKnownToUnavailable);
        }
    }
}
