//! Everything that runs while the comparison does.

use redis::{RedisResult, aio::MultiplexedConnection, pipe};
use ropeline_testing::{Persistence, TestRedis};
use tokio::runtime::Runtime;

use super::super::{Args, OwnServer, Target, product::Product, turns::Turns};
use crate::{Result, progress};

/// How many are inside where each join counts them by `KEYS`: the limits of seeds 004 and 000.
const COUNTED: [u64; 2] = [200, 3_333];

/// How many the schedulers let in every ten seconds: as few as the room that the product is measured with.
const BATCH: &str = "1";

/// All the same for both sides. A rewrite of the log would hit whichever load has its turn.
pub(crate) const OPTIONS: [&str; 4] = [
    "--auto-aof-rewrite-percentage",
    "0",
    // Every slow call of a tick is looked at.
    "--slowlog-max-len",
    "100000",
];

#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) hello: OwnServer,
    plain: OwnServer,
    counting_keys: [OwnServer; 2],
    ticking: OwnServer,
    /// Or why it does not serve.
    pub(crate) product: std::result::Result<Product, String>,
    pub(crate) plain_redis: TestRedis,
    pub(crate) redis: TestRedis,
}

impl Servers {
    pub(crate) fn start(args: &Args, turns: &Turns<'_>) -> Result<Self> {
        let plain_redis = TestRedis::with(Persistence::EverySecond, &OPTIONS);
        let redis = TestRedis::with(Persistence::EverySecond, &OPTIONS);
        let counting_keys = [
            keys_counter(&plain_redis, 1, COUNTED[0], args.waiting, turns.runtime())?,
            keys_counter(&plain_redis, 2, COUNTED[1], args.waiting, turns.runtime())?,
        ];
        let product = Product::start(&args.product, &redis.url(), turns.runtime());
        let product = product.map_err(|error| error.to_string());
        if let Err(refused) = &product {
            progress::step(&format!("Ropeline does not serve on Redis: {refused}"));
        }
        Ok(Self {
            hello: OwnServer::start(&["hello"])?,
            plain: plain(&database(&plain_redis, 0), args.inside, "card", BATCH)?,
            counting_keys,
            // Nobody gets in but by a tick.
            ticking: plain(&database(&plain_redis, 3), 0, "card", "0")?,
            product,
            plain_redis,
            redis,
        })
    }

    pub(crate) fn plain(&self) -> Target {
        self.plain.target().on(self.plain_redis.process())
    }

    pub(crate) fn counting_keys(&self) -> [Target; 2] {
        let redis = self.plain_redis.process();
        [0, 1].map(|index| self.counting_keys[index].target().on(redis))
    }

    pub(crate) fn ticking(&self) -> Target {
        self.ticking.target().on(self.plain_redis.process())
    }

    pub(crate) fn on_redis(&self) -> Result<Target> {
        let product = self.product.as_ref().map_err(Clone::clone)?;
        Ok(product.target().on(self.redis.process()))
    }

    /// The end of the product's log, for whoever reads why the run failed.
    pub(crate) fn last_words(&self) -> String {
        let product = self.product.as_ref();
        product.map(Product::last_words).unwrap_or_default()
    }
}

/// A plain server on a database of its own.
pub(crate) fn plain(url: &str, entry_limit: u64, counting: &str, batch: &str) -> Result<OwnServer> {
    let limit = entry_limit.to_string();
    OwnServer::start(&[
        "plain",
        "--redis",
        url,
        "--entry-limit",
        &limit,
        "--counting",
        counting,
        "--batch",
        batch,
    ])
}

/// A plain server that counts by `KEYS`, with its limit reached. Joining is too slow to fill its line
/// by, so the keys are written as the joins would have.
fn keys_counter(
    redis: &TestRedis,
    number: u8,
    inside: u64,
    waiting: u64,
    runtime: &Runtime,
) -> Result<OwnServer> {
    let url = database(redis, number);
    runtime.block_on(fill(&url, inside, waiting))?;
    plain(&url, inside, "keys", BATCH)
}

pub(crate) async fn fill(url: &str, inside: u64, waiting: u64) -> RedisResult<()> {
    const AT_ONCE: usize = 10_000;
    let client = redis::Client::open(url)?;
    let mut redis = client.get_multiplexed_async_connection().await?;
    for number in 0..inside {
        let key = format!("active:bench-inside-{number:023}");
        let mut setex = redis::cmd("SETEX");
        let setex = setex.arg(key).arg(2 * 60 * 60).arg(number);
        let () = setex.query_async(&mut redis).await?;
    }
    let numbers: Vec<u64> = (0..waiting).collect();
    for part in numbers.chunks(AT_ONCE) {
        line_up(&mut redis, part).await?;
    }
    Ok(())
}

async fn line_up(redis: &mut MultiplexedConnection, numbers: &[u64]) -> RedisResult<()> {
    let mut all = pipe();
    for number in numbers {
        let visitor = format!("bench-waiting-{number:022}");
        all.zadd("waiting", visitor, number).ignore();
    }
    all.query_async(redis).await
}

fn database(redis: &TestRedis, number: u8) -> String {
    format!("{}{number}", redis.url())
}
