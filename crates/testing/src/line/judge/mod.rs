//! The promises, checked after every step.

mod answers;
mod limits;
mod order;
mod passes;
mod reasons;
mod rooms;

use std::{fmt, sync::Arc};

use ropeline_core::{Command, Holder, Live, Located, Policy, Standing, Tick, Timestamp, View};

use super::Suffered;

/// What was seen of a line at one moment: the view, and where each token's holder stands.
#[derive(Debug, Clone)]
pub struct Observation {
    /// The picture that visitors are shown.
    pub view: View,
    /// By ordinal, from 1.
    pub standings: Vec<Standing>,
    /// What the visitors are told from the view, likewise.
    pub located: Vec<Located>,
}

/// A token in somebody's hands, and what its holder was last shown.
#[derive(Debug, Clone)]
pub struct Token {
    /// Whose, and which place.
    pub holder: Holder,
    /// Where it stood; unknown until the first look.
    pub standing: Standing,
    /// How many were ahead; never more than before.
    pub ahead: Option<u64>,
    /// Whether it was ever inside.
    pub was_inside: bool,
    /// When its holder was last heard of, as far as the line must still know.
    pub seen_at: Option<Timestamp>,
    /// Whether a join was answered with it after an import had given it.
    pub claimed: bool,
    /// Until when its holder's business was said to last.
    pub kept_until: Timestamp,
}

/// What was done since the last look.
#[derive(Debug, Default)]
enum Cause {
    #[default]
    Time,
    Command(Command),
    Suffering,
}

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The promise.
    pub promise: &'static str,
    /// What was seen instead.
    pub seen: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken: {}; seen: {}", self.promise, self.seen)
    }
}

/// Whether there is a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Existence {
    #[default]
    There,
    Deleted,
}

/// What is known of a room's epoch.
#[derive(Debug, Clone, Copy, Default)]
enum Epoch {
    /// Nothing yet.
    #[default]
    Unseen,
    /// It is this one.
    Is(Timestamp),
    /// The room began again, so it is a later one than this.
    After(Timestamp),
}

/// Remembers what was promised to whom.
#[derive(Debug, Default)]
pub struct Judge {
    tokens: Vec<Token>,
    version: u64,
    inside: u64,
    tick: Option<Tick>,
    /// Ordinals at or below this were given before writes were lost.
    lost_up_to: u64,
    cause: Cause,
    looked_at: Timestamp,
    policy: Option<Arc<Policy>>,
    /// When another policy was first seen.
    policy_since: Timestamp,
    /// The policy that somebody last set; `None` where a store that went back may have another.
    ordered: Option<Arc<Policy>>,
    /// How much was last said to be left.
    stock: Option<u64>,
    existence: Existence,
    epoch: Epoch,
}

impl Judge {
    /// The tokens given out so far, by ordinal.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// A token, picked by any number: one in four of those that missed their turn, one in four of those
    /// inside, one in four of the live ones, while there are any.
    pub fn token(&self, at: usize) -> Option<&Token> {
        let wanted = |standing: &Standing| match (at % 4, standing) {
            (0, _) | (1, Standing::Live(_)) => true,
            (2, Standing::Live(live)) => matches!(live, Live::Inside(_)),
            (3, Standing::Live(live)) => matches!(live, Live::Aside(_) | Live::AtDoor { .. }),
            _ => false,
        };
        let mut pool: Vec<_> = self.tokens.iter().filter(|t| wanted(&t.standing)).collect();
        if pool.is_empty() {
            pool = self.tokens.iter().collect();
        }
        pool.get((at / 4).checked_rem(pool.len())?).copied()
    }

    /// Something went wrong. Presence and renewals may be forgotten; where writes were lost, places may be
    /// missing until those concerned ask again.
    pub fn suffered(&mut self, what: Suffered) {
        if what == Suffered::LostWrites {
            self.ordered = None;
            self.lost_up_to = self.tokens.len() as u64;
            // The room may be back in a tick that began under another policy.
            self.tick = None;
        }
        for token in &mut self.tokens {
            token.seen_at = None;
        }
        self.cause = Cause::Suffering;
    }

    /// Judges what is seen after a step.
    pub fn look(&mut self, at: &'static str, seen: &Observation) -> Result<(), Violation> {
        let place = |violation: Violation| Violation {
            seen: format!("{} (at {at})", violation.seen),
            ..violation
        };
        self.judge(seen).map_err(place)
    }

    fn judge(&mut self, seen: &Observation) -> Result<(), Violation> {
        let view = &seen.view;
        ensure(
            view.header.version >= self.version,
            "the version never falls",
            || format!("{} after {}", view.header.version, self.version),
        )?;
        self.one_room(seen)?;
        self.version = view.header.version;
        self.looked_at = view.as_of;
        if self.existence == Existence::Deleted {
            return Ok(());
        }
        self.line(seen)
    }

    fn line(&mut self, seen: &Observation) -> Result<(), Violation> {
        let view = &seen.view;
        let issued = view.header.issued.0;
        ensure(
            issued == self.tokens.len() as u64,
            "every acknowledged place is counted",
            || {
                format!(
                    "issued is {issued}, {} were acknowledged",
                    self.tokens.len()
                )
            },
        )?;
        self.order(seen)?;
        self.one_state_each(seen)?;
        self.ranks(seen)?;
        self.note_presence(view);
        self.reasons(seen)?;
        self.passes(seen)?;
        self.history(seen)?;
        self.one_place_each(seen)?;
        self.limits(seen)?;
        self.inside = view.inside;
        self.tick = Some(view.header.tick);
        self.cause = Cause::Time;
        Ok(())
    }
}

fn ensure(
    kept: bool,
    promise: &'static str,
    seen: impl FnOnce() -> String,
) -> Result<(), Violation> {
    if kept {
        Ok(())
    } else {
        Err(Violation {
            promise,
            seen: seen(),
        })
    }
}
