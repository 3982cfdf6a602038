//! A store server: a process with a run id that keeps one room, and what replicas have of it.

use std::{collections::VecDeque, rc::Rc};

use ropeline_core::Room;

use super::schedule::{Millis, ServerDisk};

/// States that were this close together are one to a replica.
const STEP: Millis = 50;
/// No replica and no file is further behind.
const PAST_MAX: Millis = 2_000;

/// What a server takes itself for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It takes writes, whether or not the Sentinels have named it.
    Master {
        /// When it is made a replica, because another one was named.
        until: Option<Millis>,
    },
    /// It follows that one.
    Replica(usize),
}

#[derive(Debug)]
pub(super) struct Server {
    number: usize,
    restarts: u32,
    pub(super) role: Role,
    pub(super) down_until: Millis,
    room: Option<Rc<Room>>,
    /// What it kept up to each of these moments.
    past: VecDeque<(Millis, Option<Rc<Room>>)>,
}

impl Server {
    pub(super) fn new(number: usize, role: Role) -> Self {
        Self {
            number,
            restarts: 0,
            role,
            down_until: 0,
            room: None,
            past: VecDeque::new(),
        }
    }

    /// Names the process: another one after a restart.
    pub(super) fn run_id(&self) -> String {
        format!("s{}.{}", self.number, self.restarts)
    }

    pub(super) fn room(&self) -> Option<&Room> {
        self.room.as_deref()
    }

    /// The room, to be changed.
    pub(super) fn change(&mut self, now: Millis) -> Option<&mut Room> {
        self.remember(now);
        self.room.as_mut().map(Rc::make_mut)
    }

    pub(super) fn replace(&mut self, now: Millis, room: Option<Room>) {
        self.remember(now);
        self.room = room.map(Rc::new);
    }

    pub(super) fn restart(&mut self, now: Millis, disk: ServerDisk) {
        let found = match disk {
            ServerDisk::Empty => None,
            ServerDisk::Older(age) => self.as_of(now.saturating_sub(age)),
        };
        self.remember(now);
        self.room = found;
        self.restarts += 1;
    }

    /// Becomes a master with what another one kept at some moment.
    pub(super) fn promote(&mut self, found: Option<Rc<Room>>) {
        self.room = found;
        self.past.clear();
        self.role = Role::Master { until: None };
    }

    /// What was kept at a moment.
    pub(super) fn as_of(&self, moment: Millis) -> Option<Rc<Room>> {
        let later = self.past.iter().find(|(until, _)| *until > moment);
        later.map_or_else(|| self.room.clone(), |(_, room)| room.clone())
    }

    fn remember(&mut self, now: Millis) {
        let same_step = |(at, _): &(Millis, _)| at / STEP == now / STEP;
        if self.past.back().is_some_and(same_step) {
            return;
        }
        self.past.push_back((now, self.room.clone()));
        while self.past.front().is_some_and(|(at, _)| at + PAST_MAX < now) {
            self.past.pop_front();
        }
    }
}
