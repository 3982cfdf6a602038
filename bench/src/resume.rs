//! What visitors who lined up before a paused room notice of its opening, if each asks when it is told to.
//!
//! The server says in `admitAt` when each was admitted; the visitor knows of it with its next answer.

use std::{
    ops::Range,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use ropeline_testing::TestRedis;
use serde::Deserialize;
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinSet,
    time::sleep,
};

use crate::{
    Result,
    goals::{Bound, Goal},
    http::{
        client,
        product::{Product, Setup},
        requests,
    },
    progress,
    report::{self, Chapter, Table},
    stats::{self, Samples},
};

/// One room per way to let people in. Nobody who asks as told is missed before the run has ended.
const SETTINGS: &str = r#"
[rate_limits]
admin_per_minute = 0

[rooms.ticks]
every = "5s"
batch = 50

[rooms.cap]
active_max = 200
"#;
const ROOMS: [&str; 2] = ["ticks", "cap"];

/// Visitors line up for so long…
const LINING_UP: Duration = Duration::from_secs(20);
/// …and the room is resumed after so long again, in which everybody has asked more than once.
const UNTIL_RESUME: Duration = Duration::from_secs(40);
/// Visitors stay inside for between so many milliseconds.
const STAY_MS: Range<u64> = 3_000..9_000;
/// Visitors know soon of their turn if they know within this.
const SOON: Duration = Duration::from_millis(2_500);
/// And know in order if nobody behind them knew by more than this before.
const OVERTAKEN: Duration = Duration::from_millis(1_500);
const DAY_MS: u64 = 86_400_000;

#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// The release build of `ropeline`.
    #[arg(long, default_value = "target/release/ropeline")]
    product: PathBuf,
    /// How many line up before each room.
    #[arg(long, default_value_t = 1_000)]
    visitors: u64,
}

/// What a visitor is told, as far as this needs it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlaceView {
    token: String,
    status: String,
    ordinal: u64,
    ahead: u64,
    version: u64,
    poll_after_ms: u64,
    admit_at: Option<String>,
}

/// One visitor's turn.
#[derive(Debug, Clone, Copy)]
struct Turn {
    ordinal: u64,
    admitted_ms: u64,
    knew_ms: u64,
}

/// What came of one room on one set of nodes.
struct Found {
    nodes: &'static str,
    room: &'static str,
    turns: Vec<Turn>,
}

pub(crate) fn run(args: &Args) -> Result<Chapter> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    progress::phase("Opening the doors: visitors who ask when they are told to");
    let mut found = measure("embedded", &embedded(args, &runtime)?, args, &runtime)?;
    let redis = TestRedis::start();
    let nodes = [&redis, &redis].map(|redis| start(args, &redis.url(), &runtime));
    let nodes = nodes.into_iter().collect::<Result<Vec<_>>>()?;
    found.append(&mut measure("two nodes, Redis", &nodes, args, &runtime)?);
    Ok(chapter(args, &found))
}

fn embedded(args: &Args, runtime: &Runtime) -> Result<Vec<Product>> {
    Ok(vec![start(args, "embedded", runtime)?])
}

fn start(args: &Args, store: &str, runtime: &Runtime) -> Result<Product> {
    let setup = Setup {
        binary: args.product.clone(),
        store: store.to_owned(),
        settings: SETTINGS.into(),
        service_key: None,
        beneath: std::env::temp_dir(),
    };
    Product::with(setup, runtime)
}

/// All rooms at the same time.
fn measure(
    nodes: &'static str,
    products: &[Product],
    args: &Args,
    runtime: &Runtime,
) -> Result<Vec<Found>> {
    progress::step(&format!("{nodes}: {} line up per room", args.visitors));
    let turns = runtime.block_on(async {
        for room in ROOMS {
            tell(&products[0], room, "pause").await?;
        }
        let mut visitors = JoinSet::new();
        for room in ROOMS {
            for number in 0..args.visitors {
                let addresses = products.iter().map(|product| product.target().address);
                let visitor = Visitor {
                    room,
                    number,
                    addresses: addresses.collect(),
                };
                visitors.spawn(visitor.visit(args.visitors));
            }
        }
        sleep(LINING_UP + UNTIL_RESUME).await;
        progress::step("resumed");
        for room in ROOMS {
            tell(&products[0], room, "resume").await?;
        }
        let mut turns = Vec::new();
        while let Some(visited) = visitors.join_next().await {
            turns.push(visited??);
        }
        Result::Ok(turns)
    })?;
    let of_room = |room: &'static str| Found {
        nodes,
        room,
        turns: in_order(&turns, room),
    };
    Ok(ROOMS.map(of_room).into())
}

