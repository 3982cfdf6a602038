//! What an operator sees first.

use std::fmt::Write;

use ropeline_server::{
    AdminKeyNote, RoomNote, Started, StartedRoom,
    config::{StoreChoice, summary},
};

use crate::{boxoffice::Wish, http::BaseUrl};

/// What an operator wants to see first, with something to try.
pub(super) fn greeting(started: &Started, wish: Wish, books: Option<&str>) -> String {
    let here = BaseUrl::of_listener(started.address);
    let mut text = Lines(format!("Ropeline {}\n", env!("CARGO_PKG_VERSION")));
    text.add("listening", &format!("http://{}", started.address));
    text.add_store(started);
    for room in &started.rooms {
        text.add_room(room);
    }
    if let Some(books) = books {
        text.add("box office", &format!("{here}/"));
        text.add("database", books);
    } else if wish == Wish::LacksDatabase {
        let why =
            "not started: with a Redis store it needs a database that the nodes share (--database)";
        text.add("box office", why);
    }
    text.add_admin_key(&started.admin_key);
    let rooms = match books {
        Some(_) => format!(" (the rooms are at {here}/rooms)"),
        None => String::new(),
    };
    let api = here.join("/api/v1/queue");
    text.0
        + &format!(
            "\nOpen {here}/ in a browser{rooms}, or {here}/admin as operator. To see a line form:\n  \
             ropeline load crowd --url {here}\nBy hand:\n  \
             curl -X POST {api}/tokens\n  curl {api}/status -H 'X-Queue-Token: <token>'\n"
        )
}

/// Lines of a name and what there is to say of it.
struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: &str) {
        writeln!(self.0, "  {name:<11} {value}").expect("a String takes everything");
    }

    fn add_store(&mut self, started: &Started) {
        let data = started.data.display();
        match &started.store {
            StoreChoice::Embedded => self.add("data", &format!("{data} (embedded store)")),
            StoreChoice::Redis(url) => {
                self.add("store", &url.to_string());
                self.add("data", &format!("{data} (keys and audit log)"));
            }
        }
    }

    fn add_room(&mut self, started: &StartedRoom) {
        let StartedRoom { room, note, view } = started;
        self.add("room", &format!("{room}: {}", summary(&view.header.policy)));
        let changes = match note {
            RoomNote::Created => return,
            RoomNote::Kept => &[][..],
            RoomNote::Changed(changes) => changes,
        };
        let (waiting, inside) = (view.waiting(), view.inside);
        self.add("", &format!("{waiting} waiting, {inside} inside"));
        for change in changes {
            self.add("", &format!("changed: {change}"));
        }
    }

    fn add_admin_key(&mut self, note: &AdminKeyNote) {
        match note {
            AdminKeyNote::Known => {}
            AdminKeyNote::New(new) => {
                self.add("admin key", &new.key);
                let file = new.file.display();
                self.add("", &format!("kept in {file}; not shown again"));
            }
            AdminKeyNote::OfFirstNode => {
                let whose = "the one that the first node printed, kept in its data directory";
                self.add("admin key", whose);
            }
        }
    }
}
