//! What the box office sells in a second, beside what its database can commit.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use ropeline_boxoffice::{
    BoxOffice, ConcertDraft, ConcertId, Database, Name, Points, ReservationId, Rules, SeatDraft,
    SeatId, UserId,
};
use ropeline_core::Timestamp;
use ropeline_testing::TestPostgres;
use sqlx::{AnyPool, Executor as _, any::AnyPoolOptions, query};
use tempfile::TempDir;
use tokio::{runtime::Runtime, task::JoinSet};

use crate::{
    Result, progress,
    report::{self, Table},
    stats::{self, Run, Tally},
};

/// As many as are inside at once and click.
const CALLERS: usize = 64;
const USERS: usize = 2_000;
/// More than are sold in one repetition.
const SEATS: u32 = 10_000;
const NOW: Timestamp = Timestamp(1_800_000_000_000);
const PRICE: i64 = 100;
const RICH: i64 = 100_000_000;
/// How many connections the box office has to each.
const POSTGRES_CONNECTIONS: u32 = 16;

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Repetitions on every database.
    #[arg(long, default_value_t = 3)]
    sale_rounds: u32,
    /// Seconds that each part of a repetition takes.
    #[arg(long, default_value_t = 1.5)]
    sale_seconds: f64,
}

pub(crate) fn run(args: &Args) -> Result<Table> {
    progress::phase("box office: reservations and payments");
    Runtime::new()?.block_on(compare(args))
}

async fn compare(args: &Args) -> Result<Table> {
    let mut sides = [Side::on_sqlite().await?, Side::on_postgres().await?];
    let length = Duration::from_secs_f64(args.sale_seconds);
    for round in 1..=args.sale_rounds {
        progress::step(&format!("round {round} of {}", args.sale_rounds));
        for side in &mut sides {
            side.measure(round, length).await?;
        }
    }
    let rows = sides.iter().flat_map(Side::rows);
    Ok(Table {
        title: "Reservations and payments".to_owned(),
        note: format!(
            "The box office without HTTP, {CALLERS} callers at once, {USERS} users, every seat another; each answer \
             is synced to disk.\nThe yardstick is a transaction of one row in the same database, over as many \
             connections. PostgreSQL is asked over a\nsocket of the same machine."
        ),
        columns: vec![
            "database, request",
            "requests/s",
            "min..max",
            "p50 ms",
            "p99 ms",
            "max ms",
            "× one row",
        ],
        rows: rows.collect(),
    })
}

/// A box office that is measured, and its database.
struct Side {
    name: &'static str,
    office: BoxOffice,
    concert: ConcertId,
    users: Vec<UserId>,
    plain: AnyPool,
    runs: [Vec<Run>; 3],
    _database: Backing,
}

#[expect(dead_code, reason = "what is held here lasts as long as the run")]
enum Backing {
    File(TempDir),
    Server(TestPostgres),
}

const REQUESTS: [&str; 3] = ["one row", "reserve", "pay"];

impl Side {
    async fn on_sqlite() -> Result<Self> {
        let directory = TempDir::new()?;
        let url = format!("sqlite:{}", directory.path().join("box.db").display());
        let settings =
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000";
        Self::at("SQLite", &url, (1, settings), Backing::File(directory)).await
    }

    async fn on_postgres() -> Result<Self> {
        let server = TestPostgres::start_synced();
        let url = server.url("postgres");
        let settings = (POSTGRES_CONNECTIONS, "SELECT 1");
        Self::at("PostgreSQL", &url, settings, Backing::Server(server)).await
    }

