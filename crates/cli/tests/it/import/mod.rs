//! `ropeline import`, from a file to a running server.

mod databases;
mod nodes;
mod rows;

use std::{fs, process::Stdio};

use serde_json::Value;

use crate::{Said, process::Site};

/// A bank counter for three in which nobody is ever absent.
const ROOM: &str = "\
[rooms.main]
every = \"30d\"
active_max = 3
pass_ttl = \"30d\"
pass_max = \"0s\"
presence_ttl = \"0s\"
";

/// Runs an import, whose tokens go to a file of the site's own.
fn import(site: &Site, line: &str) -> Said {
    let out = site.data().with_file_name("tokens.jsonl");
    fs::remove_file(&out).ok();
    let output = site
        .command(line)
        .arg("--out")
        .arg(&out)
        .stdin(Stdio::null())
        .output()
        .expect("the binary that cargo has just built");
    Said::from(output)
}

/// The tokens of the last import, by user, in the order of the places.
fn tokens(site: &Site) -> Vec<(String, String)> {
    let text = fs::read_to_string(site.data().with_file_name("tokens.jsonl"));
    let text = text.expect("an import writes tokens");
    let lines = text.lines().map(|line| {
        let entry: Value = serde_json::from_str(line).expect("a line of JSON");
        let text = |name: &str| entry[name].as_str().expect("text").to_owned();
        (text("userId"), text("token"))
    });
    lines.collect()
}
