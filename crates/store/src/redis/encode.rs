//! Core's commands as calls of functions, and their answers as core's outcomes.

use std::sync::Arc;

use redis::Cmd;
use ropeline_core::{
    Bounds, Command, Holder, Joiner, LostRange, Ordinal, Outcome, Policy, Reply, ServerId,
    Standing, Timestamp, View, Visitor,
};

use super::{
    keys::Lane,
    library,
    member::Member,
    room::RoomNode,
    slot::Slot,
    wire::{Answer, Status, Unreadable, Written, millis, state_word},
};
use crate::Over;

/// A function and what it is called with.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) command: Cmd,
    /// Where all of its keys are.
    pub(super) slot: Slot,
    /// How many requests it answers for which something may be written.
    pub(super) requests: u64,
    /// What the node showed when the call was made, which the answer's news build on.
    pub(super) known: Option<Arc<View>>,
}

/// What every call begins with: the room's keys, the clock of a test if there is one, the bounds, and what the node
/// shows of the room.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caller<'a> {
    pub(super) room: &'a RoomNode,
    pub(super) clock: Option<Timestamp>,
    pub(super) bounds: Bounds,
    /// The term of the server, as those say who watch over the servers.
    pub(super) term: u64,
    /// Of this node's batches and words; the same when one is sent again.
    pub(super) number: u64,
    /// The way that joins take.
    pub(super) lane: Lane,
    pub(super) sending: Sending,
}

/// Whether Redis may have heard of a call before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    First,
    Again,
}

impl Sending {
    fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Again => "again",
        }
    }
}

