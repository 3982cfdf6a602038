//! A store and the room of core that it must equal, as one line under test.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use ropeline_core::{
    Command, Holder, Outcome, Policy, Reply, Room, RoomState, ServerId, Standing, Timestamp, View,
};
use ropeline_testing::line::{Line, START, Settled, Suffered, Violation};

use super::facts::{difference, facts, unsettled_facts};
use crate::given::BOUNDS;

/// How many commands a store that forgets can go back.
const BACK_MAX: usize = 8;

/// A store with one room, driven as its kind is.
pub(super) trait Twin {
    /// The room as it was, for a kind of store that can go back.
    type Copy;

    /// When the store answers.
    fn settling(&self) -> Settling;
    /// The commands that a command is for this kind of store, each answered before the next.
    fn parts(&self, command: Command) -> Vec<Command>;
    /// Carries out a part.
    fn apply(&mut self, part: Command) -> Outcome;
    /// The picture that the store shows; `None` if it says that there is no such room.
    fn picture(&mut self) -> Option<View>;
    /// What the store calls the server of the generation, also of a room that was deleted, after it was pictured.
    fn server(&mut self) -> ServerId;
    /// A copy of the room as it is.
    fn copy(&mut self) -> Self::Copy;
    /// Lets time pass.
    fn advance(&mut self, by: Duration);
    /// What can go wrong with this kind of store goes wrong, and the like with the reference.
    fn suffer(
        &mut self,
        how: u64,
        reference: &mut Reference<Self::Copy>,
    ) -> Result<Loss, Violation>;
}

/// When a store answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settling {
    /// Once nothing is left to settle, and by itself when time has passed.
    Whole,
    /// After each call, saying whether there is more.
    Stepwise,
}

/// What is missing after something went wrong.
pub(super) enum Loss {
    /// Nothing that was acknowledged.
    Nothing,
    /// Writes. What the nodes knew is yet to be merged in.
    Writes(Arc<View>),
}

/// The room of core, and how it was some commands ago beside the store's own copies.
pub(super) struct Reference<C> {
    pub(super) room: Room,
    pub(super) clock: Timestamp,
    pub(super) history: Vec<(Room, C)>,
}

impl<C> Reference<C> {
    fn new(policy: Policy) -> Self {
        Self {
            room: Room::new(policy, ServerId("core".into()), START, BOUNDS),
            clock: START,
            history: Vec::new(),
        }
    }

    fn apply(&mut self, command: Command, settling: Settling) -> Outcome {
        let mut outcome = self.room.apply(command, self.clock);
        while outcome.more && settling == Settling::Whole {
            let rest = self.room.apply(Command::Settle, self.clock);
            outcome = Outcome {
                reply: outcome.reply,
                ..rest
            };
        }
        outcome
    }

    pub(super) fn view(&self) -> View {
        self.room.view(self.clock)
    }

    /// Whether all who ran out are ended. Those that ran out at the same instant are ended in any order, so that until
    /// then the store and core need not show the same ones as ended.
    fn has_ended_all(&self) -> bool {
        let ended = |room: &Room| {
            let counters = &room.header().counters;
            (counters.expired, counters.missed)
        };
        let mut settled = self.room.clone();
        // A fenced room settles once what was known of it is merged in.
        let known = Arc::new(self.view());
        settled.apply(Command::Merge(known), self.clock);
        ended(&settled) == ended(&self.room)
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.room.header().state == RoomState::Deleted
    }
}

/// A store under test beside core.
pub(super) struct Compared<T: Twin> {
    twin: T,
    reference: Reference<T::Copy>,
    /// What the twin calls the server of each generation.
    servers: BTreeMap<u64, ServerId>,
    objection: Option<Violation>,
}

impl<T: Twin> Compared<T> {
    /// `twin` has an empty room with this policy, made at [`START`].
    pub(super) fn new(twin: T, policy: Policy) -> Self {
        let mut compared = Self {
            twin,
            reference: Reference::new(policy),
            servers: BTreeMap::new(),
            objection: None,
        };
        compared.compare_pictures();
        compared
    }

    fn apply_part(&mut self, part: &Command) -> Outcome {
        let expected = self.reference.apply(part.clone(), self.twin.settling());
        let outcome = self.twin.apply(self.in_words_of_the_twin(part));
        self.ensure(
            outcome == expected,
            "the store answers as core does",
            || format!("{part:?}: the store {outcome:?}, core {expected:?}"),
        );
        self.compare_pictures();
        outcome
    }

