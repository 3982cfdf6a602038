//! The state machine of one waiting room.
//!
//! Every ordinal from 1 to `issued` is at any moment exactly one of: in line (above `head`, not gone),
//! inside, aside (missed its turn), at the door (back after a missed turn, or put back), gone (left,
//! revoked, missed for good), done (was inside and is no longer).
//!
//! Every transition ends by settling, and only settling moves a visitor inside; but for an import, which takes
//! over those who were inside elsewhere.

mod command;
mod delete;
mod door;
mod header;
mod holder;
mod import;
mod join;
mod merge;
mod operate;
mod saved;
mod settle;

use std::{sync::Arc, time::Duration};

pub use command::{
    Command, Departure, Ending, Holder, ImportRow, Imported, Joined, Joiner, Live, Outcome, Pass,
    Reply, Standing, Was,
};
pub use header::{Counters, Header, LostRange, RoomState, Round, ServerId, Stamp, Tick};
pub use merge::{LEASE, VERSION_JUMP};
pub use saved::{Changes, LoadError, Saved, SavedPlace};

use self::door::Door;
use crate::{
    Bits, Ordinal, Policy, Reason, Reasons, Timestamp, View, Visitor, deadlines::Deadlines,
    keys::KeyMemory, places::Places, time::millis,
};

/// Limits on the work of one transition. Tests make them small.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Places that one settling looks at, and that it ends, at the most.
    pub look_max: u64,
    /// How far `base`, below which no ending is remembered, trails `head`.
    pub base_trail: u64,
    /// `base` moves on by this much at a time; a multiple of 65,536.
    pub base_step: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            look_max: 1_000,
            base_trail: 16 << 20,
            base_step: 1 << 20,
        }
    }
}

/// One waiting room: who is where, and what was promised to whom.
#[derive(Debug, Clone)]
pub struct Room {
    header: Header,
    /// The run id of the server that the room runs on now. Where the header names another, writes have been lost or
    /// the room has moved, and nothing is changed until what the nodes know is merged in.
    host: ServerId,
    bounds: Bounds,
    places: Places,
    /// How many places are in line. What `issued`, `head` and `gone` leave over beyond it is lost.
    in_line: u64,
    passes: Deadlines<Pass>,
    /// When each missed turn is given up.
    aside: Deadlines<Timestamp>,
    door: Door,
    gone: Bits,
    done: Bits,
    /// Why they are, for those that ended since this process has the room.
    reasons: Reasons,
    /// Places that an import gave.
    imported: Bits,
    /// Those of them that a join has answered.
    claimed: Bits,
    /// Presence in the last three rounds, the current one first.
    seen: [Bits; 3],
    keys: KeyMemory,
    /// Places that were given in this generation, or proved by a token or by a node that acknowledged them.
    confirmed: Bits,
    changes: Changes,
    /// Whether the running transition has changed anything that a view shows.
    visible: bool,
}

impl Room {
    /// An empty room that begins now. `clock` is also its epoch.
    pub fn new(policy: Policy, host: ServerId, clock: Timestamp, bounds: Bounds) -> Self {
        let header = Header::new(Arc::new(policy), host.clone(), clock);
        Self {
            header,
            host,
            bounds,
            places: Places::default(),
            in_line: 0,
            passes: Deadlines::default(),
            aside: Deadlines::default(),
            door: Door::default(),
            gone: Bits::default(),
            done: Bits::default(),
            reasons: Reasons::default(),
            imported: Bits::default(),
            claimed: Bits::default(),
            seen: Default::default(),
            keys: KeyMemory::default(),
            confirmed: Bits::default(),
            changes: Changes::default(),
            visible: false,
        }
    }

    /// As [`Room::new`], with ordinals that begin behind `last`: a node that cannot exclude that the room was there
    /// before gives no ordinal that may have been given then.
    pub fn new_behind(
        last: Ordinal,
        policy: Policy,
        host: ServerId,
        clock: Timestamp,
        bounds: Bounds,
    ) -> Self {
        let mut room = Self::new(policy, host, clock, bounds);
        (room.header.issued, room.header.head) = (last, last);
        room
    }

