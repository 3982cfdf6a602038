//! Asking once more before everybody is put out.

use std::io::{self, IsTerminal, Write};

use super::{args::ConfirmedArgs, views::Room, words::people};
use crate::failure::Failure;

/// Goes on if the operator said yes beforehand, or types the room's name now.
pub(super) fn confirm(args: &ConfirmedArgs, room: &Room, deed: &str) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    let id = &room.id;
    let warning = format!("to {deed} {id} puts everybody out ({})", people(room));
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::Usage(format!(
            "{warning}: add --yes to do it without being asked"
        )));
    }
    if typed(&warning)?.trim() == id.as_str() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "that is not the room's name: {id} is as it was"
    )))
}

fn typed(warning: &str) -> Result<String, Failure> {
    let mut stderr = io::stderr().lock();
    let question = format!("{warning}.\nType the room's name to go on: ");
    let mut line = String::new();
    let asked = stderr.write_all(question.as_bytes());
    asked
        .and_then(|()| stderr.flush())
        .and_then(|()| io::stdin().read_line(&mut line))
        .map_err(Failure::Output)?;
    Ok(line)
}
