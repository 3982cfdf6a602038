//! A history as a file that people and programs read: one JSON object per line.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use serde::Serialize;

use super::{At, Fault, History, Record, Violation};

#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Record(&'a Record),
    Fault(&'a Fault),
}

impl Line<'_> {
    fn at(&self) -> At {
        match self {
            Self::Record(record) => record.t0,
            Self::Fault(fault) => fault.at,
        }
    }
}

impl History {
    /// Writes the policy, then records and faults in the order of time. Moments are seconds since the start.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut lines: Vec<_> = self.records.iter().map(Line::Record).collect();
        lines.extend(self.faults.iter().map(Line::Fault));
        lines.sort_by_key(Line::at);
        let mut file = BufWriter::new(File::create(path)?);
        serde_json::to_writer(&mut file, &self.policy)?;
        for line in lines {
            file.write_all(b"\n")?;
            serde_json::to_writer(&mut file, &line)?;
        }
        file.write_all(b"\n")?;
        file.flush()
    }

    /// A broken rule with the lines that show it.
    pub fn explain(&self, violation: &Violation) -> String {
        let records = violation.records.iter();
        let lines = records.filter_map(|id| serde_json::to_string(self.records.get(*id)?).ok());
        let lines: Vec<_> = [violation.to_string()].into_iter().chain(lines).collect();
        lines.join("\n    ")
    }
}
