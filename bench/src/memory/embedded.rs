//! The memory of the server process, with the embedded store.

use crate::{
    Result,
    goals::{Bound, Goal},
    growth::sides,
    http::turns::Turns,
    machine, progress,
    report::{self, Chapter, Table},
    stats::Samples,
};

/// Lets `count` visitors join over HTTP, and as many again. The server is never restarted between: memory that it used
/// for loading would hide what the newcomers take.
pub(crate) fn measure(turns: &Turns<'_>, count: u64) -> Result<Chapter> {
    let product = sides::empty(&turns.args.product, None, turns)?;
    let target = product.target();
    let resident = || machine::resident_bytes(target.process);
    let joined = |group| -> Result<u64> {
        turns.fill(target.address, "main", group, count)?;
        let bytes = resident()?;
        progress::step(&format!("{} MiB are resident", bytes >> 20));
        Ok(bytes)
    };
    let empty = resident()?;
    let (once, twice) = (joined("bench-first")?, joined("bench-second")?);
    let growth = [each(once, twice, count)].into_iter().collect();
    Ok(Chapter {
        tables: vec![table(count, [empty, once, twice])],
        goals: vec![goal(count, &growth)],
        ..Chapter::default()
    })
}

#[expect(clippy::cast_precision_loss, reason = "no memory has 2^52 bytes")]
pub(crate) fn each(before: u64, after: u64, count: u64) -> f64 {
    (after as f64 - before as f64) / count as f64
}

fn table(count: u64, [empty, once, twice]: [u64; 3]) -> Table {
    let row = |what: String, resident: u64, growth: Option<f64>| {
        let megabytes = report::count(resident >> 20);
        let growth = growth.map_or_else(|| "–".to_owned(), |bytes| format!("{bytes:.0}"));
        vec![what, megabytes, growth]
    };
    let (count_text, twice_text) = (report::count(count), report::count(2 * count));
    Table {
        title: "Memory of the server, embedded".to_owned(),
        note: "Resident memory of the server process while visitors with UUIDs as ids join over HTTP, all of it: the line,\n\
               the picture of it, presence, the cache of the file, connections, and what the allocator keeps."
            .to_owned(),
        columns: vec!["waiting", "MiB", "bytes for each newcomer"],
        rows: vec![
            row("nobody".to_owned(), empty, None),
            row(count_text, once, Some(each(empty, once, count))),
            row(twice_text, twice, Some(each(once, twice, count))),
        ],
    }
}

fn goal(count: u64, growth: &Samples) -> Goal {
    let what = format!(
        "process memory for each who waits, embedded, from {} to {}",
        report::count(count),
        report::count(2 * count)
    );
    Goal::new(&what, Bound::AtMost(130.0), "bytes", growth)
}