fn in_order(turns: &[(&str, Turn)], room: &str) -> Vec<Turn> {
    let mut turns: Vec<_> = turns
        .iter()
        .filter(|(of, _)| *of == room)
        .map(|(_, turn)| *turn)
        .collect();
    turns.sort_by_key(|turn| turn.ordinal);
    turns
}

async fn tell(product: &Product, room: &str, word: &str) -> Result<()> {
    let authorization = format!("Authorization: Bearer {}\r\n", product.admin_key()?);
    let path = format!("/api/v1/admin/rooms/{room}/{word}");
    let order = requests::post(&path, &authorization, "{}");
    client::once(product.target().address, &order).await?;
    Ok(())
}

struct Visitor {
    room: &'static str,
    number: u64,
    addresses: Arc<[std::net::SocketAddr]>,
}

impl Visitor {
    /// Lines up, waits, goes in and leaves. On several nodes each answer is another's.
    async fn visit(self, visitors: u64) -> Result<(&'static str, Turn)> {
        let mut dice = Dice(self.number);
        let lines_up_ms = millis(LINING_UP) * self.number / visitors;
        sleep(Duration::from_millis(lines_up_ms)).await;
        let body = format!(r#"{{"room":"{}","userId":"r{}"}}"#, self.room, self.number);
        let mut ask = requests::post("/api/v1/queue/tokens", "", &body);
        let mut version = 0;
        loop {
            let node = usize::try_from(dice.next())? % self.addresses.len();
            let node = self.addresses[node];
            // Kept open, a connection that is not drawn for 75 s would be closed as idle.
            let place: PlaceView = serde_json::from_slice(&client::once(node, &ask).await?)?;
            let knew_ms = time_of_day_ms()?;
            if place.status == "ACTIVE" {
                let admitted = place.admit_at.ok_or("nobody says when the turn came")?;
                let turn = Turn {
                    ordinal: place.ordinal,
                    admitted_ms: moment_ms(&admitted).ok_or("`admitAt` is no moment")?,
                    knew_ms,
                };
                let stay = STAY_MS.start + dice.next() % (STAY_MS.end - STAY_MS.start);
                sleep(Duration::from_millis(stay)).await;
                let token = format!("X-Queue-Token: {}\r\n", place.token);
                let path = "/api/v1/queue/tokens";
                let leave = requests::get(path, &token);
                client::once(node, &deleting(&leave)).await?;
                return Ok((self.room, turn));
            }
            version = place.version.max(version);
            let headers = format!(
                "X-Queue-Token: {}\r\nX-Queue-Version: {version}\r\nX-Queue-Ahead: {};ordinal={}\r\n",
                place.token, place.ahead, place.ordinal
            );
            ask = requests::get("/api/v1/queue/status", &headers);
            sleep(Duration::from_millis(place.poll_after_ms)).await;
        }
    }
}

/// The same request as a DELETE.
fn deleting(get: &[u8]) -> Vec<u8> {
    [b"DELETE", &get["GET".len()..]].concat()
}

/// Everything that is drawn comes from here, the same in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn time_of_day_ms() -> Result<u64> {
    Ok(millis(SystemTime::now().duration_since(UNIX_EPOCH)?) % DAY_MS)
}

/// The time of day of a moment such as `2026-11-20T11:00:00.250Z`.
fn moment_ms(moment: &str) -> Option<u64> {
    let part = |at: Range<usize>| moment.get(at)?.parse::<u64>().ok();
    let seconds = (part(11..13)? * 60 + part(14..16)?) * 60 + part(17..19)?;
    Some(seconds * 1_000 + part(20..23)?)
}

/// By how much one time of day is after another; zero if it is before.
fn after_ms(later: u64, earlier: u64) -> u64 {
    let after = (later + DAY_MS - earlier) % DAY_MS;
    if after < DAY_MS / 2 { after } else { 0 }
}

impl Found {
    /// How many milliseconds after their admission visitors knew, shortest first.
    fn lags(&self) -> Vec<u64> {
        let lags = self.turns.iter();
        let mut lags: Vec<_> = lags
            .map(|turn| after_ms(turn.knew_ms, turn.admitted_ms))
            .collect();
        lags.sort_unstable();
        lags
    }

