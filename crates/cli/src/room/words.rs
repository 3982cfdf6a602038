//! An operator's words to a room, and what came of them in one line.

use reqwest::Method;
use ropeline_core::RoomId;
use serde_json::json;

use super::{
    desk::Desk,
    trouble::Trouble,
    views::{Room, read},
};
use crate::{http::Answer, units::grouped};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Pause,
    Resume,
    Open,
    Close,
    Drain,
    Reset,
    Admit(u64),
}

impl Word {
    fn path(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Open => "open",
            Self::Close => "close",
            Self::Drain => "drain",
            Self::Reset => "reset",
            Self::Admit(_) => "admit",
        }
    }

    pub(super) async fn tell(self, desk: &Desk, room: &RoomId) -> Result<Answer, Trouble> {
        let path = format!("/{room}/{}", self.path());
        let body = match self {
            Self::Admit(count) => Some(json!({"count": count})),
            _ => None,
        };
        desk.send(Method::POST, &path, body.as_ref()).await
    }

    /// The room after the word, in one line.
    pub(super) fn effect(self, answer: &Answer) -> Result<String, Trouble> {
        let room: Room = read(answer)?;
        let id = &room.id;
        let did = match (self, room.state.as_str()) {
            (Self::Admit(count), _) => {
                let held = if room.state == "PAUSED" {
                    ", once it is resumed"
                } else {
                    ""
                };
                format!("{id} lets {} more in{held}", grouped(count))
            }
            (Self::Reset, _) => format!("{id} is empty"),
            (Self::Open, "PAUSED") => format!("{id} takes joins, and is still paused"),
            (_, "PAUSED") => format!("{id} is paused"),
            (_, "CLOSED") => format!("{id} is closed"),
            (_, "DRAINING") => format!("{id} takes nobody new and empties"),
            _ => format!("{id} is open"),
        };
        Ok(format!("{did}: {}", people(&room)))
    }
}

/// How many wait and are inside.
pub(super) fn people(room: &Room) -> String {
    let waiting = match room.waiting {
        0 => "nobody waits".into(),
        1 => "1 waits".into(),
        count => format!("{} wait", grouped(count)),
    };
    let inside = match room.active {
        0 => "nobody is inside".into(),
        1 => "1 is inside".into(),
        count => format!("{} are inside", grouped(count)),
    };
    format!("{waiting}, {inside}")
}
