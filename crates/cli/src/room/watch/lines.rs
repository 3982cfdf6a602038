//! A line for each look, for logs and pipes.

use std::time::Duration;

use jiff::Timestamp;
use ropeline_store::{Clock, SystemClock};
use tokio::signal::ctrl_c;

use super::{
    super::{
        Form,
        args::WatchArgs,
        body,
        desk::Desk,
        show::{in_band, inside, rate, seconds_or_dash},
        trouble::Trouble,
        views::{Room, Stats, read},
    },
    backoff::Backoff,
};
use crate::{failure::Failure, output::print};

pub(super) async fn run(desk: &Desk, args: &WatchArgs, form: Form) -> Result<(), Failure> {
    print(&look(desk, args, form).await?)?;
    if args.once {
        return Ok(());
    }
    tokio::select! {
        ended = follow(desk, args, form) => ended,
        _ = ctrl_c() => Ok(()),
    }
}

/// Goes on over everything that passes.
async fn follow(desk: &Desk, args: &WatchArgs, form: Form) -> Result<(), Failure> {
    let mut backoff = Backoff::new(args.every);
    let mut pause = args.every;
    loop {
        tokio::time::sleep(pause).await;
        let text = match look(desk, args, form).await {
            Ok(line) => {
                pause = backoff.answered();
                line
            }
            Err(trouble) => {
                let Some(at_least) = trouble.passes_after() else {
                    return Err(trouble.into());
                };
                pause = backoff.failed(at_least);
                away(args, form, &trouble, pause)
            }
        };
        print(&text)?;
    }
}

async fn look(desk: &Desk, args: &WatchArgs, form: Form) -> Result<String, Trouble> {
    let stats = desk.stats(&args.room).await?;
    if form == Form::Json {
        return Ok(format!("{}\n", body(&stats)));
    }
    let room: Room = read(&desk.room(&args.room).await?)?;
    Ok(line(&room, &read(&stats)?))
}

fn line(room: &Room, stats: &Stats) -> String {
    let rates = stats.per_minute;
    let wait = match stats.estimate {
        Some(estimate) => format!("{}s", estimate.seconds),
        None => "unknown".into(),
    };
    let [p50, p90] = [stats.waits.p50_seconds, stats.waits.p90_seconds].map(seconds_or_dash);
    let band = in_band(&stats.estimates);
    let fields = [
        ("room", room.id.to_string()),
        ("state", room.state.clone()),
        ("waiting", room.waiting.to_string()),
        ("inside", inside(room)),
        ("joined/min", rate(rates.joined)),
        ("admitted/min", rate(rates.admitted)),
        ("left/min", rate(rates.departed)),
        ("gave_up/min", rate(rates.left)),
        ("next_wait", wait),
        ("p50", p50),
        ("p90", p90),
        ("in_band", band),
    ];
    // For programs that split at blanks and read numbers.
    let fields = fields.map(|(name, value)| format!("{name}={}", value.replace([',', ' '], "")));
    format!("{} {}\n", second(stats.as_of), fields.join(" "))
}

/// Programs that read JSON get none while there is none.
fn away(args: &WatchArgs, form: Form, trouble: &Trouble, pause: Duration) -> String {
    if form == Form::Json {
        return String::new();
    }
    let now = i64::try_from(SystemClock::start().now().0).unwrap_or(i64::MAX);
    let now = Timestamp::from_millisecond(now).unwrap_or(Timestamp::MAX);
    format!(
        "{} room={} AWAY, next try in {} s: {trouble}\n",
        second(now),
        args.room,
        pause.as_secs()
    )
}

fn second(at: Timestamp) -> String {
    format!("{at:.0}")
}
