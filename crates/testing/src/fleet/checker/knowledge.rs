//! What each node ought to know, from what servers have shown it, and when it could have passed
//! that on.

use ropeline_core::{Ordinal, Room, Timestamp};

use super::{CHANCE, Checker, Token, is_noted_as_ended, line_of};
use crate::fleet::{
    network::Called,
    schedule::{Millis, NODES},
};

/// Where a room begins that was made by a node without memory.
const LEAP: Ordinal = Ordinal(16 << 20);

/// A node that knows something, in one of its lives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Knower {
    pub(super) life: usize,
    pub(super) since: Millis,
}

/// A room of that epoch had given ordinals up to this one.
#[derive(Debug, Clone, Copy)]
struct Lesson {
    at: Millis,
    epoch: Timestamp,
    issued: Ordinal,
}

/// What a node has on its disk.
#[derive(Debug, Clone)]
struct Disk {
    lessons: Vec<Lesson>,
    /// Whose place has ended.
    ended: Vec<usize>,
}

/// A node from its start to its death.
#[derive(Debug, Default)]
struct Life {
    lessons: Vec<Lesson>,
    /// When it reached a master and the Sentinels that name it; the last time may not be over.
    available: Vec<Span>,
}

/// A time in which a node reached a master.
#[derive(Debug, Clone, Copy)]
struct Span {
    master: usize,
    from: Millis,
    to: Option<Millis>,
}

/// The lives of all nodes, and what is on their disks.
#[derive(Debug, Default)]
pub(in crate::fleet) struct Lives {
    all: Vec<Life>,
    current: [Option<usize>; NODES],
    disks: [Option<Disk>; NODES],
}

impl Lives {
    pub(in crate::fleet) fn lost_record(&mut self, node: usize) {
        self.disks[node] = None;
    }

    pub(in crate::fleet) fn ended(&mut self, node: usize, now: Millis) {
        self.set_available(node, None, now);
        self.current[node] = None;
    }

    /// Notes which master a node reaches now, if it reaches the Sentinels that name it.
    pub(in crate::fleet) fn set_available(
        &mut self,
        node: usize,
        master: Option<usize>,
        now: Millis,
    ) {
        let Some(life) = self.current[node] else {
            return;
        };
        let spans = &mut self.all[life].available;
        let open = spans.last_mut().filter(|span| span.to.is_none());
        if open.as_ref().map(|span| span.master) == master {
            return;
        }
        if let Some(span) = open {
            span.to = Some(now);
        }
        spans.extend(master.map(|master| Span {
            master,
            from: now,
            to: None,
        }));
    }

    pub(super) fn current(&self, node: usize) -> Option<usize> {
        self.current[node]
    }

    /// Whether one of them could have merged with a master between two moments.
    pub(super) fn could_merge(
        &self,
        knowers: &[Knower],
        master: usize,
        times: (Millis, Millis),
    ) -> bool {
        knowers.iter().any(|knower| {
            let spans = &self.all[knower.life].available;
            spans
                .iter()
                .filter(|span| span.master == master)
                .any(|span| {
                    let from = span.from.max(times.0).max(knower.since);
                    let to = span.to.unwrap_or(times.1).min(times.1);
                    from + CHANCE <= to
                })
        })
    }

    /// Whether an epoch is in the memory of a node that lives, or on a disk.
    pub(super) fn is_remembered(&self, epoch: Timestamp) -> bool {
        let living = self.current.iter().flatten();
        let memories = living.flat_map(|life| &self.all[*life].lessons);
        let records = self.disks.iter().flatten().flat_map(|disk| &disk.lessons);
        let mut lessons = memories.chain(records);
        lessons.any(|lesson| lesson.epoch == epoch)
    }

    fn learn(&mut self, life: usize, lesson: Lesson) {
        let lessons = &mut self.all[life].lessons;
        let last = lessons.iter().rfind(|known| known.epoch == lesson.epoch);
        if last.is_none_or(|known| known.issued < lesson.issued) {
            lessons.push(lesson);
        }
    }
}

impl Checker {
    /// A node writes down what it knows.
    pub(in crate::fleet) fn wrote_record(&mut self, node: usize) {
        let Some(life) = self.lives.current[node] else {
            return;
        };
        let ended = self.tokens.iter().filter(|(_, token)| {
            let mut knowers = token.ending_known_by.iter();
            token.ended_at.is_some() && knowers.any(|knower| knower.life == life)
        });
        self.lives.disks[node] = Some(Disk {
            ended: ended.map(|(visitor, _)| *visitor).collect(),
            lessons: self.lives.all[life].lessons.clone(),
        });
    }

    /// A node starts, and finds its record if it has one.
    pub(in crate::fleet) fn started(&mut self, node: usize, now: Millis) {
        let life = self.lives.all.len();
        self.lives.all.push(Life::default());
        self.lives.current[node] = Some(life);
        let Some(disk) = self.lives.disks[node].clone() else {
            return;
        };
        let lessons = disk.lessons.into_iter();
        let lessons = lessons.map(|lesson| Lesson { at: now, ..lesson });
        self.lives.all[life].lessons = lessons.collect();
        for visitor in disk.ended {
            if let Some(token) = self.tokens.get_mut(&visitor)
                && token.ended_at.is_some()
            {
                token.ending_known_by.push(Knower { life, since: now });
            }
        }
    }

    /// A server has answered a node.
    pub(super) fn learn(&mut self, called: Called, room: &Room) {
        let Some(life) = self.lives.current[called.node] else {
            return;
        };
        let since = called.now;
        let lesson = Lesson {
            at: since,
            epoch: room.header().epoch,
            issued: room.header().issued,
        };
        self.lives.learn(life, lesson);
        for token in self.tokens.values_mut() {
            let mut knowers = token.ending_known_by.iter();
            let is_new = token.ended_at.is_some() && !knowers.any(|knower| knower.life == life);
            if is_new && says_ended(room, token, &self.deleted) {
                token.ending_known_by.push(Knower { life, since });
            }
        }
    }

    /// All who know that an ordinal of an epoch was given, and since when. Once a room that was
    /// made by a node without memory is merged, its ordinals belong to the older epoch.
    pub(super) fn knowers(&self, epoch: Timestamp, ordinal: Ordinal) -> Vec<Knower> {
        let line = line_of(&self.deleted, epoch);
        let teaches = |lesson: &&Lesson| {
            let older = lesson.epoch <= epoch && line_of(&self.deleted, lesson.epoch) == line;
            // A room that was made behind all ordinals says nothing of those before.
            let leapt = lesson.issued >= LEAP && ordinal < LEAP;
            older && !leapt && lesson.issued >= ordinal
        };
        let lives = self.lives.all.iter().enumerate();
        let knowers = lives.filter_map(|(life, it)| {
            let lesson = it.lessons.iter().find(teaches)?;
            Some(Knower {
                life,
                since: lesson.at,
            })
        });
        knowers.collect()
    }
}

fn says_ended(room: &Room, token: &Token, deleted: &[Timestamp]) -> bool {
    let header = room.header();
    let same_line = line_of(deleted, header.epoch) == line_of(deleted, token.epoch);
    let noted = || is_noted_as_ended(room, token.holder.ordinal);
    header.voids(token.epoch) || (same_line && noted())
}
