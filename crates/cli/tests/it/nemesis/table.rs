//! The table of what came of a campaign.

use super::{fault::Topology, run::Run};
use crate::failover::table::{Table, grouped};

const TABLE: Table = Table {
    begin: "<!-- nemesis: begin -->\n",
    end: "<!-- nemesis: end -->\n",
    head: "\
| store | seeds | faults injected | operations checked | violations |
|---|---|---|---|---|
",
};

/// What came of all runs on one kind of store.
pub(super) struct Row {
    pub(super) topology: Topology,
    seeds: Option<(u64, u64)>,
    faults: usize,
    operations: usize,
    violations: usize,
}

impl Row {
    pub(super) fn new(topology: Topology) -> Self {
        Self {
            topology,
            seeds: None,
            faults: 0,
            operations: 0,
            violations: 0,
        }
    }

    pub(super) fn add(&mut self, run: &Run) {
        let seed = run.schedule.seed;
        let (first, _) = self.seeds.unwrap_or((seed, seed));
        self.seeds = Some((first, seed));
        self.faults += run.schedule.faults.len();
        self.operations += run.operations;
        self.violations += run.violations.len();
    }

    /// How the row of a store begins.
    fn key(topology: Topology) -> String {
        format!("| {topology} | ")
    }

    fn line(&self) -> Option<String> {
        let (first, last) = self.seeds?;
        Some(format!(
            "{}{first} to {last} | {} | {} | {} |\n",
            Self::key(self.topology),
            grouped(self.faults),
            grouped(self.operations),
            self.violations
        ))
    }
}

/// Writes the rows into the document; stores that were not tried keep theirs.
pub(super) fn write(rows: &[Row]) {
    let lines: Vec<_> = rows.iter().filter_map(Row::line).collect();
    let all = [Topology::Standalone, Topology::Sentinel, Topology::Cluster];
    TABLE.write(&all.map(Row::key), &lines);
}
