//! What is answered to a command.

use ropeline_core::{Command, Departure, Holder, Joined, Ordinal, Reply, Standing};

use super::{super::new_places, Cause, Judge, Token, Violation, ensure};

impl Judge {
    /// Listens to the answer to a command. `before` are the tokens as they stood.
    pub fn heard(
        &mut self,
        command: &Command,
        reply: &Reply,
        before: &[Token],
    ) -> Result<(), Violation> {
        for holder in new_places(command, reply) {
            let next = Ordinal(self.tokens.len() as u64 + 1);
            ensure(
                holder.ordinal == next,
                "ordinals have no gap and no duplicate",
                || format!("{} after {}", holder.ordinal, self.tokens.len()),
            )?;
            self.tokens.push(Token {
                holder,
                standing: Standing::Unknown,
                ahead: None,
                was_inside: false,
                seen_at: None,
            });
        }
        let ended = |holder: &Holder| {
            let at = usize::try_from(holder.ordinal.0).expect("small") - 1;
            before
                .get(at)
                .is_some_and(|token| matches!(token.standing, Standing::Ended(_)))
        };
        match (command, reply) {
            (Command::Renew(_) | Command::Restore(_), Reply::Standing(standings)) => {
                for (holder, standing) in standings {
                    let back = ended(holder) && !matches!(standing, Standing::Ended(_));
                    ensure(!back, "an ended place never comes back", || {
                        format!("{} is {standing:?}", holder.ordinal)
                    })?;
                }
            }
            (Command::Leave(holder) | Command::Finish(holder), Reply::Departed(departure)) => {
                ensure(
                    !ended(holder) || *departure == Departure::Nothing,
                    "an ended token does nothing",
                    || format!("{}: {departure:?}", holder.ordinal),
                )?;
            }
            (Command::Join(joiners), Reply::Joined(joined)) => {
                for (joiner, joined) in joiners.iter().zip(joined) {
                    let (Joined::Already(at) | Joined::Repeated(at)) = joined else {
                        continue;
                    };
                    let own =
                        |t: &Token| t.holder.ordinal == *at && t.holder.visitor == joiner.visitor;
                    ensure(
                        self.tokens.iter().any(own),
                        "a second join is answered with the visitor's own place",
                        || format!("{:?}: {joined:?}", joiner.visitor),
                    )?;
                }
            }
            _ => {}
        }
        self.cause = Cause::Command(command.clone());
        Ok(())
    }
}
