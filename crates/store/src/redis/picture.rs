//! What a node knows of a room's line, and how it comes to know more.

use std::sync::Arc;

use ropeline_core::{
    Bits, Header, Ordinal, Pace, Reason, Reasons, RoomClock, RoomState, Timestamp, View,
};

use super::{
    fields,
    wire::{Answer, Read, Values},
};

/// A picture of a room at one version.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) view: Arc<View>,
    /// When the question was sent whose answer this is, by the node's clock.
    pub(super) fresh_at: Timestamp,
    /// When settling has something to do next, in room time.
    pub(super) next_due: Option<Timestamp>,
    /// Those that were ever set aside, as far as this node has heard.
    pub(super) set_aside: Bits,
}

impl Picture {
    /// The picture after an answer; `None` if that is older than what is known, or builds on what is not. What ended
    /// stays ended, so an answer may be laid over any picture of the same epoch between the version that was asked
    /// about and its own.
    pub(super) fn after(
        old: Option<&Self>,
        looked: &Looked,
        asked: Asked,
        aside: &[u64],
        pace: &mut Pace,
    ) -> Option<Self> {
        if old.is_some_and(|old| old.is_newer_than(looked, asked)) || !looked.builds_on(old) {
            return None;
        }
        let mut view = looked.view();
        view.header.clock = asked.clock(looked.as_of, old);
        let old = old.filter(|old| old.view.header.epoch == view.header.epoch);
        let mut set_aside = old.map_or_else(Bits::default, |old| old.set_aside.clone());
        if let (Some(old), false) = (old, looked.is_snapshot()) {
            (view.gone, view.done) = (old.view.gone.clone(), old.view.done.clone());
        }
        // What ended stays ended, and why it did.
        view.reasons = old.map_or_else(Reasons::default, |old| old.view.reasons.clone());
        if let Since::Log {
            gone,
            done,
            set_aside: new,
            reasons,
        } = &looked.since
        {
            insert(&mut view.gone, gone);
            insert(&mut view.done, done);
            insert(&mut set_aside, new);
            for (ordinal, reason) in reasons {
                view.reasons.note(*ordinal, *reason);
            }
        }
        insert(&mut set_aside, aside);
        for bits in [&mut view.gone, &mut view.done, &mut set_aside] {
            bits.forget_below(view.header.base.0);
        }
        view.reasons.forget_below(view.header.base);
        pace.observe(&view);
        view.pace = *pace;
        Some(Self {
            view: Arc::new(view),
            fresh_at: asked.from,
            next_due: looked.next_due,
            set_aside,
        })
    }

    /// Whether other nodes may still be about to merge what they know.
    pub(super) fn is_being_merged(&self) -> bool {
        let view = &self.view;
        view.as_of < view.header.joins_held_until && view.header.state != RoomState::Deleted
    }

    fn is_newer_than(&self, looked: &Looked, asked: Asked) -> bool {
        let (known, header) = (&self.view.header, &looked.header);
        let order = |header: &Header, at| (header.generation, header.version, at);
        order(header, asked.from) < order(known, self.fresh_at)
    }
}

fn insert(bits: &mut Bits, ordinals: &[u64]) {
    for ordinal in ordinals {
        bits.insert(*ordinal);
    }
}

/// When a question was sent and its answer came, by the node's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

impl Asked {
    /// What room time is, given that it was `room` at some moment while the answer was awaited. A node that was
    /// stopped meanwhile cannot tell when; then what it knew before is better.
    fn clock(self, room: Timestamp, known: Option<&Picture>) -> RoomClock {
        let latest = room + self.to.since(self.from);
        let expected = known.map_or(room, |known| known.view.now(self.to));
        RoomClock::heard(expected.clamp(room, latest), self.to)
    }
}

/// What `look.lua` says, or the news of another function.
#[derive(Debug)]
pub(super) struct Looked {
    /// The server that it runs on; `None` if that is the one which has written it.
    run_id: Option<String>,
    pub(super) header: Header,
    /// The epoch of a room that gave way to this one, which came from another store.
    pub(super) replaced: Option<Timestamp>,
    as_of: Timestamp,
    inside: u64,
    aside: u64,
    door: u64,
    next_due: Option<Timestamp>,
    /// The version that was asked about.
    from: u64,
    since: Since,
}

