//! Which commands were tried, and what came of them.

use std::{collections::BTreeMap, fmt};

use ropeline_core::{Departure, Ending, Imported, Joined, Live, Reply, Standing};

/// Counts per command and outcome.
#[derive(Debug, Default)]
pub struct Tally {
    outcomes: BTreeMap<(&'static str, &'static str), u64>,
    commands: u64,
}

impl Tally {
    /// Counts one outcome of a command.
    pub fn note(&mut self, command: &'static str, outcome: &'static str) {
        *self.outcomes.entry((command, outcome)).or_default() += 1;
    }

    /// How many commands were answered. One may have several outcomes.
    pub fn commands(&self) -> u64 {
        self.commands
    }

    pub(super) fn note_reply(&mut self, command: &'static str, reply: &Reply) {
        self.commands += 1;
        match reply {
            Reply::Joined(joined) => joined
                .iter()
                .for_each(|one| self.note(command, joined_word(one))),
            Reply::Standing(all) => all
                .iter()
                .for_each(|(_, one)| self.note(command, standing_word(one))),
            Reply::Fenced => self.note(command, "fenced"),
            Reply::Held(_) => self.note(command, "held"),
            Reply::Departed(departure) => self.note(command, departure_word(*departure)),
            Reply::Revoked(Some(_)) => self.note(command, "revoked"),
            Reply::Revoked(None) => self.note(command, "nobody"),
            Reply::Done => self.note(command, "done"),
            Reply::Stale => self.note(command, "stale"),
            Reply::Created(true) => self.note(command, "created"),
            Reply::Created(false) => self.note(command, "there already"),
            Reply::NoRoom => self.note(command, "no room"),
            Reply::Imported(imported) => imported
                .iter()
                .for_each(|one| self.note(command, imported_word(one))),
        }
    }

    /// Those of the wanted outcomes that never came up.
    pub fn missing(
        &self,
        wanted: &[(&'static str, &'static str)],
    ) -> Vec<(&'static str, &'static str)> {
        wanted
            .iter()
            .filter(|pair| !self.outcomes.contains_key(pair))
            .copied()
            .collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((command, outcome), count) in &self.outcomes {
            writeln!(f, "{command:>14}  {outcome:<22} {count:>9}")?;
        }
        writeln!(f, "{:>14}  {:<22} {:>9}", "all", "commands", self.commands)
    }
}

fn joined_word(joined: &Joined) -> &'static str {
    match joined {
        Joined::New(_) => "new",
        Joined::Already(_) => "already",
        Joined::Repeated(_) => "repeated",
        Joined::Claimed(_) => "claimed",
        Joined::KeyReused => "key reused",
        Joined::Closed => "closed",
        Joined::Full => "full",
    }
}

fn imported_word(imported: &Imported) -> &'static str {
    match imported {
        Imported::Placed(_) => "placed",
        Imported::Repeated(_) => "repeated",
        Imported::Already(_) => "already",
        Imported::Full => "full",
        Imported::LineAhead => "line ahead",
    }
}

fn standing_word(standing: &Standing) -> &'static str {
    match standing {
        Standing::Live(Live::InLine) => "in line",
        Standing::Live(Live::AtDoor { .. }) => "at the door",
        Standing::Live(Live::Aside(_)) => "aside",
        Standing::Live(Live::Inside(_)) => "inside",
        Standing::Ended(Ending::Gone) => "gone",
        Standing::Ended(Ending::Done) => "over",
        Standing::Lost => "lost",
        Standing::Unknown => "unknown",
    }
}

fn departure_word(departure: Departure) -> &'static str {
    match departure {
        Departure::Left => "left",
        Departure::Finished => "finished",
        Departure::Nothing => "nothing",
        Departure::NotInside => "not inside",
    }
}
