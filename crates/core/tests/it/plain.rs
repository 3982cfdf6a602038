//! A room with nothing round it, as a line under test.

use std::{sync::Arc, time::Duration};

use ropeline_core::{
    Bounds, Command, Holder, Ordinal, Outcome, Policy, Room, ServerId, Standing, Timestamp, View,
};
use ropeline_testing::line::{Line, START, Settled, Suffered};

/// Small bounds, so that a tick needs several calls and `base` moves.
pub(crate) const BOUNDS: Bounds = Bounds {
    look_max: 3,
    base_trail: 16 << 20,
    base_step: 1 << 20,
};

/// A room, its clock, and the states that a forgetful server could go back to.
pub(crate) struct PlainLine {
    pub(crate) room: Room,
    pub(crate) clock: Timestamp,
    history: Vec<Room>,
    servers: u64,
}

impl PlainLine {
    pub(crate) fn new(policy: Policy) -> Self {
        let room = Room::new(policy, server(0), START, BOUNDS);
        Self {
            room,
            clock: START,
            history: Vec::new(),
            servers: 0,
        }
    }

    /// Applies a command and settles until nothing is left to do.
    pub(crate) fn settle(&mut self, command: Command) -> Outcome {
        let first = self.apply(command);
        let mut more = first.more;
        while more {
            more = self.apply(Command::Settle).more;
        }
        first
    }

    /// The server goes back to an earlier state, or to none, under another run id.
    pub(crate) fn forget(&mut self, how: u64) -> View {
        let memory = self.view();
        self.servers += 1;
        let kept = self
            .history
            .len()
            .checked_sub(1)
            .map(|last| self.history[last.min(usize::try_from(how).unwrap())].clone());
        self.room = match kept {
            Some(mut room) if !how.is_multiple_of(4) => {
                room.rehost(server(self.servers));
                room
            }
            _ => Room::from_memory(&memory, server(self.servers), self.clock, BOUNDS),
        };
        self.history.clear();
        memory
    }
}

impl Line for PlainLine {
    fn apply(&mut self, command: Command) -> Outcome {
        self.history.push(self.room.clone());
        if self.history.len() > 8 {
            self.history.remove(0);
        }
        self.room.apply(command, self.clock)
    }

    fn view(&mut self) -> View {
        self.room.view(self.clock)
    }

    fn standing(&mut self, holder: &Holder) -> Standing {
        self.room.standing(holder, self.clock)
    }

    fn advance(&mut self, by: Duration) -> Settled {
        self.clock = self.clock + by;
        Settled::NotYet
    }

    fn suffer(&mut self, how: u64) -> Suffered {
        let memory = Arc::new(self.forget(how % 9));
        if self.room.is_fenced() {
            let fenced = self.room.clone();
            let outcome = self.room.apply(Command::Admit(1), self.clock);
            assert_eq!(outcome.reply, ropeline_core::Reply::Fenced);
            assert_eq!(
                self.room.header(),
                fenced.header(),
                "a fenced room changes nothing"
            );
        }
        // Two nodes that know the same; the second changes nothing any more but the version.
        for _ in 0..2 {
            self.settle(Command::Merge(Arc::clone(&memory)));
        }
        self.history.clear();
        Suffered::LostWrites
    }
}

pub(crate) fn server(n: u64) -> ServerId {
    ServerId(format!("server-{n}").into())
}

pub(crate) fn holder(n: u8, ordinal: u64) -> Holder {
    Holder {
        visitor: ropeline_testing::line::visitor(n),
        ordinal: Ordinal(ordinal),
    }
}
