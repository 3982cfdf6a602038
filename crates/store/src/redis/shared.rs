//! Texts that all nodes share, such as the keys that sign tokens.

use super::{RedisStore, keys, link::unavailable};
use crate::StoreError;

/// Puts `ARGV[2]` in the place of `ARGV[1]`, where `''` is no text at all; says whether it did.
const REPLACE: &str = "if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1";

impl RedisStore {
    /// A text that all nodes share.
    pub async fn read_shared(&self, name: &str) -> Result<Option<String>, StoreError> {
        let mut get = redis::cmd("GET");
        get.arg(keys::shared(name));
        let text = self.inner.transit.feed.query(&get).await;
        text.map_err(|error| unavailable(&error))
    }

    /// Puts another text in the place of one that was read; `false` if it is another one by now.
    pub async fn replace_shared(
        &self,
        name: &str,
        old: Option<&str>,
        new: &str,
    ) -> Result<bool, StoreError> {
        let mut replace = redis::cmd("EVAL");
        replace
            .arg(REPLACE)
            .arg(1)
            .arg(keys::shared(name))
            .arg(old.unwrap_or_default())
            .arg(new);
        let replaced = self.inner.transit.feed.query(&replace).await;
        replaced.map_err(|error| unavailable(&error))
    }
}
