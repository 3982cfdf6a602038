//! Texts that all nodes share, such as the keys that sign tokens.

use super::{RedisStore, keys, slot::Slot};
use crate::StoreError;

/// Puts `ARGV[2]` in the place of `ARGV[1]`, where `''` is no text at all; says whether it did.
const REPLACE: &str = "if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1";

impl RedisStore {
    /// A text that all nodes share.
    pub async fn read_shared(&self, name: &str) -> Result<Option<String>, StoreError> {
        let mut get = redis::cmd("GET");
        let key = keys::shared(name);
        get.arg(&key);
        Ok(self.inner.transit.feed.query(Slot::of(&key), &get).await?)
    }

    /// Puts another text in the place of one that was read; `false` if it is another one by now.
    pub async fn replace_shared(
        &self,
        name: &str,
        old: Option<&str>,
        new: &str,
    ) -> Result<bool, StoreError> {
        let key = keys::shared(name);
        let mut replace = redis::cmd("EVAL");
        replace
            .arg(REPLACE)
            .arg(1)
            .arg(&key)
            .arg(old.unwrap_or_default())
            .arg(new);
        let feed = &self.inner.transit.feed;
        Ok(feed.query(Slot::of(&key), &replace).await?)
    }
}