    /// As [`Room::apply`], for a caller that may know another state of the room than this one. Nothing is done for
    /// it until both know the same.
    pub fn apply_stamped(&mut self, command: Command, stamp: &Stamp, clock: Timestamp) -> Outcome {
        let header = &self.header;
        let knows_the_same = stamp.server == header.server && stamp.term <= header.term;
        if !knows_the_same && !matches!(command, Command::Merge(_)) {
            return self.outcome(Reply::Fenced, false);
        }
        self.apply(command, clock)
    }

    /// Carries out one command at `clock` and settles the room.
    ///
    /// Where [`Outcome::more`] is set, there is more to settle and the caller calls again at once with
    /// [`Command::Settle`].
    pub fn apply(&mut self, command: Command, clock: Timestamp) -> Outcome {
        if self.is_fenced() && !matches!(command, Command::Merge(_)) {
            return self.outcome(Reply::Fenced, false);
        }
        if self.is_deleted() && !matches!(command, Command::Merge(_) | Command::Create { .. }) {
            return self.outcome(Reply::NoRoom, false);
        }
        self.skip_outage(&command, clock);
        let now = self.header.clock.advance(clock);
        self.turn_rounds(now);
        let reply = match command {
            Command::Join(joiners) => self.join(&joiners, now),
            Command::Renew(holders) => self.renew(&holders, now),
            Command::Restore(holders) => self.restore(&holders, now),
            Command::Mark(ordinals) => self.mark(&ordinals, now),
            Command::Keep { holder, business } => self.keep(&holder, business, now),
            Command::Leave(holder) => self.leave(&holder, now),
            Command::Finish(holder) => self.finish(&holder, now),
            Command::Revoke(visitor) => self.revoke(&visitor, now),
            Command::Settle => Reply::Done,
            Command::Retell(holders) => self.retell(&holders, now),
            Command::Admit(count) => self.admit_extra(count, now),
            Command::Pause => self.set_paused(true),
            Command::Resume => self.set_paused(false),
            Command::Open => self.set_state(RoomState::Open),
            Command::Close => self.set_state(RoomState::Closed),
            Command::Drain => self.set_state(RoomState::Draining),
            Command::Reset => self.reset(now),
            Command::SetPolicy { policy, digest } => self.set_policy(policy, digest, now),
            Command::ChangePolicy { from, to } if self.header.policy == from => {
                self.set_policy(to, None, now)
            }
            Command::ChangePolicy { .. } => Reply::Stale,
            Command::Stock(left) => self.set_stock(left),
            Command::Delete => self.delete(now),
            Command::Create { policy, digest } => self.create(policy, digest, now),
            Command::Merge(memory) => self.merge(&memory, now),
            Command::Import { rows, grace } => self.import(&rows, grace, now),
        };
        let more = self.settle(now);
        let reply = self.refresh(reply, now);
        self.outcome(reply, more)
    }

    /// Room time stands still while nobody can reach the room, so that an outage uses up no pass.
    fn skip_outage(&mut self, command: &Command, clock: Timestamp) {
        match command {
            Command::Merge(memory) if self.must_raise(&memory.header) => {
                let before = self.header.clock.last();
                self.header.clock.go_on_from(memory.as_of, clock);
                if memory.header.generation > self.header.generation {
                    self.put_off_deadlines(before.until(self.header.clock.last()));
                }
            }
            Command::Merge(memory) => self.header.clock.catch_up(clock, memory.as_of),
            _ => {}
        }
    }

    /// Another server has run the room for so long, and this one knows nothing of it: what it knows of passes and missed
    /// turns must not run out by that.
    fn put_off_deadlines(&mut self, by: Duration) {
        let passes = self.passes.put_off(by);
        for ordinal in passes.into_iter().chain(self.aside.put_off(by)) {
            self.changes.place(ordinal);
        }
    }

