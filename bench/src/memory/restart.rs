//! How long a crash keeps the embedded store away.

use crate::{
    Result,
    goals::{Bound, Goal},
    growth::sides,
    http::{admission, turns::Turns},
    machine, progress,
    report::{self, Chapter, Table},
    stats::Samples,
};

/// Kills the server and starts it again, `rounds` times. Somebody has joined just before each time, so that there is
/// something to recover; nobody may be lost.
pub(crate) fn measure(turns: &Turns<'_>, waiting: u64, rounds: usize) -> Result<Chapter> {
    const LAST_TO_JOIN: u64 = 1_000;
    let mut product = sides::filled(&turns.args.product, None, waiting, turns)?;
    let (mut seconds, mut processor) = (Vec::new(), Vec::new());
    let mut joined = waiting;
    for round in 0..rounds {
        let address = product.target().address;
        turns.fill(address, "main", &format!("restart-{round}"), LAST_TO_JOIN)?;
        product.kill();
        let took = product.start_again(turns.runtime())?.as_secs_f64();
        progress::step(&format!("ready after {took:.2} s"));
        seconds.push(took);
        processor.push(machine::cpu_seconds(product.target().process).unwrap_or(0.0));
        joined += LAST_TO_JOIN;
        match turns
            .runtime()
            .block_on(admission::waiting(&product, "main"))?
        {
            found if found == joined => {}
            found => return Err(format!("{joined} joined, and {found} are left").into()),
        }
    }
    let [seconds, processor] = [seconds, processor].map(|all| all.into_iter().collect::<Samples>());
    Ok(Chapter {
        tables: vec![table(waiting, rounds, &seconds, &processor)],
        goals: vec![goal(waiting, &seconds)],
        ..Chapter::default()
    })
}

fn table(waiting: u64, rounds: usize, seconds: &Samples, processor: &Samples) -> Table {
    Table {
        title: "Restart after a crash, embedded".to_owned(),
        note: format!(
            "From the start of the process until `/readyz` answers 200, {} waiting, killed by SIGKILL after joins that were just\n\
             answered; {rounds} times. The file may still be in the system's cache.",
            report::count(waiting)
        ),
        columns: vec!["what", "seconds", "min..max", "of these CPU"],
        rows: vec![vec![
            "until joins are served".to_owned(),
            report::ratio(seconds.median()),
            seconds.spread(report::ratio),
            report::ratio(processor.median()),
        ]],
    }
}

fn goal(waiting: u64, seconds: &Samples) -> Goal {
    let what = format!(
        "restart of the embedded store, {} waiting",
        report::count(waiting)
    );
    Goal::new(&what, Bound::AtMost(3.0), "s until ready", seconds)
}
