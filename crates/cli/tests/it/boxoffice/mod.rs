//! The box office as buyers meet it: beside the room, and as a process of its own.

mod alone;
mod apart;
mod beside;
mod buyer;
mod clocks;
mod crash;
mod settings;
mod squatter;

use crate::process::Server;

/// A bank counter for one: whoever is done makes place for the next.
const ONE_INSIDE: &str = "\
[boxoffice]
[rate_limits]
joins_per_minute = 0
[rooms.main]
every = \"100ms\"
active_max = 1
pass_ttl = \"10m\"
presence_ttl = \"0s\"
";

/// Everybody comes in at once.
const ALL_INSIDE: &str = "\
[boxoffice]
[rate_limits]
joins_per_minute = 0
[rooms.main]
active_max = 1000
presence_ttl = \"0s\"
";

/// The demo concert and the shipped room.
const SHIPPED: &str = "[boxoffice]\n";

/// What the room and the box office know each other by.
const SERVICE_KEY: &str = "the-service-key-of-the-tests-0123456789";

/// Asserts that a server has printed this.
#[track_caller]
fn says(server: &Server, text: &str) {
    let stdout = server.stdout();
    assert!(stdout.contains(text), "{text}:\n{stdout}");
}
