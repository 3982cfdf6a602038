//! What is answered to a command.

use ropeline_core::{
    Command, Departure, Holder, Joined, Joiner, Ordinal, Reply, Standing, Timestamp, Visitor,
};

use super::{super::new_places, Cause, Judge, Token, Violation, ensure};

impl Judge {
    /// Listens to the answer to a command.
    pub fn heard(&mut self, command: &Command, reply: &Reply) -> Result<(), Violation> {
        self.heard_of_the_room(command, reply)?;
        match (command, reply) {
            (
                Command::Renew(_) | Command::Restore(_) | Command::Keep { .. },
                Reply::Standing(standings),
            ) => {
                self.heard_where(standings)?;
            }
            (Command::Leave(holder) | Command::Finish(holder), Reply::Departed(departure)) => {
                self.heard_departure(holder, *departure)?;
            }
            (Command::Import { .. }, Reply::Imported(_)) => {
                self.heard_new(&new_places(command, reply))?;
            }
            (Command::Join(joiners), Reply::Joined(joined)) => {
                self.heard_new(&new_places(command, reply))?;
                self.heard_joined(joiners, joined)?;
            }
            _ => {}
        }
        self.cause = Cause::Command(command.clone());
        Ok(())
    }

    fn heard_new(&mut self, places: &[Holder]) -> Result<(), Violation> {
        for holder in places {
            let next = Ordinal(self.tokens.len() as u64 + 1);
            ensure(
                holder.ordinal == next,
                "ordinals have no gap and no duplicate",
                || format!("{} after {}", holder.ordinal, self.tokens.len()),
            )?;
            self.tokens.push(Token {
                holder: holder.clone(),
                standing: Standing::Unknown,
                ahead: None,
                was_inside: false,
                seen_at: None,
                claimed: false,
                kept_until: Timestamp(0),
            });
        }
        Ok(())
    }

    fn heard_joined(&mut self, joiners: &[Joiner], joined: &[Joined]) -> Result<(), Violation> {
        for (joiner, joined) in joiners.iter().zip(joined) {
            let (Joined::Already(at) | Joined::Repeated(at) | Joined::Claimed(at)) = joined else {
                continue;
            };
            ensure(
                self.is_of(&joiner.visitor, *at),
                "a second join is answered with the visitor's own place",
                || format!("{:?}: {joined:?}", joiner.visitor),
            )?;
            if matches!(joined, Joined::Claimed(_)) {
                self.claim(*at)?;
            }
        }
        Ok(())
    }

    /// An imported place goes to the first join, and to no other.
    fn claim(&mut self, ordinal: Ordinal) -> Result<(), Violation> {
        let lossy = ordinal.0 <= self.lost_up_to;
        let token = self.tokens.iter_mut().find(|t| t.holder.ordinal == ordinal);
        let again = token.is_some_and(|token| std::mem::replace(&mut token.claimed, true));
        ensure(!again || lossy, "a place is claimed once", || {
            format!("{ordinal} was claimed before")
        })
    }

    fn heard_where(&self, standings: &[(Holder, Standing)]) -> Result<(), Violation> {
        for (holder, standing) in standings {
            let words = || format!("{holder:?} is {standing:?}");
            let back = self.had_ended(holder) && !matches!(standing, Standing::Ended(_));
            ensure(!back, "an ended place never comes back", words)?;
            let live = matches!(standing, Standing::Live(_));
            let own = self.is_of(&holder.visitor, holder.ordinal);
            ensure(own || !live, "nobody acts for another's place", words)?;
        }
        Ok(())
    }

    fn heard_departure(&self, holder: &Holder, departure: Departure) -> Result<(), Violation> {
        let nothing = departure == Departure::Nothing;
        let words = || format!("{holder:?}: {departure:?}");
        let ended = self.had_ended(holder);
        ensure(nothing || !ended, "an ended token does nothing", words)?;
        let own = self.is_of(&holder.visitor, holder.ordinal);
        ensure(nothing || own, "nobody acts for another's place", words)
    }

    /// Whether the place that a holder names had ended when it was last looked at.
    fn had_ended(&self, holder: &Holder) -> bool {
        let named = self.tokens.iter().filter(|token| token.holder == *holder);
        named
            .map(|token| token.standing)
            .any(|standing| matches!(standing, Standing::Ended(_)))
    }

    fn is_of(&self, visitor: &Visitor, ordinal: Ordinal) -> bool {
        let own =
            |token: &Token| token.holder.ordinal == ordinal && token.holder.visitor == *visitor;
        self.tokens.iter().any(own)
    }
}
