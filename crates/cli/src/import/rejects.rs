//! The rows that were not taken over, and why.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use serde::Serialize;

use super::row::NoRow;
use crate::units::grouped;

/// As many are said one by one; all of them are in the file, if there is one.
const SHOWN_MAX: usize = 20;

/// Takes down what is left out.
#[derive(Debug, Default)]
pub(super) struct Rejects {
    file: Option<BufWriter<File>>,
    shown: Vec<String>,
    pub(super) rejected: u64,
    pub(super) ended: u64,
}

/// A line of the file.
#[derive(Serialize)]
struct Entry<'a> {
    line: u64,
    outcome: &'static str,
    reason: &'a str,
}

impl Rejects {
    pub(super) fn open(file: Option<&Path>) -> io::Result<Self> {
        let file = file.map(File::create).transpose()?;
        Ok(Self {
            file: file.map(BufWriter::new),
            ..Self::default()
        })
    }

    pub(super) fn add(&mut self, line: u64, why: &NoRow) -> io::Result<()> {
        match why {
            NoRow::Ended(word) => {
                self.ended += 1;
                self.write(line, "skipped", &format!("it had ended: {word}"))
            }
            NoRow::Rejected(reason) => {
                self.rejected += 1;
                if self.shown.len() < SHOWN_MAX {
                    self.shown.push(format!("line {line}: {reason}"));
                }
                self.write(line, "rejected", reason)
            }
        }
    }

    fn write(&mut self, line: u64, outcome: &'static str, reason: &str) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let entry = Entry {
            line,
            outcome,
            reason,
        };
        serde_json::to_writer(&mut *file, &entry)?;
        file.write_all(b"\n")
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }

    /// What an operator reads of them.
    pub(super) fn text(&self) -> String {
        let more = self.rejected - self.shown.len() as u64;
        let more = (more > 0).then(|| {
            let more = grouped(more);
            format!("… and {more} more; --rejected FILE writes all of them down")
        });
        let lines = self.shown.iter().chain(&more);
        lines.flat_map(|line| [line.as_str(), "\n"]).collect()
    }
}
