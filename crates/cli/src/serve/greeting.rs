//! What an operator sees first.

use std::fmt::Write;

use ropeline_server::{
    AdminKeyNote, RoomNote, Started, StartedRoom,
    config::{StoreChoice, summary},
};

use crate::{boxoffice::Wish, http::BaseUrl};

/// What an operator wants to see first, with something to try.
pub(super) fn greeting(started: &Started, wish: Wish, books: Option<&str>) -> String {
    let Started {
        address,
        data,
        store,
        admin_key,
        rooms,
        ..
    } = started;
    let mut text = format!("Ropeline {}\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, value: &str| {
        writeln!(text, "  {name:<11} {value}").expect("a String takes everything");
    };
    line("listening", &format!("http://{address}"));
    match store {
        StoreChoice::Embedded => line("data", &format!("{} (embedded store)", data.display())),
        StoreChoice::Redis(url) => {
            line("store", &url.to_string());
            line("data", &format!("{} (keys and audit log)", data.display()));
        }
    }
    for StartedRoom { room, note, view } in rooms {
        line("room", &format!("{room}: {}", summary(&view.header.policy)));
        match note {
            RoomNote::Created => {}
            RoomNote::Kept => {
                line(
                    "",
                    &format!("{} waiting, {} inside", view.waiting(), view.inside),
                );
            }
            RoomNote::Changed(changes) => {
                line(
                    "",
                    &format!("{} waiting, {} inside", view.waiting(), view.inside),
                );
                for change in changes {
                    line("", &format!("changed: {change}"));
                }
            }
        }
    }
    let here = BaseUrl::of_listener(*address);
    if let Some(books) = books {
        line("box office", &format!("{here}/"));
        line("database", books);
    } else if wish == Wish::LacksDatabase {
        line(
            "box office",
            "not started: with a Redis store it needs a database that the nodes share (--database)",
        );
    }
    match admin_key {
        AdminKeyNote::Known => {}
        AdminKeyNote::New(new) => {
            line("admin key", &new.key);
            line(
                "",
                &format!("kept in {}; not shown again", new.file.display()),
            );
        }
        AdminKeyNote::OfFirstNode => {
            line(
                "admin key",
                "the one that the first node printed, kept in its data directory",
            );
        }
    }
    let api = here.join("/api/v1/queue");
    let rooms = match books {
        Some(_) => format!(" (the rooms are at {here}/rooms)"),
        None => String::new(),
    };
    text + &format!(
        "\nOpen {here}/ in a browser{rooms}, or {here}/admin as operator. To see a line form:\n  \
         ropeline load crowd --url {here}\nBy hand:\n  \
         curl -X POST {api}/tokens\n  curl {api}/status -H 'X-Queue-Token: <token>'\n"
    )
}
