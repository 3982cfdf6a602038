//! A read-only picture of a line, from which a node answers "how many ahead" with no store call.

use crate::{
    Bits, Ending, Header, Ordinal, Pace, Reason, Reasons, Timestamp,
    room::{RoomState, ending},
};

/// A line at one version. Cheap to clone, and never changed once published.
#[derive(Debug, Clone)]
pub struct View {
    /// The room but for its places.
    pub header: Header,
    /// Those that left, were revoked, or missed their turn for good.
    pub gone: Bits,
    /// Those that were inside and are no longer.
    pub done: Bits,
    /// Why they ended, as far as that is known.
    pub reasons: Reasons,
    /// How many have a pass.
    pub inside: u64,
    /// How many missed their turn and may come back.
    pub aside: u64,
    /// How many are served before the line.
    pub door: u64,
    /// How fast people have left lately, as far as this node has seen.
    pub pace: Pace,
    /// Room time of the picture.
    pub as_of: Timestamp,
}

/// Where an ordinal is, as far as a view can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Located {
    /// In line, or lost and counted as in line.
    InLine {
        /// How many in line are in front.
        ahead: u64,
        /// How many in line are behind.
        behind: u64,
    },
    /// At or below `head` and not ended: inside, aside or at the door. The store knows which.
    PassedBy,
    /// Ended.
    Ended(Ending),
    /// Never given, as far as this view knows.
    Unknown,
}

impl View {
    /// Where an ordinal is. Costs the same for every ordinal and every length of the line.
    pub fn locate(&self, ordinal: Ordinal) -> Located {
        if ordinal == Ordinal(0) || ordinal > self.header.issued {
            return Located::Unknown;
        }
        let head = self.header.head;
        if ordinal <= head {
            return match ending(&self.header, &self.gone, &self.done, ordinal) {
                Some(ending) => Located::Ended(ending),
                None => Located::PassedBy,
            };
        }
        if self.gone.contains(ordinal.0) {
            return Located::Ended(Ending::Gone);
        }
        let ahead = ordinal.0 - 1 - head.0 - self.gone.count(head.0 + 1..ordinal.0);
        Located::InLine {
            ahead,
            behind: self.waiting() - ahead - 1,
        }
    }

    /// The number, counted from 1, of the turn of a visitor in line with `ahead` people in front: those at the door go in
    /// first.
    pub fn turn(&self, ahead: u64) -> u64 {
        self.door + ahead + 1
    }

    /// How a place ended, if the view knows it has.
    pub fn ending(&self, ordinal: Ordinal) -> Option<Ending> {
        ending(&self.header, &self.gone, &self.done, ordinal)
    }

    /// Why a place ended, if the view knows that it has and why.
    pub fn reason(&self, ordinal: Ordinal) -> Option<Reason> {
        let ending = self.ending(ordinal)?;
        let reset = || ordinal <= self.header.floor && !self.gone.contains(ordinal.0);
        let known = self.reasons.of(ordinal, ending);
        known.or_else(|| (ending == Ending::Gone && reset()).then_some(Reason::Reset))
    }

    /// Room time at `clock`.
    pub fn now(&self, clock: Timestamp) -> Timestamp {
        self.header.clock.read(clock)
    }

    /// How many are in line.
    pub fn waiting(&self) -> u64 {
        let (head, issued) = (self.header.head.0, self.header.issued.0);
        issued - head - self.gone.count(head + 1..issued + 1)
    }

    /// The state in the word that visitors are shown: where nothing is left to sell, they would want to know that of an
    /// open room.
    pub fn word_for_visitors(&self) -> &'static str {
        match self.state_word() {
            "OPEN" if self.header.stock == Some(0) => "SOLD_OUT",
            word => word,
        }
    }

    /// The state in one word. A pause is what everybody would want to know first.
    pub fn state_word(&self) -> &'static str {
        match self.header.state {
            _ if self.header.paused => "PAUSED",
            RoomState::Open => "OPEN",
            RoomState::Closed => "CLOSED",
            RoomState::Draining => "DRAINING",
            RoomState::Deleted => "DELETED",
        }
    }
}