    /// A command with what the twin calls the server of a generation, which differs.
    fn in_words_of_the_twin(&self, command: &Command) -> Command {
        let Command::Merge(memory) = command else {
            return command.clone();
        };
        let mut memory = View::clone(memory);
        if let Some(server) = self.servers.get(&memory.header.generation) {
            memory.header.server = server.clone();
        }
        Command::Merge(Arc::new(memory))
    }

    /// Applies a command on both until nothing is left to settle.
    fn settle(&mut self, command: &Command) {
        let mut more = self.apply_part(command).more;
        while more {
            more = self.apply_part(&Command::Settle).more;
        }
    }

    fn compare_pictures(&mut self) {
        let facts = if self.reference.has_ended_all() {
            facts
        } else {
            unsettled_facts
        };
        let picture = self.twin.picture();
        let generation = self.reference.room.header().generation;
        self.servers.insert(generation, self.twin.server());
        let (deleted, core) = (self.reference.is_deleted(), self.reference.view());
        let difference = match &picture {
            Some(picture) if !deleted => difference(&facts(picture), &facts(&core)),
            None if deleted => None,
            _ => Some(format!("core has deleted the room: {deleted}")),
        };
        self.ensure(
            difference.is_none(),
            "the store is in the state that core is in",
            || difference.unwrap_or_default(),
        );
    }

    /// Keeps the first thing that differs.
    fn ensure(&mut self, same: bool, promise: &'static str, seen: impl FnOnce() -> String) {
        if !same && self.objection.is_none() {
            let seen = seen();
            self.objection = Some(Violation { promise, seen });
        }
    }

    fn remember(&mut self) {
        let copy = self.twin.copy();
        let history = &mut self.reference.history;
        history.push((self.reference.room.clone(), copy));
        if history.len() > BACK_MAX {
            history.remove(0);
        }
    }
}

impl<T: Twin> Line for Compared<T> {
    fn apply(&mut self, command: Command) -> Outcome {
        self.remember();
        let parts = self.twin.parts(command);
        let outcomes: Vec<_> = parts
            .into_iter()
            .map(|part| self.apply_part(&part))
            .collect();
        combine(outcomes)
    }

    fn view(&mut self) -> View {
        let core = self.reference.view();
        match self.twin.picture() {
            // A picture may be as old as the last change; core knows the time, and has its own name for the server.
            Some(mut picture) => {
                picture.as_of = core.as_of;
                picture.header.server = core.header.server;
                picture
            }
            None => core,
        }
    }

    fn standing(&mut self, holder: &Holder) -> Standing {
        // Asking the store would mark the holder as present; the states have been compared already.
        self.reference.room.standing(holder, self.reference.clock)
    }

    fn advance(&mut self, by: Duration) -> Settled {
        self.reference.clock = self.reference.clock + by;
        self.twin.advance(by);
        match self.twin.settling() {
            Settling::Whole => {
                self.apply_part(&Command::Settle);
                Settled::Yes
            }
            Settling::Stepwise => Settled::NotYet,
        }
    }

    fn suffer(&mut self, how: u64) -> Suffered {
        let loss = self.twin.suffer(how, &mut self.reference);
        self.reference.history.clear();
        match loss {
            Ok(Loss::Nothing) => {
                self.compare_pictures();
                Suffered::Nothing
            }
            Ok(Loss::Writes(memory)) => {
                if self.reference.room.is_fenced() {
                    self.apply_part(&Command::Admit(1));
                }
                // Two nodes that know the same; the second changes nothing any more but the version.
                for _ in 0..2 {
                    self.settle(&Command::Merge(Arc::clone(&memory)));
                }
                Suffered::LostWrites
            }
            Err(violation) => {
                self.objection.get_or_insert(violation);
                Suffered::Nothing
            }
        }
    }

    fn objection(&mut self) -> Option<Violation> {
        self.objection.take()
    }
}

/// The answer to a command whose parts were answered so.
fn combine(outcomes: Vec<Outcome>) -> Outcome {
    let last = outcomes.last().expect("a command has parts").clone();
    let replies = outcomes.into_iter().map(|outcome| outcome.reply);
    let reply = replies.reduce(|all, next| match (all, next) {
        (Reply::Joined(all), Reply::Joined(next)) => Reply::Joined([all, next].concat()),
        (Reply::Standing(all), Reply::Standing(next)) => Reply::Standing([all, next].concat()),
        (_, next) => next,
    });
    Outcome {
        reply: reply.expect("a command has parts"),
        ..last
    }
}