impl Caller<'_> {
    fn call(&self, function: &str) -> Call {
        self.knowing(function, None, self.room.view())
    }

    fn noted(&self, function: &str, note: &str) -> Call {
        self.knowing(function, Some(note), self.room.view())
    }

    fn knowing(&self, function: &str, note: Option<&str>, known: Option<Arc<View>>) -> Call {
        let keys = self.room.keys.parts();
        let mut command = redis::cmd("FCALL");
        command
            .arg(function)
            .arg(keys.len() + usize::from(note.is_some()))
            .arg(keys)
            .arg(note)
            .arg(
                self.clock
                    .map_or_else(String::new, |clock| clock.0.to_string()),
            )
            .arg(self.bounds.look_max)
            .arg(self.bounds.base_trail)
            .arg(self.bounds.base_step);
        match known.as_ref().map(|view| &view.header) {
            Some(header) => command
                .arg(header.version)
                .arg(self.term)
                .arg(&*header.server.0),
            None => command.arg(-1).arg(self.term).arg(""),
        };
        Call {
            command,
            known,
            slot: self.room.keys.slot(),
            requests: 1,
        }
    }

    /// The call that carries out a command. A merge takes several and is not among them.
    pub(super) fn transition(&self, command: &Command) -> Call {
        match command {
            Command::Join(joiners) => self.join(joiners),
            Command::Renew(holders) => self.hear("renew", holders),
            Command::Restore(holders) => self.hear("ask", holders),
            Command::Retell(holders) => {
                let call = self.call(&library::RETELL);
                holders.iter().fold(call, Call::written)
            }
            Command::Mark(ordinals) => {
                let ordinals: Vec<_> = ordinals.iter().map(|ordinal| ordinal.0).collect();
                self.call(&library::MARK).with(ordinals)
            }
            Command::Keep { holder, business } => {
                let call = self.call(&library::KEEP).written(holder);
                call.with(millis(*business))
            }
            Command::Leave(holder) => self.depart("leave").written(holder),
            Command::Finish(holder) => self.depart("finish").written(holder),
            Command::Revoke(visitor) => self.depart("revoke").with(Member::of(visitor)).with(""),
            Command::Settle | Command::Merge(_) => self.call(&library::SETTLE),
            Command::Admit(count) => self.word("admit").with(*count),
            Command::Pause => self.word("pause"),
            Command::Resume => self.word("resume"),
            Command::Open => self.word("open"),
            Command::Close => self.word("close"),
            Command::Drain => self.word("drain"),
            Command::Reset => self.word("reset"),
            Command::Stock(left) => self.word("stock").with(stock_text(*left)),
            Command::Delete => self.word("delete"),
            Command::SetPolicy { policy, digest } => {
                let call = self.word("policy").written(&**policy);
                call.with(digest.as_deref().unwrap_or_default())
            }
            Command::ChangePolicy { from, to } => {
                self.word("change").written(&**from).written(&**to)
            }
            Command::Import { rows, grace } => {
                let call = self.call(&library::IMPORT).with(millis(*grace));
                rows.iter().fold(call, Call::written)
            }
            Command::Create { policy, digest } => {
                self.create(policy, digest.as_deref(), Ordinal(0))
            }
        }
    }

    fn join(&self, joiners: &[Joiner]) -> Call {
        let call = self.noted(&library::JOIN, &self.room.keys.joins(self.lane));
        let call = call.with(self.number).with(self.sending.word());
        let call = call.with(joiners.len());
        let visitors = joiners.iter().map(|joiner| Member::of(&joiner.visitor));
        let call = visitors.fold(call, Call::with);
        let keys = (1_usize..).zip(joiners);
        let keys = keys.filter_map(|(at, joiner)| Some((at, joiner.key?)));
        let call = keys.fold(call, |call, (at, key)| call.with(at).written(&key));
        Call {
            requests: joiners.len() as u64,
            ..call
        }
    }

    fn hear(&self, kind: &str, holders: &[Holder]) -> Call {
        self.hear_all(holders.iter().map(|holder| (kind, holder)))
    }

    /// Holders who ask, each in their own way: `renew` or `ask`.
    pub(super) fn hear_all<'h>(&self, asking: impl Iterator<Item = (&'h str, &'h Holder)>) -> Call {
        let call = self.call(&library::RENEW);
        asking.fold(call, |call, (kind, holder)| call.with(kind).written(holder))
    }

    fn depart(&self, how: &str) -> Call {
        self.call(&library::DEPART).with(how)
    }

    fn word(&self, word: &str) -> Call {
        let call = self.noted(&library::OPERATE, self.room.keys.words());
        call.with(self.number).with(word)
    }

    /// Makes a room; the ordinals of one that is not there at all begin behind `last`.
    pub(super) fn create(&self, policy: &Policy, digest: Option<&str>, last: Ordinal) -> Call {
        let call = self.call(&library::CREATE).written(policy);
        call.with(digest.unwrap_or_default()).with(last.0)
    }

    /// What a view needs to be as new as the store; without one, everything.
    pub(super) fn look(&self, known: Option<Arc<View>>) -> Call {
        let epoch = known.as_ref().map_or(0, |view| view.header.epoch.0);
        let call = self.knowing(&library::LOOK, None, known);
        call.with(epoch).reading()
    }

    /// The room as it is kept.
    pub(super) fn read(&self) -> Call {
        self.call(&library::READ).reading()
    }

    pub(super) fn find(&self, visitor: &Visitor) -> Call {
        let call = self.call(&library::FIND).with(Member::of(visitor));
        call.reading()
    }

    /// Freezes a room, or with no reason lets it go on.
    pub(super) fn freeze(&self, why: &str) -> Call {
        self.call(&library::FREEZE).with(why)
    }

    /// Begins to take in a room from another store.
    pub(super) fn adopt(&self, why: &str, over: Over, fields: &[(&'static str, String)]) -> Call {
        let over = match over {
            Over::Nothing => "",
            Over::Empty => "empty",
        };
        let call = self.call(&library::ADOPT).with(why).with(over);
        fields
            .iter()
            .fold(call, |call, (field, value)| call.with(*field).with(value))
    }

    /// A part of what a node knows, with ordinals that ended.
    pub(super) fn merge(&self, part: &str, memory: &Arc<View>, gone: &[u64], done: &[u64]) -> Call {
        let header = &memory.header;
        let known = Some(Arc::clone(memory));
        let call = self.knowing(&library::MERGE, None, known).with(part);
        let lost = |of: fn(LostRange) -> u64| {
            header
                .lost
                .map_or_else(String::new, |lost| of(lost).to_string())
        };
        call.with(header.epoch.0)
            .with(state_word(header.state))
            .with(header.issued.0)
            .with(header.head.0)
            .with(header.floor.0)
            .with(header.base.0)
            .with(header.version)
            .with(header.generation)
            .with(header.deleted_until.0)
            .with(lost(|lost| lost.after.0))
            .with(lost(|lost| lost.until.0))
            .with(memory.as_of.0)
            .written(&*header.policy)
            .with(stock_text(header.stock))
            .with(header.stock_version)
            .with(header.admission_held_until.0)
            .with(gone.len())
            .with(gone)
            .with(done)
    }

    /// A missing room as a node remembers it.
    pub(super) fn restore(&self, memory: &View) -> Call {
        let header = &memory.header;
        let call = self.call(&library::RESTORE);
        call.with(header.epoch.0)
            .with(state_word(header.state))
            .with(u8::from(header.paused))
            .with(header.issued.0)
            .with(header.head.0)
            .with(header.floor.0)
            .with(header.base.0)
            .with(header.version)
            .with(memory.as_of.0)
            .written(&*header.policy)
            .with(header.digest.as_deref().unwrap_or_default())
            .with(stock_text(header.stock))
            .with(header.stock_version)
            .with(memory.gone.to_bitmap(header.base.0))
            .with(memory.done.to_bitmap(header.base.0))
            .with(header.generation)
            .with(header.deleted_until.0)
            .with(header.admission_held_until.0)
            .written(&header.counters)
    }
}

/// A stock as functions take it: empty if it is not told.
fn stock_text(stock: Option<u64>) -> String {
    stock.map_or_else(String::new, |left| left.to_string())
}

impl Call {
    /// A call that writes nothing.
    fn reading(mut self) -> Self {
        self.requests = 0;
        self
    }

    fn with(mut self, argument: impl redis::ToRedisArgs) -> Self {
        self.command.arg(argument);
        self
    }

    fn written(mut self, argument: &impl Written) -> Self {
        argument.write(&mut self.command);
        self
    }
}

/// What a command did, and where each joiner stands after it.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) outcome: Outcome,
    pub(super) standings: Vec<Standing>,
    /// What the node knew when it asked.
    known: Option<Arc<View>>,
}