    /// The share of visitors who knew soon, in per cent.
    fn soon(&self) -> f64 {
        let lags = self.lags();
        let soon = lags.iter().filter(|lag| **lag <= millis(SOON)).count();
        per_cent(soon, lags.len())
    }

    /// The share of pairs of whom the one behind knew long before the one ahead, in per cent.
    fn overtaken(&self) -> f64 {
        let turns = &self.turns;
        let first = |ahead: &Turn, behind: &Turn| {
            after_ms(ahead.knew_ms, behind.knew_ms) > millis(OVERTAKEN)
        };
        let pairs = turns.iter().enumerate().flat_map(|(at, ahead)| {
            turns[at + 1..]
                .iter()
                .map(move |behind| first(ahead, behind))
        });
        let (mut all, mut overtaken) = (0, 0);
        for was in pairs {
            all += 1;
            overtaken += usize::from(was);
        }
        per_cent(overtaken, all)
    }

    fn name(&self) -> String {
        format!("{}, {}", self.room, self.nodes)
    }
}

fn per_cent(some: usize, all: usize) -> f64 {
    100.0 * stats::count(some) / stats::count(all.max(1))
}

fn chapter(args: &Args, found: &[Found]) -> Chapter {
    let row = |found: &Found| {
        let lags = found.lags();
        let at = |per_cent: usize| {
            let lag = lags.get((lags.len() * per_cent / 100).min(lags.len() - 1));
            format!(
                "{:.2}",
                Duration::from_millis(*lag.unwrap_or(&0)).as_secs_f64()
            )
        };
        vec![
            found.name(),
            report::count(lags.len() as u64),
            at(50),
            at(95),
            at(100),
            report::short(found.soon()),
            report::short(found.overtaken()),
        ]
    };
    let table = Table {
        title: "Opening the doors".to_owned(),
        note: format!(
            "{} visitors line up before each paused room, which is then resumed. Each asks when `pollAfterMs` says. Seconds\n\
             from the admission of each, which the server says, until they know of it; and of all pairs, those of whom\n\
             the one behind knew more than 1.5 s before the one ahead. Visitors stay inside for 3 to 9 s. `ticks` admits 50\n\
             every 5 s, `cap` keeps 200 inside.",
            args.visitors
        ),
        columns: vec![
            "room",
            "visitors",
            "p50 s",
            "p95 s",
            "max s",
            "% within 2.5 s",
            "% of pairs overtaken",
        ],
        rows: found.iter().map(row).collect(),
    };
    let goals = found.iter().flat_map(|found| {
        let one = |figure| [figure].into_iter().collect::<Samples>();
        let (soon, overtaken) = (found.name() + ": know soon", found.name() + ": overtaken");
        [
            Goal::new(&soon, Bound::AtLeast(95.0), "%", &one(found.soon())),
            Goal::new(&overtaken, Bound::AtMost(1.0), "%", &one(found.overtaken())),
        ]
    });
    Chapter {
        goals: goals.collect(),
        ..Chapter::of(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(ordinal: u64, admitted_ms: u64, knew_ms: u64) -> Turn {
        Turn {
            ordinal,
            admitted_ms,
            knew_ms,
        }
    }

    #[test]
    fn late_visitors_and_those_who_were_overtaken_are_counted() {
        let found = Found {
            nodes: "embedded",
            room: "ticks",
            turns: vec![
                turn(1, 0, 2_600),
                turn(2, 0, 1_000),
                turn(3, 0, 1_101),
                turn(4, 0, 2_500),
            ],
        };
        assert!((found.soon() - 75.0).abs() < 1e-9);
        // Of six pairs, the first was overtaken by the second alone: the third knew within a second and a half.
        assert!((found.overtaken() - 100.0 / 6.0).abs() < 1e-9);
    }

    #[test]
    fn a_moment_is_read_as_the_time_of_its_day_also_over_midnight() {
        assert_eq!(moment_ms("2026-11-20T01:02:03.004Z"), Some(3_723_004));
        assert_eq!(moment_ms("tomorrow"), None);
        assert_eq!(after_ms(500, DAY_MS - 500), 1_000);
        assert_eq!(after_ms(DAY_MS - 500, 500), 0);
    }
}
