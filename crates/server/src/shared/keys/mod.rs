//! The signing keys that all nodes have in common.
//!
//! Each node has them in memory and in its data directory, and one text in the store is where they meet. A
//! node looks every few seconds: what `ropeline keys` has changed on its own disk, what other nodes have
//! changed, and whether the store still has it all. Everybody merges and nobody decides.

mod carry;

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use ropeline_core::Timestamp;
use ropeline_store::{Clock, StoreError};
use thiserror::Error;
use tokio::time::Instant;

pub use self::carry::KeyPlace;
use super::SharedTexts;
use crate::{
    moment::Moment,
    token::{KeyError, KeyFile, KeyRing},
};

/// The name of the text.
const NAME: &str = "signing-keys";
/// Each time that somebody is faster, there is more agreement than before.
const TRIES_MAX: usize = 32;
/// How long a key has been where every node finds it before a node signs with it: many looks. Signed sooner, a token would
/// be refused by a node that has not looked yet.
const SPREAD: Duration = Duration::from_secs(10);

/// A node without keys looks this often, for up to two looks of the others, whether they have shared theirs again.
const AWAITED_EVERY: Duration = Duration::from_millis(100);
const AWAITED: Duration = Duration::from_secs(1);

/// Why nodes did not come to the same keys, worded for the operator.
#[derive(Debug, Error)]
pub enum SharedKeyError {
    /// This node's own file.
    #[error(transparent)]
    Own(#[from] KeyError),
    /// The store did not answer.
    #[error("cannot share the signing keys: {0}")]
    Store(#[from] StoreError),
    /// Somebody has written something else there.
    #[error("what the nodes share as {NAME} is not signing keys: {0}")]
    Malformed(String),
    /// Too many nodes at once.
    #[error("cannot share the signing keys: other nodes change them all the time")]
    Contended,
}

/// This node's part in keeping the keys of all nodes the same.
#[derive(Debug)]
pub(crate) struct SharedKeys {
    texts: Arc<dyn SharedTexts>,
    data: PathBuf,
    clock: Arc<dyn Clock>,
    ring: Arc<ArcSwap<KeyRing>>,
    keys: KeyFile,
    /// Since when each key is where every node finds it, as far as this node knows.
    shared_since: HashMap<String, Timestamp>,
}

/// What was agreed on.
struct Agreed {
    keys: KeyFile,
    /// What was shared before.
    before: Option<KeyFile>,
}

impl SharedKeys {
    /// Takes over the keys of the other nodes, or gives them this one's; makes some only if nobody has any.
    /// Nodes that do this at the same time end with the same keys.
    pub(crate) async fn open(
        texts: Arc<dyn SharedTexts>,
        data: PathBuf,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SharedKeyError> {
        let now = clock.now();
        let own = KeyFile::find(&data)?;
        if own.is_none() {
            await_keys(&*texts).await?;
        }
        let Agreed { keys, before } = agree(&*texts, own.as_ref(), now).await?;
        let keys = keys.keep(&data)?;
        // Keys that were shared before are as widely known as they are old; where nothing was shared, there
        // is nobody who has not looked yet.
        let known = before.as_ref().unwrap_or(&keys);
        let since = |made_at: Timestamp| made_at.min(now);
        let mut shared_since: HashMap<_, _> = known
            .kids()
            .map(|(kid, Moment(made_at))| (kid.to_owned(), since(made_at)))
            .collect();
        for (kid, _) in keys.kids() {
            shared_since.entry(kid.to_owned()).or_insert(now);
        }
        let ring = ring(&keys, &shared_since, now)?;
        Ok(Self {
            texts,
            data,
            clock,
            ring: Arc::new(ArcSwap::from_pointee(ring)),
            keys,
            shared_since,
        })
    }

    /// The keys in use, which follow every change.
    pub(crate) fn ring(&self) -> Arc<ArcSwap<KeyRing>> {
        Arc::clone(&self.ring)
    }

    /// Takes up what has changed on this node's disk and on other nodes, and passes it on.
    pub(crate) async fn look(&mut self) -> Result<(), SharedKeyError> {
        // A change on this disk holds here even while the store is away, but for signing; and a disk that
        // is full keeps nobody from hearing what the others have changed.
        let own = self.keys.keep(&self.data);
        if let Ok(own) = &own {
            self.take_up(own.clone())?;
        }
        let now = self.clock.now();
        let Agreed { keys, .. } = agree(&*self.texts, Some(&self.keys), now).await?;
        for (kid, _) in keys.kids() {
            self.shared_since.entry(kid.to_owned()).or_insert(now);
        }
        self.take_up(keys)?;
        own.and_then(|_| self.keys.keep(&self.data))?;
        Ok(())
    }

    fn take_up(&mut self, keys: KeyFile) -> Result<(), SharedKeyError> {
        let ring = ring(&keys, &self.shared_since, self.clock.now())?;
        let changed = keys != self.keys;
        if changed {
            tracing::info!("the signing keys have changed and were taken up");
        }
        if changed || ring.signing_header() != self.ring.load().signing_header() {
            self.ring.store(Arc::new(ring));
        }
        self.keys = keys;
        Ok(())
    }
}

/// Waits for keys that others share, for a while: a store that was emptied has them again once another node has looked.
async fn await_keys(texts: &dyn SharedTexts) -> Result<(), StoreError> {
    let deadline = Instant::now() + AWAITED;
    while texts.read(NAME).await?.is_none() && Instant::now() < deadline {
        tokio::time::sleep(AWAITED_EVERY).await;
    }
    Ok(())
}

/// Makes what is shared and what this node has one; makes keys if there are none at all.
async fn agree(
    texts: &dyn SharedTexts,
    own: Option<&KeyFile>,
    now: Timestamp,
) -> Result<Agreed, SharedKeyError> {
    let mut made = None;
    for _ in 0..TRIES_MAX {
        let text = texts.read(NAME).await?;
        let before = text.as_deref().map(KeyFile::from_text).transpose();
        let before = before.map_err(SharedKeyError::Malformed)?;
        let keys = match (own, &before) {
            (Some(own), Some(before)) => own.merge(before),
            (Some(own), None) => own.clone(),
            (None, Some(before)) => before.clone(),
            (None, None) => made.get_or_insert_with(|| KeyFile::new(now)).clone(),
        };
        let is_agreed = before.as_ref() == Some(&keys);
        let old = text.as_deref();
        if is_agreed || texts.replace(NAME, old, &keys.to_text()).await? {
            return Ok(Agreed { keys, before });
        }
    }
    Err(SharedKeyError::Contended)
}

/// The keys for use at `now`: the newest that every node has had time to find signs.
fn ring(
    keys: &KeyFile,
    shared_since: &HashMap<String, Timestamp>,
    now: Timestamp,
) -> Result<KeyRing, SharedKeyError> {
    let is_spread = |kid: &str| {
        let since = shared_since.get(kid);
        since.is_some_and(|since| now >= *since + SPREAD)
    };
    keys.ring_signing(is_spread)
        .map_err(SharedKeyError::Malformed)
}

#[cfg(test)]
mod tests;
