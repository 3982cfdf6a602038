//! Lines that are too long to be joined over HTTP.
//!
//! The joins are those of the product, by its own store and as durable as any; only HTTP is left out.

use std::{ops::Range, path::Path, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use ropeline_core::{Identity, Joined, Joiner, Policy, RoomId, UserId, Visitor};
use ropeline_store::{EmbeddedStore, RedisStore, Store, SystemClock};
use tokio::runtime::Runtime;

use crate::{Result, filled, ids::Ids, progress};

/// Joins that wait for their answer at the same time: a few of the largest batches that a store takes.
const AT_ONCE: usize = 16_384;

/// Joins these visitors to the room `main` of a data directory that no server uses.
pub(crate) fn embedded(data: &Path, numbers: Range<u64>) -> Result<()> {
    let store = EmbeddedStore::open(data, Arc::new(SystemClock::start()))?;
    Runtime::new()?.block_on(line_up(&store, numbers))
}

/// Joins these visitors to the room `main` of a Redis.
pub(crate) fn redis(url: &str, numbers: Range<u64>) -> Result<()> {
    Runtime::new()?.block_on(async {
        let store = RedisStore::open(&url.parse()?, Arc::new(SystemClock::start())).await?;
        line_up(&store, numbers).await?;
        store.close().await;
        Ok(())
    })
}

async fn line_up(store: &dyn Store, numbers: Range<u64>) -> Result<()> {
    const PARTS: u64 = 10;
    progress::begin(&format!(
        "{} join by the store",
        numbers.end - numbers.start
    ));
    let ids = Ids::of(filled::GROUP);
    for part in 0..PARTS {
        let at = |part| numbers.start + (numbers.end - numbers.start) * part / PARTS;
        let joins = (at(part)..at(part + 1)).map(|number| join(store, &ids, number));
        let joins = stream::iter(joins);
        joins.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        progress::part(&format!("{}%", (part + 1) * 100 / PARTS));
    }
    progress::end();
    Ok(())
}

async fn join(store: &dyn Store, ids: &Ids, number: u64) -> Result<()> {
    match store.join(&RoomId::main(), joiner(ids, number)?).await? {
        (Joined::New(_), _) => Ok(()),
        (joined, _) => Err(format!("visitor {number} was not new: {joined:?}").into()),
    }
}

/// The visitor of this number, as a join names them.
pub(crate) fn joiner(ids: &Ids, number: u64) -> Result<Joiner> {
    let user = UserId::parse(&ids.nth(number))?;
    let visitor = Visitor::stated(&user);
    Ok(Joiner { visitor, key: None })
}

/// A room in which everybody is present and nobody is let in by itself but the first.
pub(crate) fn still() -> Policy {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    Policy {
        every: DAY,
        batch: Some(1),
        active_max: None,
        pass_ttl: DAY,
        pass_max: Duration::ZERO,
        presence_ttl: DAY,
        missed_turn_ttl: DAY,
        waiting_max: 100_000_000,
        identity: Identity::Open,
    }
}