    /// Goes on after nobody ran the room for a while: room time has stood still, and those in line have
    /// the whole of the current presence round to be heard of again.
    pub fn resume_at(&mut self, clock: Timestamp) {
        self.header.clock.rebase(clock);
        self.header.presence.started = self.header.clock.read(clock);
    }

    /// Says on which server the room runs from now on. If it is another one, the room is fenced.
    pub fn rehost(&mut self, host: ServerId) {
        self.host = host;
    }

    /// Whether the room refuses every command but a merge.
    pub fn is_fenced(&self) -> bool {
        !self.header.server.is_of(&self.host)
    }

    /// Room time at `clock`. It stands still until what the nodes know is merged in.
    pub fn now(&self, clock: Timestamp) -> Timestamp {
        if self.is_fenced() {
            return self.header.clock.last();
        }
        self.header.clock.read(clock)
    }

    /// What is kept of the room beside its places.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Where the holder of a token stands.
    pub fn standing(&self, holder: &Holder, clock: Timestamp) -> Standing {
        self.standing_at(holder, self.now(clock))
    }

    fn standing_at(&self, holder: &Holder, now: Timestamp) -> Standing {
        if self.find(&holder.visitor) == Some(holder.ordinal) {
            return self.live_at(holder.ordinal, now);
        }
        match self.ending(holder.ordinal) {
            Some(ending) => Standing::Ended(ending),
            None if holder.ordinal > self.header.issued => Standing::Unknown,
            // Given to somebody else: a node that was cut off while the others merged has signed it too. Who ran out is
            // done, whether or not settling has come to them.
            None if self.places.contains(holder.ordinal) => {
                match self.live_at(holder.ordinal, now) {
                    Standing::Ended(ending) => Standing::Ended(ending),
                    _ => Standing::Ended(Ending::Gone),
                }
            }
            None => Standing::Lost,
        }
    }

    /// Where whoever has just joined stands, by the ordinal of the answer: nobody else can have it yet.
    pub fn standing_of_joined(&self, ordinal: Ordinal, clock: Timestamp) -> Standing {
        if self.places.contains(ordinal) {
            return self.live_at(ordinal, self.now(clock));
        }
        self.ending(ordinal)
            .map_or(Standing::Unknown, Standing::Ended)
    }

    /// Whether joins have to wait, for now.
    pub fn holds_joins(&self, clock: Timestamp) -> bool {
        let held = self.is_fenced() || self.joins_held_for(self.now(clock)).is_some();
        held && !self.is_deleted()
    }

    fn joins_held_for(&self, now: Timestamp) -> Option<Duration> {
        let until = self.header.joins_held_until;
        (now < until).then(|| now.until(until))
    }

    /// The live place of a visitor.
    pub fn find(&self, visitor: &Visitor) -> Option<Ordinal> {
        self.places.ordinal_of(self.places.name(visitor))
    }

    /// A picture of the line for those who ask, sharing what it can with the room.
    pub fn view(&self, clock: Timestamp) -> View {
        View {
            header: self.header.clone(),
            gone: self.gone.clone(),
            done: self.done.clone(),
            reasons: self.reasons.clone(),
            inside: self.passes.len() as u64,
            aside: self.aside.len() as u64,
            door: self.door.len(),
            pace: crate::Pace::default(),
            as_of: self.now(clock),
        }
    }

    /// When settling has something to do next, in room time; `None` while nothing is pending.
    pub fn next_due(&self) -> Option<Timestamp> {
        let someone_waits = self.in_line > 0 || !self.door.is_empty();
        let tick = (someone_waits && !self.header.paused)
            .then(|| self.header.tick.start + self.header.policy.every);
        let round = (self.in_line > 0 && !self.header.policy.presence_ttl.is_zero())
            .then(|| self.header.presence.started + self.header.policy.round());
        let expiry = self.passes.earliest();
        let given_up = self.aside.earliest();
        let held = self.header.admission_held_until;
        let lost = self.open_range().map(|lost| lost.until.max(held));
        // The head may have to catch up with a line that ran empty meanwhile.
        let behind = self.header.head < self.header.issued;
        let held = ((someone_waits || behind) && held > self.header.clock.last()).then_some(held);
        [tick, round, expiry, given_up, lost, held]
            .into_iter()
            .flatten()
            .min()
    }

