//! Order: nobody is let in before a place further ahead.

use ropeline_core::{Live, Ordinal, Room, Standing};

use super::{Checker, Excuse, GRACE, Promise, Token, has_ended, has_place};
use crate::fleet::{
    network::{Called, clock},
    timeline::Timeline,
};

impl Checker {
    /// A call has let somebody in.
    pub(super) fn note_admitted(&mut self, called: Called, room: &Room, timeline: &mut Timeline) {
        self.cap_is_due = true;
        let just_now = room.now(clock(called.now));
        let mut last = Ordinal(0);
        for (visitor, name) in self.visitors.iter().enumerate() {
            let Some(ordinal) = room.find(name) else {
                continue;
            };
            let is_new = |live| matches!(live, Live::Inside(pass) if pass.since == just_now);
            if room
                .saved_place(ordinal)
                .is_some_and(|(_, live)| is_new(live))
            {
                // A pass that a store has forgotten is given again, which overtakes nobody.
                if self.admitted.insert((visitor, ordinal)) {
                    last = last.max(ordinal);
                    timeline.say(called.now, || {
                        format!("  s{} lets in v{visitor} with {ordinal}", called.server)
                    });
                }
            }
        }
        if called.is_named {
            self.check_order(last, called, room);
        }
    }

    fn check_order(&mut self, last: Ordinal, called: Called, room: &Room) {
        let waiting = self.tokens.iter().filter(|(visitor, token)| {
            let ordinal = token.holder.ordinal;
            let exempt = token.ended_at.is_some() || token.written_off || token.missed_turn;
            let was_inside = self.admitted.contains(&(**visitor, ordinal));
            let ended = || has_ended(room, &token.holder, called.now);
            ordinal < last && !exempt && !was_inside && !ended()
        });
        let waiting: Vec<usize> = waiting.map(|(visitor, _)| *visitor).collect();
        for visitor in waiting {
            self.overtaken(visitor, last, called, room);
        }
    }

    /// A place further ahead has not come in yet.
    fn overtaken(&mut self, visitor: usize, by: Ordinal, called: Called, room: &Room) {
        let Token { holder, epoch, .. } = &self.tokens[&visitor];
        let had_at = self.tokens[&visitor].had_at;
        let guilty = if has_place(room, holder) {
            // At the door it is next.
            let standing = room.standing(holder, clock(called.now));
            if standing != Standing::Live(Live::InLine) {
                return;
            }
            true
        } else if called.now < had_at + GRACE {
            let knowers = self.knowers(*epoch, holder.ordinal);
            let times = (self.merged_since(called.server), called.now);
            let known = self.lives.could_merge(&knowers, called.server, times);
            known && !self.was_given_to_another(visitor)
        } else {
            self.miss_turn(visitor);
            return;
        };
        if guilty {
            let (ordinal, had) = (holder.ordinal, called.now - had_at);
            let what = format_args!("v{visitor} with {ordinal}, which the store had {had} ms ago");
            let seen = format!("{by} is let in before {what}");
            self.break_promise(Promise::OrderKept, seen);
        } else {
            self.excuses.make(Excuse::OrdinalKnownToUnavailable);
            self.miss_turn(visitor);
        }
    }

    fn miss_turn(&mut self, visitor: usize) {
        if let Some(token) = self.tokens.get_mut(&visitor) {
            token.missed_turn = true;
        }
    }
}
