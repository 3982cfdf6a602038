//! Lines that are written directly, where joining would take too long or is what is measured.

use redis::{Pipeline, RedisResult, aio::MultiplexedConnection, pipe};

use crate::ids::Ids;

/// The sorted set of the plain design and of the Redis limit.
pub(crate) const LINE: &str = "waiting";

const AT_ONCE: u64 = 10_000;

/// Whom the visitors belong to.
pub(crate) const GROUP: &str = "bench-waiting";

pub(crate) fn visitor(number: u64) -> String {
    Ids::of(GROUP).nth(number)
}

pub(crate) async fn connect(url: &str) -> RedisResult<MultiplexedConnection> {
    let client = redis::Client::open(url)?;
    client.get_multiplexed_async_connection().await
}

/// A sorted set by the order of coming.
pub(crate) async fn sorted_set(url: &str, key: &str, count: u64) -> RedisResult<()> {
    write(url, count, |all, number| {
        all.zadd(key, visitor(number), number).ignore();
    })
    .await
}

/// A list whose last is who came last.
pub(crate) async fn list(url: &str, key: &str, count: u64) -> RedisResult<()> {
    write(url, count, |all, number| {
        all.rpush(key, visitor(number)).ignore();
    })
    .await
}

/// So many in order, many in one go.
pub(crate) async fn write(
    url: &str,
    count: u64,
    add: impl Fn(&mut Pipeline, u64),
) -> RedisResult<()> {
    let mut redis = connect(url).await?;
    let mut first = 0;
    while first < count {
        let next = count.min(first + AT_ONCE);
        let mut all = pipe();
        (first..next).for_each(|number| add(&mut all, number));
        let () = all.query_async(&mut redis).await?;
        first = next;
    }
    Ok(())
}
