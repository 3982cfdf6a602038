//! Shared texts of a server that shares them with nobody: in its data directory, so that they outlive a restart.

use std::{io, path::PathBuf};

use async_trait::async_trait;
use ropeline_store::{StoreError, private};

use super::SharedTexts;
use crate::token::write_secret;

/// A file for each text. The data directory has one server at a time, and who replaces a text does so alone.
#[derive(Debug)]
pub(crate) struct Files {
    directory: PathBuf,
}

impl Files {
    pub(crate) fn of(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.json"))
    }

    fn text(&self, name: &str) -> io::Result<Option<String>> {
        match private::read(&self.path(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }
}

#[async_trait]
impl SharedTexts for Files {
    async fn read(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.text(name).map_err(|error| unavailable(&error))
    }

    async fn replace(&self, name: &str, old: Option<&str>, new: &str) -> Result<bool, StoreError> {
        let before = self.text(name).map_err(|error| unavailable(&error))?;
        if before.as_deref() != old {
            return Ok(false);
        }
        let written = write_secret(&self.path(name), new.as_bytes());
        written.map(|()| true).map_err(|error| unavailable(&error))
    }
}

fn unavailable(error: &io::Error) -> StoreError {
    StoreError::Unavailable(error.to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

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