impl Done {
    /// The generation in which it was done, by the name of its server.
    pub(super) fn generation(&self) -> Option<&ServerId> {
        self.known.as_ref().map(|view| &view.header.server)
    }

    /// Reads the answer to a command.
    pub(super) fn read(command: &Command, answer: Answer) -> Result<Self, Unreadable> {
        let Answer {
            status,
            more,
            version,
            head,
            issued,
            known,
            mut rest,
            ..
        } = answer;
        let mut standings = Vec::new();
        let reply = match status {
            Status::Ok => match command {
                Command::Join(joiners) => {
                    let joined = rest.all_joined(joiners.len())?;
                    let (joined, stand) = joined.into_iter().unzip();
                    standings = stand;
                    Reply::Joined(joined)
                }
                Command::Renew(holders) | Command::Restore(holders) => {
                    let mut values = rest.list()?;
                    let each = holders
                        .iter()
                        .map(|holder| Ok((holder.clone(), values.standing()?)));
                    Reply::Standing(each.collect::<Result<_, Unreadable>>()?)
                }
                Command::Keep { holder, .. } => {
                    Reply::Standing(vec![(holder.clone(), rest.list()?.standing()?)])
                }
                Command::Leave(_) | Command::Finish(_) => Reply::Departed(rest.departure()?),
                Command::Revoke(_) => {
                    let place = rest.ordinal()?;
                    Reply::Revoked((place.0 > 0).then_some(place))
                }
                Command::ChangePolicy { .. } if rest.text()? == "stale" => Reply::Stale,
                Command::Import { rows, .. } => {
                    let mut values = rest.list()?;
                    let each = rows.iter().map(|_| values.imported());
                    Reply::Imported(each.collect::<Result<_, Unreadable>>()?)
                }
                Command::Create { .. } => Reply::Created(rest.number()? == 1),
                _ => Reply::Done,
            },
            Status::Held(wait) => Reply::Held(wait),
            Status::Missing | Status::Fenced => Reply::Fenced,
            Status::Deleted => Reply::NoRoom,
            Status::Frozen | Status::Again => return Err(Unreadable("what a command did")),
        };
        let outcome = Outcome {
            reply,
            more,
            version,
            head,
            issued,
        };
        Ok(Self {
            outcome,
            standings,
            known,
        })
    }
}
