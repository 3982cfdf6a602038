//! The waiting page's own address, and what it says.

use ropeline_core::RoomId;
use url::form_urlencoded;

use crate::{app::App, pages::return_to::ReturnTo};

/// Whether scripts are at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Scripted,
    Plain,
}

/// An address of the waiting page, with only what is allowed in it.
#[derive(Debug, Clone)]
pub(super) struct Here {
    pub(super) room: RoomId,
    pub(super) return_to: Option<ReturnTo>,
    pub(super) mode: Mode,
    /// The most that were ahead, as a page without scripts has nowhere else to remember it.
    pub(super) from: u64,
    /// Whether the line was left just now.
    pub(super) left: bool,
}

impl Here {
    /// Reads an address; `None` if there is no such room. What cannot be read in the query is left out.
    pub(super) fn read(app: &App, room: &str, query: &str) -> Option<Self> {
        let room = RoomId::parse(room).ok()?;
        app.store.view(&room)?;
        let mut here = Self {
            room,
            return_to: None,
            mode: Mode::Scripted,
            from: 0,
            left: false,
        };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "return" => here.return_to = app.returns.judge(&value),
                "nojs" => here.mode = Mode::Plain,
                "from" => here.from = value.parse().unwrap_or(0),
                "left" => here.left = true,
                _ => {}
            }
        }
        Some(here)
    }

    /// The plain page of a room.
    pub(super) fn plain(app: &App, room: &str, return_to: Option<&str>) -> Option<Self> {
        let here = Self::read(app, room, "nojs=1")?;
        Some(Self {
            return_to: return_to.and_then(|text| app.returns.judge(text)),
            ..here
        })
    }

    /// The address as text.
    pub(super) fn link(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if self.mode == Mode::Plain {
            query.append_pair("nojs", "1");
        }
        if self.from > 0 {
            query.append_pair("from", &self.from.to_string());
        }
        if self.left {
            query.append_pair("left", "1");
        }
        if let Some(return_to) = &self.return_to {
            query.append_pair("return", return_to.as_str());
        }
        match query.finish() {
            query if query.is_empty() => format!("/wait/{}", self.room),
            query => format!("/wait/{}?{query}", self.room),
        }
    }
}
