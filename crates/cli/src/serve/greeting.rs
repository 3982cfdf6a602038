//! What an operator sees first.

use std::{
    fmt::Write,
    io::{self, IsTerminal},
};

use ropeline_server::{
    AdminKeyNote, NewAdminKey, RoomNote, Started, StartedRoom,
    config::{LogFormat, StoreChoice, summary},
};

use crate::{boxoffice::Wish, failure::Failure, http::BaseUrl, output::print};

const LACKS_DATABASE: &str =
    "not started: with a Redis store it needs a database that the nodes share (--database)";

/// Says what an operator wants to see first: as text on standard output, or where the log is JSON as events of it,
/// since those who read such a log read both.
pub(super) fn greet(
    format: LogFormat,
    started: &Started,
    wish: Wish,
    books: Option<&str>,
) -> Result<(), Failure> {
    match format {
        LogFormat::Text => print(&text(started, wish, books)),
        LogFormat::Json => {
            log(started, wish, books);
            Ok(())
        }
    }
}

fn text(started: &Started, wish: Wish, books: Option<&str>) -> String {
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
        text.add("box office", LACKS_DATABASE);
    }
    if let AdminKeyNote::New(NewAdminKey { key, .. }) = &started.admin_key
        && io::stdout().is_terminal()
    {
        text.add("admin key", key);
        text.add("", &started.admin_key.to_string());
    } else {
        text.add("admin key", &started.admin_key.to_string());
    }
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

/// The same as events. The admin key is never among them: logs are kept, and read by many.
fn log(started: &Started, wish: Wish, books: Option<&str>) {
    for StartedRoom { room, note, view } in &started.rooms {
        let changes = match note {
            RoomNote::Changed(changes) => changes.join(", "),
            RoomNote::Created | RoomNote::Kept => String::new(),
        };
        tracing::info!(
            room.id = %room,
            room.policy = summary(&view.header.policy),
            room.waiting = view.waiting(),
            room.inside = view.inside,
            room.created = *note == RoomNote::Created,
            room.changes = changes,
            "room"
        );
    }
    if wish == Wish::LacksDatabase {
        tracing::warn!("box office {LACKS_DATABASE}");
    }
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        server.address = %started.address,
        store = %started.store,
        data.directory = %started.data.display(),
        database = books,
        admin_key = %started.admin_key,
        "listening"
    );
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
}
