//! What the functions of the Redis library do to a room, by core's rules.

use std::sync::Arc;

use ropeline_core::{
    Bits, Bounds, Command, Header, Ordinal, Outcome, Room, Saved, ServerId, Stamp, Timestamp, View,
};

use super::{Repair, Rule};
use crate::fleet::{network::clock, policy, schedule::Millis, server::Server};

/// What the version jumps by at a raise.
const VERSION_JUMP: u64 = 1 << 20;

/// What a node sees when it looks.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) view: View,
    /// The generation began on another server.
    pub(super) is_elsewhere: bool,
    pub(super) next_due: Option<Timestamp>,
}

pub(super) fn look(server: &Server, now: Millis) -> Option<Looked> {
    let room = server.room()?;
    Some(Looked {
        view: room.view(clock(now)),
        is_elsewhere: !room.header().server.is_of(&host(server)),
        next_due: room.next_due(),
    })
}

/// Carries out a command; `None` if there is no room.
pub(super) fn apply(
    server: &mut Server,
    command: &Command,
    stamp: &Stamp,
    now: Millis,
) -> Option<Outcome> {
    let host = host(server);
    let room = server.change(now)?;
    room.rehost(host);
    Some(room.apply_stamped(command.clone(), stamp, clock(now)))
}

/// Makes a room where there is none.
pub(super) fn create(server: &mut Server, last: Ordinal, term: u64, now: Millis) {
    if server.room().is_none() {
        let (host, bounds) = (host(server), Bounds::default());
        let room = Room::new_behind(last, policy(), host, clock(now), bounds);
        let room = edited(&room, |saved| {
            saved.header.term = term;
            let nonce = format!("{}@{now}", saved.header.server.0);
            saved.header.server = ServerId(nonce.into());
        });
        server.replace(now, Some(room));
    }
}

/// Makes a room of what a node remembers, where there is none.
pub(super) fn restore(server: &mut Server, memory: &View, rule: Rule, now: Millis) {
    if server.room().is_none() {
        let room = Room::from_memory(memory, host(server), clock(now), Bounds::default());
        server.replace(now, Some(unrepaired(room, rule)));
    }
}

/// Merges what a node knows.
pub(super) fn merge(server: &mut Server, mut memory: View, rule: Rule, now: Millis) {
    if !rule.has(Repair::EndingsInMerge) {
        (memory.gone, memory.done) = (Bits::default(), Bits::default());
    }
    let host = host(server);
    let Some(room) = server.change(now) else {
        return;
    };
    room.rehost(host);
    let generation = room.header().generation;
    room.apply(Command::Merge(Arc::new(memory)), clock(now));
    if room.header().generation > generation {
        *room = unrepaired(room.clone(), rule);
    }
}

fn host(server: &Server) -> ServerId {
    ServerId(server.run_id().into())
}

/// Undoes what a raise does, as far as the rule lacks it.
fn unrepaired(room: Room, rule: Rule) -> Room {
    let lacks = |repair| !rule.has(repair);
    let repairs = [Repair::JoinHold, Repair::AdmissionHold, Repair::VersionJump];
    if !repairs.into_iter().any(lacks) {
        return room;
    }
    edited(&room, |saved| {
        let header: &mut Header = &mut saved.header;
        if lacks(Repair::JoinHold) {
            header.joins_held_until = Timestamp(0);
        }
        if lacks(Repair::AdmissionHold) {
            header.admission_held_until = Timestamp(0);
        }
        if lacks(Repair::VersionJump) {
            header.version -= VERSION_JUMP;
        }
    })
}

fn edited(room: &Room, edit: impl FnOnce(&mut Saved)) -> Room {
    let mut saved = room.saved();
    edit(&mut saved);
    Room::load(saved, Bounds::default()).expect("an edited room is one")
}
