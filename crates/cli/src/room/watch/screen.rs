//! What the live view knows and is about; no drawing, no asking.

use std::{mem, time::Duration};

use ropeline_core::RoomId;

use super::{
    super::{
        views::{Room, Stats},
        words::Word,
    },
    feed::{Look, News, Wish},
};

/// How many `a` lets in.
pub(super) const MORE: u64 = 10;
/// Long enough to be read, and gone before it is wrong.
const NOTICE: u8 = 5;

#[derive(Debug)]
pub(super) struct Screen {
    pub(super) server: String,
    pub(super) rooms: Vec<Room>,
    pub(super) room: Room,
    pub(super) stats: Stats,
    pub(super) mode: Mode,
    pub(super) footer: Footer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    Watching,
    /// About the room that was looked at when the key was pressed, whatever is looked at by the time of the yes.
    Asking(RoomId, Word),
    Help,
}

/// What the last line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Footer {
    Keys,
    /// What came of a key, for so many more looks.
    Notice {
        text: String,
        looks: u8,
    },
    Away {
        why: String,
        again_in: Duration,
    },
}

/// A key, by its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Quit,
    NextRoom,
    PreviousRoom,
    Pause,
    Admit,
    Yes,
    Help,
    Other,
}

/// What a key leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Stay,
    Ask(Wish),
    Quit,
}

impl Screen {
    pub(super) fn new(server: String, look: Look) -> Self {
        Self {
            server,
            rooms: look.rooms,
            room: look.room,
            stats: look.stats,
            mode: Mode::Watching,
            footer: Footer::Keys,
        }
    }

    pub(super) fn press(&mut self, key: Key) -> Step {
        match (mem::replace(&mut self.mode, Mode::Watching), key) {
            (_, Key::Quit) => Step::Quit,
            (Mode::Asking(room, word), Key::Yes) => Step::Ask(Wish::Tell(room, word)),
            // Every other key is no, and closes the help.
            (Mode::Asking(..) | Mode::Help, _) | (Mode::Watching, Key::Yes | Key::Other) => {
                Step::Stay
            }
            (Mode::Watching, Key::Help) => self.turn_to(Mode::Help),
            (Mode::Watching, Key::Admit) => {
                self.turn_to(Mode::Asking(self.room.id.clone(), Word::Admit(MORE)))
            }
            (Mode::Watching, Key::Pause) => {
                Step::Ask(Wish::Tell(self.room.id.clone(), self.pause_or_resume()))
            }
            (Mode::Watching, Key::NextRoom) => self.switch(1),
            (Mode::Watching, Key::PreviousRoom) => self.switch(self.rooms.len().saturating_sub(1)),
        }
    }

    /// What is different now, and what to ask because of it.
    pub(super) fn hear(&mut self, news: News) -> Step {
        match news {
            News::Seen(look) => self.see(*look),
            News::Told(text) => self.notice(text),
            News::Trouble { text, again_in } => {
                self.footer = Footer::Away {
                    why: text,
                    again_in,
                }
            }
            News::Gone(room) => {
                self.notice(format!("the room {room} is gone"));
                return Step::Ask(Wish::Look(RoomId::main()));
            }
        }
        Step::Stay
    }

    pub(super) fn pause_or_resume(&self) -> Word {
        if self.room.state == "PAUSED" {
            Word::Resume
        } else {
            Word::Pause
        }
    }

    pub(super) fn notice(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.footer = Footer::Notice {
            text,
            looks: NOTICE,
        };
    }

    fn see(&mut self, look: Look) {
        self.rooms = look.rooms;
        self.room = look.room;
        self.stats = look.stats;
        match &mut self.footer {
            Footer::Notice { looks, .. } if *looks > 0 => *looks -= 1,
            Footer::Notice { .. } | Footer::Away { .. } => self.footer = Footer::Keys,
            Footer::Keys => {}
        }
    }

    fn turn_to(&mut self, mode: Mode) -> Step {
        self.mode = mode;
        self.footer = Footer::Keys;
        Step::Stay
    }

    /// Looks at the room so many further on in the list. The figures stay until the new ones are there.
    fn switch(&mut self, by: usize) -> Step {
        let at = self.rooms.iter().position(|room| room.id == self.room.id);
        let next = (at.unwrap_or(0) + by) % self.rooms.len().max(1);
        match self.rooms.get(next) {
            Some(room) if room.id != self.room.id => {
                self.footer = Footer::Keys;
                Step::Ask(Wish::Look(room.id.clone()))
            }
            _ => Step::Stay,
        }
    }
}
