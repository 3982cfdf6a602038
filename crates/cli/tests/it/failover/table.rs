//! Every fault several times, and the table of what came of it.

use std::{
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use super::{cluster, cut, sentinel, story::Story, unconfirmed};

/// How often each is told.
const ROUNDS: usize = 3;
const DOCUMENT: &str = "docs/FAULTS.md";
const TABLE: Table = Table {
    begin: "<!-- failover: begin -->\n",
    end: "<!-- failover: end -->\n",
    head: "\
| store | fault | durability | injections | operations checked | violations | median s | worst s |
|---|---|---|---|---|---|---|---|
",
};

const ON_SENTINELS: [Story; 8] = [
    sentinel::MASTER_KILLED,
    sentinel::MASTER_KILLED_UNCONFIRMED,
    sentinel::NODE_KILLED_TOO,
    sentinel::MASTER_STOPPED,
    sentinel::TWO_KILLED,
    sentinel::REPLICA_STALE,
    unconfirmed::CONFIRMED,
    sentinel::SENTINELS_KILLED,
];
const ON_A_CLUSTER: [Story; 7] = [
    cluster::OWNER_KILLED,
    cluster::OWNER_KILLED_UNCONFIRMED,
    cluster::OWNER_STOPPED,
    cluster::OWNER_RELIEVED,
    cluster::ROOMS_MOVED,
    cut::CUT_OFF,
    cut::CUT_OFF_STRICT,
];

/// Held while the document is written.
static WRITING: Mutex<()> = Mutex::new(());

#[test]
#[ignore = "takes ten minutes and writes docs/FAULTS.md"]
fn sentinels_survive_every_fault_several_times_and_the_table_says_so() {
    tell_all(&ON_SENTINELS);
}

#[test]
#[ignore = "takes ten minutes and writes docs/FAULTS.md"]
fn a_cluster_survives_every_fault_several_times_and_the_table_says_so() {
    tell_all(&ON_A_CLUSTER);
}

fn tell_all(stories: &[Story]) {
    let mut rows = Vec::new();
    for story in stories {
        rows.push(Row::of(*story));
        write(&rows);
    }
    let words: Vec<_> = rows.iter().flat_map(|row| row.words.clone()).collect();
    assert!(words.is_empty(), "{}", words.join("\n"));
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
            "{}{} | {} | {} | {:.1} | {:.1} |\n",
            key(&self.story),
            self.away.len(),
            grouped(self.operations),
            self.violations,
            median.as_secs_f64(),
            worst.as_secs_f64(),
        )
    }
}

/// How the row of a story begins.
fn key(story: &Story) -> String {
    let store = story.on.store();
    format!("| {store} | {} | `{}` | ", story.fault, story.durability)
}

/// A number with commas between the thousands.
pub(crate) fn grouped(number: usize) -> String {
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

fn write(rows: &[Row]) {
    let stories = ON_SENTINELS.iter().chain(&ON_A_CLUSTER);
    let keys: Vec<_> = stories.map(key).collect();
    let lines: Vec<_> = rows.iter().map(Row::line).collect();
    TABLE.write(&keys, &lines);
}

/// A table of the document, between two marks.
pub(crate) struct Table {
    pub(crate) begin: &'static str,
    pub(crate) end: &'static str,
    pub(crate) head: &'static str,
}

impl Table {
    /// Writes the rows that begin with these keys, in this order: the new ones, and of the others the old ones.
    pub(crate) fn write(&self, keys: &[String], new: &[String]) {
        let _one_at_a_time = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(DOCUMENT);
        let text = fs::read_to_string(&path).expect("the document is there");
        let (before, rest) = text
            .split_once(self.begin)
            .expect("the table has a beginning");
        let (old, after) = rest.split_once(self.end).expect("and an end");
        let row = |key: &String| {
            let old = old.split_inclusive('\n');
            let mut rows = new.iter().map(String::as_str).chain(old);
            rows.find(|row| row.starts_with(key))
        };
        let rows: String = keys.iter().filter_map(row).collect();
        let Self { begin, end, head } = self;
        let text = format!("{before}{begin}{head}{rows}{end}{after}");
        fs::write(path, text).expect("the document is ours");
    }
}
