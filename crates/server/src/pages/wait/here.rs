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
    /// The date of a concert that one waits for, where the address says it.
    pub(super) date: Option<u64>,
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
            date: None,
        };
        let (query, plain_return) = split_return(query);
        here.return_to = plain_return.and_then(|address| app.returns.judge(address));
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "return" => here.return_to = app.returns.judge(&value),
                "nojs" => here.mode = Mode::Plain,
                "from" => here.from = value.parse().unwrap_or(0),
                "left" => here.left = true,
                "date" => here.date = value.parse().ok(),
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

    /// The date of a concert that one waits for: as the address says, or by where it leads.
    pub(super) fn date(&self) -> Option<u64> {
        let implied = || date_of(self.return_to.as_ref()?.as_str());
        self.date.or_else(implied)
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
        if let Some(date) = self.date {
            query.append_pair("date", &date.to_string());
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

/// The date in the address of its seats at the box office.
fn date_of(address: &str) -> Option<u64> {
    let rest = address.strip_prefix("/tickets/")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The query without an address that ends it as it is, and that address. Proxies such as nginx cannot write
/// one address inside another in any other way: what follows `return=/` belongs to it, `&` and `+` included.
/// An address that was written as it should be begins with `%2F` or `http%3A`, and is none of these.
fn split_return(query: &str) -> (&str, Option<&str>) {
    let starts = query.match_indices("return=").find_map(|(at, name)| {
        let first = at == 0 || query.as_bytes()[at - 1] == b'&';
        let address = &query[at + name.len()..];
        let plain = ["/", "http://", "https://"]
            .iter()
            .any(|start| address.starts_with(start));
        (first && plain).then_some((at, address))
    });
    match starts {
        Some((at, address)) => (&query[..at], Some(address)),
        None => (query, None),
    }
}

#[cfg(test)]
mod tests {
    use super::{date_of, split_return};

    #[test]
    fn the_date_is_in_the_address_of_its_seats() {
        for (address, date) in [
            ("/tickets/7", Some(7)),
            ("/tickets/7?lang=ko", Some(7)),
            ("/tickets/7#seats", Some(7)),
            ("/tickets/", None),
            ("/tickets/x", None),
            ("/tickets/-1", None),
            ("https://other.example/tickets/7", None),
            ("/concert?id=7", None),
        ] {
            assert_eq!(date_of(address), date, "{address}");
        }
    }

    #[test]
    fn an_address_at_the_end_is_taken_as_it_is() {
        for (query, rest, address) in [
            ("return=/x?a=1&b=2+3", "", Some("/x?a=1&b=2+3")),
            ("nojs=1&return=/x&lang=ko", "nojs=1&", Some("/x&lang=ko")),
            (
                "return=https://a.example/?b=%2F",
                "",
                Some("https://a.example/?b=%2F"),
            ),
            (
                "return=%2Fx%3Fa%3D1&lang=ko",
                "return=%2Fx%3Fa%3D1&lang=ko",
                None,
            ),
            ("noreturn=/x", "noreturn=/x", None),
            ("return=javascript:x", "return=javascript:x", None),
            ("", "", None),
        ] {
            assert_eq!(split_return(query), (rest, address), "{query}");
        }
    }
}
