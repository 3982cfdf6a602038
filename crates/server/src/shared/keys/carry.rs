//! Signing keys that go with the rooms of a deployment to another store.

use std::{path::PathBuf, sync::Arc};

use ropeline_core::Timestamp;
use ropeline_store::RedisStore;

use super::{NAME, SharedKeyError, SharedTexts, agree};
use crate::token::KeyFile;

/// Where the signing keys of a store are.
#[derive(Debug, Clone)]
pub enum KeyPlace {
    /// In the data directory of its one server.
    Directory(PathBuf),
    /// Beside its rooms, for all nodes.
    Shared(Arc<RedisStore>),
}

impl KeyPlace {
    /// Makes the keys of this place known to another one, so that tokens which they signed are good there; says
    /// how many there are.
    pub async fn carry_to(&self, to: &Self, now: Timestamp) -> Result<usize, SharedKeyError> {
        let keys = match self {
            Self::Directory(directory) => KeyFile::find(directory)?,
            Self::Shared(texts) => {
                let text = SharedTexts::read(&**texts, NAME).await?;
                let keys = text.as_deref().map(KeyFile::from_text).transpose();
                keys.map_err(SharedKeyError::Malformed)?
            }
        };
        // Without keys nobody has a token.
        let Some(keys) = keys else {
            return Ok(0);
        };
        match to {
            Self::Directory(directory) => drop(keys.keep(directory)?),
            Self::Shared(texts) => drop(agree(&**texts, Some(&keys), now).await?),
        }
        Ok(keys.kids().count())
    }
}
