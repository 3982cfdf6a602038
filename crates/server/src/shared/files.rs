//! Shared texts of a server that shares them with nobody: in its data directory, so that they outlive a restart.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use ropeline_store::{StoreError, private};

use super::SharedTexts;
use crate::token::write_secret;

/// A file for each text. The data directory has one server at a time, and who replaces a text does so alone.
#[derive(Debug)]
pub(crate) struct Files {
    directory: PathBuf,
    /// Held while a text is replaced, which goes on if nobody waits for it any more.
    replacing: Arc<Mutex<()>>,
}

impl Files {
    pub(crate) fn of(directory: PathBuf) -> Self {
        Self {
            directory,
            replacing: Arc::default(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.json"))
    }
}

#[async_trait]
impl SharedTexts for Files {
    async fn read(&self, name: &str) -> Result<Option<String>, StoreError> {
        let path = self.path(name);
        blocking(move || text(&path)).await
    }

    async fn replace(&self, name: &str, old: Option<&str>, new: &str) -> Result<bool, StoreError> {
        let (path, replacing) = (self.path(name), Arc::clone(&self.replacing));
        let (old, new) = (old.map(str::to_owned), new.to_owned());
        blocking(move || {
            let _replacing = replacing.lock().unwrap_or_else(PoisonError::into_inner);
            if text(&path)? != old {
                return Ok(false);
            }
            write_secret(&path, new.as_bytes())?;
            Ok(true)
        })
        .await
    }
}

/// Runs what waits for the disk where it holds up no connection.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.unwrap_or_else(|stopped| Err(stopped.into()));
    done.map_err(|error| StoreError::Unavailable(error.to_string().into()))
}

fn text(path: &Path) -> io::Result<Option<String>> {
    match private::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, task::Poll};

    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn a_slow_disk_holds_up_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let files = Files::of(directory.path().to_owned());
        let runtime = Builder::new_current_thread().build().unwrap();
        let mut replaced = files.replace("list", None, "a");
        let busy = files.replacing.lock().unwrap();
        let waits = poll_fn(|cx| Poll::Ready(replaced.as_mut().poll(cx).is_pending()));
        assert!(runtime.block_on(waits), "the loop goes on");
        drop(busy);
        assert_eq!(runtime.block_on(replaced), Ok(true));
    }

    #[tokio::test]
    async fn a_text_outlives_a_restart_and_is_replaced_only_by_who_knows_it() {
        let directory = tempfile::tempdir().unwrap();
        let files = || Files::of(directory.path().to_owned());
        assert_eq!(files().read("list").await, Ok(None));
        assert_eq!(files().replace("list", Some("x"), "a").await, Ok(false));
        assert_eq!(files().replace("list", None, "a").await, Ok(true));
        assert_eq!(files().replace("list", None, "b").await, Ok(false));
        assert_eq!(files().read("list").await, Ok(Some("a".to_owned())));
        assert_eq!(files().replace("list", Some("a"), "b").await, Ok(true));
        assert_eq!(files().read("list").await, Ok(Some("b".to_owned())));
    }
}