    /// How a place ended, from its ordinal alone.
    fn ending(&self, ordinal: Ordinal) -> Option<Ending> {
        ending(&self.header, &self.gone, &self.done, ordinal)
    }

    fn live_at(&self, ordinal: Ordinal, now: Timestamp) -> Standing {
        match self.state_of(ordinal) {
            Live::Inside(pass) if pass.expires_at <= now => Standing::Ended(Ending::Done),
            Live::Aside(until) if until <= now => Standing::Ended(Ending::Gone),
            Live::AtDoor { .. } => Standing::Live(Live::AtDoor {
                before: self.door.before(ordinal),
            }),
            live => Standing::Live(live),
        }
    }

    /// The state of a place that the room has, whether or not its time ran out, and without its rank at the door.
    fn state_of(&self, ordinal: Ordinal) -> Live {
        self.state_by(ordinal, |ordinal| self.passes.get(ordinal))
    }

    /// As [`Self::state_of`], by whoever finds passes.
    fn state_by(&self, ordinal: Ordinal, pass_of: impl FnOnce(Ordinal) -> Option<Pass>) -> Live {
        if ordinal > self.header.head {
            Live::InLine
        } else if let Some(pass) = pass_of(ordinal) {
            Live::Inside(pass)
        } else if let Some(until) = self.aside.get(ordinal) {
            Live::Aside(until)
        } else if self.door.contains(ordinal) {
            Live::AtDoor { before: 0 }
        } else {
            Live::InLine
        }
    }

    /// As [`Self::end`], for a reason that its holder can be told.
    fn end_for(&mut self, ordinal: Ordinal, reason: Reason) {
        self.reasons.note(ordinal, reason);
        self.end(ordinal, reason.ending());
    }

    /// Ends a place in whatever live state it is, or a lost one.
    fn end(&mut self, ordinal: Ordinal, ending: Ending) {
        if let Some(pass) = self.passes.remove(ordinal) {
            self.note_stay(pass);
            self.header.counters.departed += 1;
        } else if self.aside.remove(ordinal).is_none()
            && !self.door.remove(ordinal)
            && self.places.contains(ordinal)
        {
            self.in_line -= 1;
        }
        self.places.remove(ordinal);
        match ending {
            Ending::Gone => {
                self.gone.insert(ordinal.0);
                self.changes.gone(ordinal);
            }
            Ending::Done => {
                self.done.insert(ordinal.0);
                self.changes.done(ordinal);
            }
        }
        self.changed(ordinal);
    }

    fn note_stay(&mut self, pass: Pass) {
        let now = self.header.clock.last();
        self.header.counters.stayed_ms += millis(now.since(pass.since));
    }

    /// Notes that a place's record is another one now, and that views must hear of it.
    fn changed(&mut self, ordinal: Ordinal) {
        self.changes.place(ordinal);
        self.visible = true;
    }

    fn outcome(&mut self, reply: Reply, more: bool) -> Outcome {
        if std::mem::take(&mut self.visible) {
            self.header.version += 1;
        }
        let Header {
            version,
            head,
            issued,
            ..
        } = self.header;
        Outcome {
            reply,
            more,
            version,
            head,
            issued,
        }
    }
}

/// How a place ended: below `base` nothing is remembered and those who were there are long done; up to
/// `floor` a reset put everybody out.
pub(crate) fn ending(
    header: &Header,
    gone: &Bits,
    done: &Bits,
    ordinal: Ordinal,
) -> Option<Ending> {
    if ordinal <= header.base || done.contains(ordinal.0) {
        Some(Ending::Done)
    } else if ordinal <= header.floor || gone.contains(ordinal.0) {
        Some(Ending::Gone)
    } else {
        None
    }
}