    async fn at(
        name: &'static str,
        url: &str,
        (connections, settings): (u32, &'static str),
        database: Backing,
    ) -> Result<Self> {
        progress::step(&format!("{name}: {USERS} users"));
        let rules = Rules {
            holds_max: u32::MAX,
            tickets_max: u32::MAX,
            holds_per_minute: 0,
            ..Rules::default()
        };
        let office = BoxOffice::new(Database::open(url).await?, rules);
        let plain = AnyPoolOptions::new()
            .max_connections(connections)
            .after_connect(move |connection, _| {
                Box::pin(async move { connection.execute(settings).await.map(drop) })
            })
            .connect(url)
            .await?;
        query("CREATE TABLE yardstick (number BIGINT)")
            .execute(&plain)
            .await?;
        let draft = ConcertDraft::titled(Name::parse("Measured")?);
        Ok(Self {
            name,
            concert: office.create_concert(&draft, NOW).await?.id,
            users: users(&office).await?,
            office,
            plain,
            runs: Default::default(),
            _database: database,
        })
    }

    async fn measure(&mut self, round: u32, length: Duration) -> Result<()> {
        let seats = self.seats(round).await?;
        let held = Arc::new(Mutex::new(Vec::new()));
        let pool = self.plain.clone();
        let rows = crowd(length, usize::MAX, move |number| {
            let pool = pool.clone();
            async move {
                let sql = "INSERT INTO yardstick (number) VALUES ($1)";
                query(sql)
                    .bind(i64::try_from(number)?)
                    .execute(&pool)
                    .await?;
                Ok(())
            }
        });
        self.note(0, rows.await?);
        let (office, users, holds) = (self.office.clone(), self.users.clone(), Arc::clone(&held));
        let reserved = crowd(length, seats.len(), move |number| {
            let (user, seat) = (users[number % users.len()], seats[number]);
            let (office, holds) = (office.clone(), Arc::clone(&holds));
            async move {
                let reservation = office.reserve(user, seat, None, NOW).await?;
                let mut holds = holds.lock().unwrap_or_else(PoisonError::into_inner);
                holds.push((user, reservation.id));
                Ok(())
            }
        });
        self.note(1, reserved.await?);
        let held: Vec<(UserId, ReservationId)> =
            std::mem::take(&mut *held.lock().unwrap_or_else(PoisonError::into_inner));
        let office = self.office.clone();
        let paid = crowd(length, held.len(), move |number| {
            let (user, reservation) = held[number];
            let office = office.clone();
            async move {
                office.pay(user, reservation, None, NOW).await?;
                Ok(())
            }
        });
        self.note(2, paid.await?);
        Ok(())
    }

    fn note(&mut self, request: usize, tally: Tally) {
        let run = Run::from(tally);
        progress::begin(&format!("  {}, {}", self.name, REQUESTS[request]));
        progress::result(&run);
        self.runs[request].push(run);
    }

    /// The seats of a date that nobody has bought of.
    async fn seats(&self, round: u32) -> Result<Vec<SeatId>> {
        let price = Points::amount(PRICE)?;
        let layout: Vec<SeatDraft> = (1..=SEATS)
            .map(|number| SeatDraft { number, price })
            .collect();
        let starts_at = NOW + Duration::from_secs(86_400) * round;
        let date = self
            .office
            .create_date(self.concert, starts_at, &layout, NOW)
            .await?;
        let seats = self.office.seats(date, NOW).await?;
        Ok(seats.into_iter().map(|seat| seat.id).collect())
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let [yardstick, ..] = &self.runs;
        let rows = REQUESTS.iter().zip(&self.runs);
        rows.map(|(request, runs)| {
            report::compared(format!("{}, {request}", self.name), runs, yardstick)
        })
        .collect()
    }
}

async fn users(office: &BoxOffice) -> Result<Vec<UserId>> {
    let made = Arc::new(Mutex::new(Vec::new()));
    let (office, users) = (office.clone(), Arc::clone(&made));
    crowd(Duration::MAX, USERS, move |_| {
        let (office, users) = (office.clone(), Arc::clone(&users));
        async move {
            let user = office.create_user("Measured", NOW).await?;
            office
                .charge(user, Points::amount(RICH)?, None, NOW)
                .await?;
            users
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(user);
            Ok(())
        }
    })
    .await?;
    let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut *made))
}

/// Does something again and again by many at once, each time with the next number below `numbers`, for so long.
async fn crowd<Op, Done>(length: Duration, numbers: usize, op: Op) -> Result<Tally>
where
    Op: Fn(usize) -> Done + Send + Sync + 'static,
    Done: Future<Output = Result<()>> + Send,
{
    let (op, next, began) = (Arc::new(op), Arc::new(AtomicUsize::new(0)), Instant::now());
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let (op, next) = (Arc::clone(&op), Arc::clone(&next));
        callers.spawn(async move {
            let mut waits = Vec::new();
            while began.elapsed() < length {
                let number = next.fetch_add(1, Relaxed);
                if number >= numbers {
                    break;
                }
                let asked = Instant::now();
                op(number).await?;
                waits.push(stats::micros(asked.elapsed()));
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(waits)
        });
    }
    let mut tally = Tally::default();
    while let Some(waits) = callers.join_next().await {
        tally.waits.append(&mut waits??);
    }
    tally.elapsed = began.elapsed();
    Ok(tally)
}
