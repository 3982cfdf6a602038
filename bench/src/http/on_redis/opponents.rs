//! The seeds' designs, and the one that only writes joins together, each in a process of its own, on one Redis and one
//! PostgreSQL that are theirs alone.

use redis::RedisResult;
use ropeline_testing::{Persistence, TestPostgres, TestRedis};
use tokio::runtime::Runtime;

use super::{
    super::{Args, OwnServer, Target},
    servers::OPTIONS,
    tick,
};
use crate::{Result, filled, ids::Ids, progress};

/// How many are inside where each join counts them by `KEYS`: the limits of seeds 004 and 000.
const COUNTED: [u64; 2] = [200, 3_333];

/// How many wait in the list and in the table. With a million, one status of the list would be 40 MB.
pub(crate) const WAITING: u64 = 100_000;

/// How many the schedulers let in every ten seconds: as few as the room that the product is measured with.
const BATCH: &str = "1";

const TABLE: &str = include_str!("../plain/table.sql");

#[derive(Debug)]
pub(crate) struct Opponents {
    plain: OwnServer,
    counting_keys: [OwnServer; 2],
    list: OwnServer,
    table: OwnServer,
    together: OwnServer,
    bare: OwnServer,
    ticking: OwnServer,
    pub(crate) redis: TestRedis,
    _postgres: TestPostgres,
}

impl Opponents {
    pub(crate) fn start(args: &Args, runtime: &Runtime) -> Result<Self> {
        let redis = TestRedis::with(Persistence::EverySecond, &OPTIONS);
        let postgres = TestPostgres::start_synced();
        let database = |number: u8| format!("{}{number}", redis.url());
        let keys = |number: u8, inside: u64| {
            let url = database(number);
            runtime.block_on(fill_keys(&url, inside, args.waiting))?;
            serve("keys", &url, inside, BATCH)
        };
        let counting_keys = [keys(1, COUNTED[0])?, keys(2, COUNTED[1])?];
        let in_ticks = args.waiting + tick::ADMITTED_PLAINLY * args.ticks();
        runtime.block_on(filled::sorted_set(&database(3), filled::LINE, in_ticks))?;
        runtime.block_on(filled::list(&database(4), "waiting-queue", WAITING))?;
        fill_table(&postgres);
        progress::step("the lines of the plain designs are filled");
        Ok(Self {
            plain: serve("card", &database(0), args.inside, BATCH)?,
            counting_keys,
            // Nobody gets in but by a tick.
            ticking: serve("card", &database(3), 0, "0")?,
            list: serve("list", &database(4), 0, BATCH)?,
            table: serve("table", &postgres.url("postgres"), 0, BATCH)?,
            together: serve("together", &database(5), 0, BATCH)?,
            bare: serve("bare", &database(6), 0, BATCH)?,
            redis,
            _postgres: postgres,
        })
    }

    pub(crate) fn plain(&self) -> Target {
        self.on_redis(&self.plain)
    }

    pub(crate) fn counting_keys(&self) -> [Target; 2] {
        [0, 1].map(|index| self.on_redis(&self.counting_keys[index]))
    }

    pub(crate) fn list(&self) -> Target {
        self.on_redis(&self.list)
    }

    /// What PostgreSQL takes is spread over its processes, and not looked at.
    pub(crate) fn table(&self) -> Target {
        self.table.target()
    }

    pub(crate) fn together(&self) -> Target {
        self.on_redis(&self.together)
    }

    pub(crate) fn bare(&self) -> Target {
        self.on_redis(&self.bare)
    }

    pub(crate) fn ticking(&self) -> Target {
        self.on_redis(&self.ticking)
    }

    fn on_redis(&self, server: &OwnServer) -> Target {
        server.target().on(self.redis.process())
    }
}

/// A plain server on a database of its own.
pub(crate) fn serve(design: &str, store: &str, entry_limit: u64, batch: &str) -> Result<OwnServer> {
    let limit = entry_limit.to_string();
    OwnServer::start(&[
        "plain",
        "--design",
        design,
        "--store",
        store,
        "--entry-limit",
        &limit,
        "--batch",
        batch,
    ])
}

/// Joining is too slow to fill the line of one that counts by `KEYS`, so the keys are written as joins would have.
async fn fill_keys(url: &str, inside: u64, waiting: u64) -> RedisResult<()> {
    let mut redis = filled::connect(url).await?;
    let ids = Ids::of("bench-inside");
    for number in 0..inside {
        let key = format!("active:{}", ids.nth(number));
        let mut setex = redis::cmd("SETEX");
        let setex = setex.arg(key).arg(2 * 60 * 60).arg(number);
        let () = setex.query_async(&mut redis).await?;
    }
    filled::sorted_set(url, filled::LINE, waiting).await
}

/// A database in use is vacuumed, which an index alone answers counts by.
fn fill_table(postgres: &TestPostgres) {
    postgres.execute("postgres", TABLE);
    let ids = Ids::of(filled::GROUP);
    let (start, digits) = (ids.start(), Ids::DIGITS);
    let rows = format!(
        "INSERT INTO token (user_id, status, token_issued_at) \
         SELECT '{start}' || lpad(number::text, {digits}, '0'), 'WAIT', now() - interval '1 hour' + number * interval '1 ms' \
         FROM generate_series(0, {WAITING} - 1) AS number"
    );
    postgres.execute("postgres", &rows);
    postgres.execute("postgres", "VACUUM ANALYZE token");
}
