//! Lines that are written directly, where joining would take too long or is what is measured.

use redis::{Pipeline, RedisResult, pipe};

/// The sorted set of the plain design and of the Redis limit.
pub(crate) const LINE: &str = "waiting";

const AT_ONCE: u64 = 10_000;

/// A visitor who waits: 36 characters, as many as a UUID has.
pub(crate) fn visitor(number: u64) -> String {
    format!("bench-waiting-{number:022}")
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

async fn write(url: &str, count: u64, add: impl Fn(&mut Pipeline, u64)) -> RedisResult<()> {
    let client = redis::Client::open(url)?;
    let mut redis = client.get_multiplexed_async_connection().await?;
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