/// What ended since a version that the node has.
#[derive(Debug)]
enum Since {
    Same,
    Log {
        gone: Vec<u64>,
        done: Vec<u64>,
        set_aside: Vec<u64>,
        /// Why, where that is known.
        reasons: Vec<(Ordinal, Reason)>,
    },
    Snapshot {
        gone: Bits,
        done: Bits,
    },
}

impl Since {
    fn log(what: &mut Values) -> Read<Self> {
        let (gone, done) = (what.ordinals()?, what.ordinals()?);
        let set_aside = what.ordinals()?;
        let mut reasons = what.reasons(&gone)?;
        reasons.append(&mut what.reasons(&done)?);
        Ok(Self::Log {
            gone,
            done,
            set_aside,
            reasons,
        })
    }
}

impl Looked {
    pub(super) fn read(answer: Answer, known: Option<&View>, clock: Timestamp) -> Read<Self> {
        let (as_of, mut rest) = (answer.now, answer.rest);
        let run_id = rest.text()?;
        let fields = rest.fields()?;
        let header = fields.header(as_of, clock)?;
        let (inside, aside, door) = (rest.number()?, rest.number()?, rest.number()?);
        let next_due = rest.maybe_number()?.map(Timestamp);
        let how = rest.text()?;
        let mut what = rest.list()?;
        let since = match how.as_str() {
            "same" => Since::Same,
            "log" => Since::log(&mut what)?,
            _ => Since::Snapshot {
                gone: Bits::from_bitmap(header.base.0, &what.bytes()?),
                done: Bits::from_bitmap(header.base.0, &what.bytes()?),
            },
        };
        Ok(Self {
            run_id: Some(run_id),
            replaced: fields.time("replaced").ok(),
            header,
            as_of,
            inside,
            aside,
            door,
            next_due,
            from: known.map_or(0, |known| known.header.version),
            since,
        })
    }

    /// The room after a call, given what was known when it was made. `None` if that is not enough.
    pub(super) fn of_news(
        answer: &mut Answer,
        known: &View,
        clock: Timestamp,
    ) -> Read<Option<Self>> {
        let (as_of, news) = (answer.now, &mut answer.news);
        if news.is_empty() {
            return Ok(None);
        }
        let mut header = known.header.clone();
        (header.version, header.head, header.issued) = (answer.version, answer.head, answer.issued);
        header.clock = RoomClock::heard(as_of, clock);
        fields::amend_rounds(&mut header, news)?;
        let mut looked = Self {
            run_id: None,
            replaced: None,
            header,
            as_of,
            inside: known.inside,
            aside: known.aside,
            door: known.door,
            next_due: news.maybe_number()?.map(Timestamp),
            from: known.header.version,
            since: Since::Same,
        };
        // Otherwise nothing but places was given since.
        if !news.is_empty() {
            fields::amend_numbers(&mut looked.header, news)?;
            (looked.inside, looked.aside) = (news.number()?, news.number()?);
            looked.door = news.number()?;
            looked.since = Since::log(news)?;
        }
        Ok(Some(looked))
    }

    /// Whether this can be laid over a picture.
    fn builds_on(&self, old: Option<&Picture>) -> bool {
        let builds_on = |old: &Picture| {
            let known = &old.view.header;
            known.epoch == self.header.epoch
                && known.server == self.header.server
                && known.version >= self.from
        };
        self.is_snapshot() || old.is_some_and(builds_on)
    }

    /// Whether the generation began on another server than the room runs on.
    pub(super) fn is_elsewhere(&self) -> bool {
        let run_id = self.run_id.as_deref();
        run_id.is_some_and(|run_id| !self.header.server.0.starts_with(run_id))
    }

    pub(super) fn is_snapshot(&self) -> bool {
        matches!(self.since, Since::Snapshot { .. })
    }

    /// The snapshot as a view, for comparing it with what a node knows.
    pub(super) fn view(&self) -> View {
        let (gone, done) = match &self.since {
            Since::Snapshot { gone, done } => (gone.clone(), done.clone()),
            _ => Default::default(),
        };
        View {
            header: self.header.clone(),
            gone,
            done,
            reasons: Reasons::default(),
            inside: self.inside,
            aside: self.aside,
            door: self.door,
            pace: Pace::default(),
            as_of: self.as_of,
        }
    }
}
