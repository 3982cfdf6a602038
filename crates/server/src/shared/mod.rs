//! What all nodes share beside the rooms: the keys that sign, and the operators' key.

mod admin_key;
mod files;
mod keys;
#[cfg(test)]
pub(crate) mod memory;

use std::{fmt::Debug, time::Duration};

use async_trait::async_trait;
use ropeline_store::{RedisStore, StoreError};

pub use self::keys::{KeyPlace, SharedKeyError};
pub(crate) use self::{
    admin_key::{Shared, SharedAdminKey, SharedDigest},
    files::Files,
    keys::SharedKeys,
};

/// How often a node looks at what is shared.
pub(crate) const LOOK: Duration = Duration::from_millis(500);

/// What this node does for as long as it runs to have the same keys as the others.
#[derive(Debug)]
pub(crate) struct Sharing {
    pub(crate) keys: SharedKeys,
    pub(crate) admin_key: SharedAdminKey,
}

impl Sharing {
    /// Looks for ever. What stands in the way is said once, not each time.
    pub(crate) async fn run(mut self) {
        let mut said = None;
        loop {
            tokio::time::sleep(LOOK).await;
            let trouble = self.look().await;
            if let Some(trouble) = trouble.as_ref().filter(|_| trouble != said) {
                tracing::error!("{trouble}");
            }
            said = trouble;
        }
    }

    /// Looks once, and says what an operator should hear. When the store is away, it says so itself.
    async fn look(&mut self) -> Option<String> {
        match self.keys.look().await {
            Ok(()) => {}
            Err(SharedKeyError::Store(_)) => return None,
            Err(error) => return Some(error.to_string()),
        }
        self.admin_key.look().await.ok()?
    }
}

/// Small texts that every node reads and any may replace.
///
/// Implemented by the store of the nodes; the texts are as durable as its rooms.
#[async_trait]
pub(crate) trait SharedTexts: Debug + Send + Sync {
    /// The text of that name, if there is one.
    async fn read(&self, name: &str) -> Result<Option<String>, StoreError>;

    /// Puts `new` in the place of `old`, or where nothing was; `false` if something else is there by now.
    async fn replace(&self, name: &str, old: Option<&str>, new: &str) -> Result<bool, StoreError>;
}

#[async_trait]
impl SharedTexts for RedisStore {
    async fn read(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.read_shared(name).await
    }

    async fn replace(&self, name: &str, old: Option<&str>, new: &str) -> Result<bool, StoreError> {
        self.replace_shared(name, old, new).await
    }
}
