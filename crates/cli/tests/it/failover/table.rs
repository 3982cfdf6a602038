//! Every fault several times, and the table of what came of it.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use super::{cluster, cut, sentinel, story::Story, unconfirmed};

/// How often each is told.
const ROUNDS: usize = 3;
const DOCUMENT: &str = "docs/FAULTS.md";
const BEGIN: &str = "<!-- failover: begin -->\n";
const END: &str = "<!-- failover: end -->\n";
const HEAD: &str = "\
| store | fault | durability | injections | operations checked | violations | median s | worst s |
|---|---|---|---|---|---|---|---|
";

const ALL: [Story; 15] = [
    sentinel::MASTER_KILLED,
    sentinel::MASTER_KILLED_UNCONFIRMED,
    sentinel::NODE_KILLED_TOO,
    sentinel::MASTER_STOPPED,
    sentinel::TWO_KILLED,
    sentinel::REPLICA_STALE,
    unconfirmed::CONFIRMED,
    sentinel::SENTINELS_KILLED,
    cluster::OWNER_KILLED,
    cluster::OWNER_KILLED_UNCONFIRMED,
    cluster::OWNER_STOPPED,
    cluster::OWNER_RELIEVED,
    cluster::ROOMS_MOVED,
    cut::CUT_OFF,
    cut::CUT_OFF_STRICT,
];

#[test]
#[ignore = "takes twenty minutes and writes docs/FAULTS.md"]
fn every_fault_is_survived_several_times_and_the_table_says_so() {
    let mut rows = String::new();
    let mut broken = BTreeMap::new();
    for story in ALL {
        let row = Row::of(story);
        rows += &row.line();
        write(&rows);
        if !row.words.is_empty() {
            broken.insert(story.name(), row.words);
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// What came of a story that was told several times.
struct Row {
    story: Story,
    operations: usize,
    violations: usize,
    words: Vec<String>,
    away: Vec<Duration>,
}

impl Row {
    fn of(story: Story) -> Self {
        let mut row = Self {
            story,
            operations: 0,
            violations: 0,
            words: Vec::new(),
            away: Vec::new(),
        };
        for _ in 0..ROUNDS {
            let told = story.tell();
            row.operations += told.operations;
            row.violations += told.violations.len();
            row.words.extend(told.words);
            row.away.extend(told.away);
        }
        row.away.sort_unstable();
        row
    }

    fn line(&self) -> String {
        let worst = self.away.last().copied().unwrap_or_default();
        let median = self.away[self.away.len() / 2];
        format!(
            "| {} | {} | `{}` | {} | {} | {} | {:.1} | {:.1} |\n",
            self.story.on.store(),
            self.story.fault,
            self.story.durability,
            self.away.len(),
            grouped(self.operations),
            self.violations,
            median.as_secs_f64(),
            worst.as_secs_f64(),
        )
    }
}

/// A number with commas between the thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Puts the rows between the marks of the document.
fn write(rows: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(DOCUMENT);
    let text = fs::read_to_string(&path).expect("the document is there");
    let (before, rest) = text.split_once(BEGIN).expect("the table has a beginning");
    let (_, after) = rest.split_once(END).expect("and an end");
    let text = format!("{before}{BEGIN}{HEAD}{rows}{END}{after}");
    fs::write(path, text).expect("the document is ours");
}
