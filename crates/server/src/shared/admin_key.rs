//! The operators' key that all nodes take.
//!
//! Only its digest is shared, so only the node that made it has it. A key that the operator has given to a
//! node is not shared at all: it may be short enough to be guessed from its digest.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use ropeline_store::StoreError;

use super::SharedTexts;
use crate::app::KeyDigest;

/// The name of the text.
const NAME: &str = "admin-key";

/// Keeps the digest of the key that nodes share in the store, for as long as this node takes that key.
#[derive(Debug)]
pub(crate) struct SharedAdminKey {
    texts: Arc<dyn SharedTexts>,
    digest: SharedDigest,
}

/// The digest that a node shares; none while it takes a key that the operator has given to it.
pub(crate) type SharedDigest = Arc<ArcSwapOption<KeyDigest>>;

/// What the nodes share as the operators' key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shared {
    /// This one.
    Key(KeyDigest),
    /// None so far.
    Nothing,
    /// Something that is not the digest of a key.
    Junk,
}

impl SharedAdminKey {
    pub(crate) fn new(texts: Arc<dyn SharedTexts>, digest: SharedDigest) -> Self {
        Self { texts, digest }
    }

    /// What is shared now.
    pub(crate) async fn read(texts: &dyn SharedTexts) -> Result<Shared, StoreError> {
        let text = texts.read(NAME).await?;
        Ok(match text.as_deref().map(KeyDigest::from_text) {
            None => Shared::Nothing,
            Some(Some(digest)) => Shared::Key(digest),
            Some(None) => Shared::Junk,
        })
    }

    /// Shares a key where there is none; `false` if there is one by now.
    pub(crate) async fn offer(
        texts: &dyn SharedTexts,
        digest: &KeyDigest,
    ) -> Result<bool, StoreError> {
        texts.replace(NAME, None, &digest.to_text()).await
    }

    /// Shares the key again if the store has lost it, and says so if the nodes no longer agree.
    pub(super) async fn look(&self) -> Result<Option<String>, StoreError> {
        let Some(ours) = self.digest.load_full() else {
            return Ok(None);
        };
        match Self::read(&*self.texts).await? {
            Shared::Key(digest) if digest == *ours => Ok(None),
            Shared::Nothing => {
                Self::offer(&*self.texts, &ours).await?;
                Ok(None)
            }
            Shared::Key(_) | Shared::Junk => Ok(Some(
                "other nodes take another admin key than this one: reload the settings of this node (SIGHUP) or restart it to take theirs"
                    .to_owned(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::memory::Memory;

    fn slot(digest: &KeyDigest) -> SharedDigest {
        Arc::new(ArcSwapOption::from_pointee(digest.clone()))
    }

    #[tokio::test]
    async fn the_first_key_is_the_one_and_is_put_back_when_it_is_lost() {
        let texts = Arc::new(Memory::default());
        let [first, second] = ["first", "second"].map(KeyDigest::of);
        assert_eq!(SharedAdminKey::read(&*texts).await, Ok(Shared::Nothing));
        assert_eq!(SharedAdminKey::offer(&*texts, &first).await, Ok(true));
        assert_eq!(SharedAdminKey::offer(&*texts, &second).await, Ok(false));
        let shared = Shared::Key(first.clone());
        assert_eq!(SharedAdminKey::read(&*texts).await, Ok(shared));

        let kept = SharedAdminKey::new(Arc::clone(&texts) as _, slot(&first));
        texts.texts().clear();
        assert_eq!(kept.look().await, Ok(None));
        let shared = Shared::Key(first);
        assert_eq!(SharedAdminKey::read(&*texts).await, Ok(shared));
    }

    #[tokio::test]
    async fn a_node_whose_key_is_another_says_so() {
        let texts = Arc::new(Memory::default());
        let [ours, theirs] = ["ours", "theirs"].map(KeyDigest::of);
        SharedAdminKey::offer(&*texts, &theirs).await.unwrap();
        let ours = SharedAdminKey::new(Arc::clone(&texts) as _, slot(&ours));
        assert!(ours.look().await.unwrap().is_some());
        let text = texts.texts()[NAME].clone();
        assert_eq!(KeyDigest::from_text(&text), Some(theirs));
        assert!(!text.contains("theirs"), "only the digest is shared");
    }

    #[tokio::test]
    async fn a_node_that_was_given_its_key_neither_shares_nor_compares_it() {
        let texts = Arc::new(Memory::default());
        let digest = SharedDigest::default();
        let node = SharedAdminKey::new(Arc::clone(&texts) as _, Arc::clone(&digest));
        assert_eq!(node.look().await, Ok(None));
        assert!(texts.texts().is_empty());
        let theirs = KeyDigest::of("theirs");
        SharedAdminKey::offer(&*texts, &theirs).await.unwrap();
        assert_eq!(node.look().await, Ok(None));
        digest.store(Some(Arc::new(KeyDigest::of("ours"))));
        assert!(node.look().await.unwrap().is_some());
    }

    #[tokio::test]
    async fn what_is_no_digest_is_left_alone() {
        let texts = Memory::default();
        for junk in ["", "x", "sha256:", "sha256:AAAA"] {
            texts.texts().insert(NAME.to_owned(), junk.to_owned());
            assert_eq!(SharedAdminKey::read(&texts).await, Ok(Shared::Junk));
        }
    }
}
