//! Shared texts of one process, which let others go first as often as a network would.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use ropeline_store::StoreError;

use super::SharedTexts;

#[derive(Debug, Default)]
pub(crate) struct Memory {
    texts: Mutex<HashMap<String, String>>,
    away: AtomicBool,
    loses_answers: AtomicBool,
}

impl Memory {
    pub(crate) fn texts(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_away(&self, away: bool) {
        self.away.store(away, Ordering::Relaxed);
    }

    /// Whether texts are replaced without an answer from now on.
    pub(crate) fn lose_answers(&self, loses: bool) {
        self.loses_answers.store(loses, Ordering::Relaxed);
    }

    async fn reach(&self) -> Result<(), StoreError> {
        tokio::task::yield_now().await;
        if self.away.load(Ordering::Relaxed) {
            return Err(StoreError::Unavailable("it is away".into()));
        }
        Ok(())
    }
}

#[async_trait]
impl SharedTexts for Memory {
    async fn read(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.reach().await?;
        Ok(self.texts().get(name).cloned())
    }

    async fn replace(&self, name: &str, old: Option<&str>, new: &str) -> Result<bool, StoreError> {
        self.reach().await?;
        let mut texts = self.texts();
        let is_old = texts.get(name).map(String::as_str) == old;
        if is_old {
            texts.insert(name.to_owned(), new.to_owned());
        }
        if self.loses_answers.load(Ordering::Relaxed) {
            return Err(StoreError::Unavailable("the answer is lost".into()));
        }
        Ok(is_old)
    }
}
