//! The two stores of a move.

use std::{fmt, path::PathBuf, sync::Arc};

use ropeline_server::{KeyPlace, config::Settings};
use ropeline_store::{Clock, EmbeddedStore, Named, RedisStore, RedisUrl, Store};

use super::trouble::MoveTrouble;

/// A store as it is named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StoreName {
    /// That of the data directory of the settings.
    Embedded,
    /// That of another data directory.
    EmbeddedAt(PathBuf),
    /// One on Redis.
    Redis(RedisUrl),
}

impl StoreName {
    /// An address may hold a password, so it is not repeated where it makes no sense.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix("embedded") {
            Some("") => Ok(Self::Embedded),
            Some(rest) if rest.len() > 1 && rest.starts_with(':') => {
                Ok(Self::EmbeddedAt(PathBuf::from(&rest[1..])))
            }
            _ => text.parse().map(Self::Redis).map_err(|error| {
                format!("{error}; a store is `embedded`, `embedded:DIR` or the address of a Redis")
            }),
        }
    }
}

/// A store that was opened.
#[derive(Debug)]
pub(super) enum Opened {
    Embedded {
        store: EmbeddedStore,
        directory: PathBuf,
    },
    Redis {
        store: Arc<RedisStore>,
        url: RedisUrl,
    },
}

impl Opened {
    pub(super) async fn open(
        name: &StoreName,
        settings: &Settings,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, MoveTrouble> {
        let directory = match name {
            StoreName::Embedded => settings.data.clone(),
            StoreName::EmbeddedAt(directory) => directory.clone(),
            StoreName::Redis(url) => {
                let store = RedisStore::open(url, Arc::clone(clock)).await;
                let store = store.map_err(|cause| MoveTrouble::Redis {
                    url: url.to_string(),
                    cause: cause.to_string(),
                })?;
                return Ok(Self::Redis {
                    store: Arc::new(store),
                    url: url.clone(),
                });
            }
        };
        let store = EmbeddedStore::open(&directory, Arc::clone(clock));
        Ok(Self::Embedded {
            store: store.map_err(MoveTrouble::Open)?,
            directory,
        })
    }

    pub(super) fn store(&self) -> &dyn Store {
        match self {
            Self::Embedded { store, .. } => store,
            Self::Redis { store, .. } => &**store,
        }
    }

    /// What its settings put at risk, worded for the operator.
    pub(super) fn warnings(&self) -> &[String] {
        match self {
            Self::Embedded { .. } => &[],
            Self::Redis { store, .. } => store.warnings(),
        }
    }

    /// Where the keys are that sign its tokens.
    pub(super) fn keys(&self) -> KeyPlace {
        match self {
            Self::Embedded { directory, .. } => KeyPlace::Directory(directory.clone()),
            Self::Redis { store, .. } => KeyPlace::Shared(Arc::clone(store)),
        }
    }

    pub(super) fn named<'a>(&'a self, name: &'a str) -> Named<'a> {
        let store = self.store();
        Named { store, name }
    }
}

/// Without a password.
impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded { directory, .. } => write!(f, "embedded:{}", directory.display()),
            Self::Redis { url, .. } => write!(f, "{url}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_named_by_its_kind_directory_or_address() {
        assert_eq!(StoreName::parse("embedded"), Ok(StoreName::Embedded));
        let at = StoreName::EmbeddedAt("/srv/a:b".into());
        assert_eq!(StoreName::parse("embedded:/srv/a:b"), Ok(at));
        let redis = StoreName::parse("redis://:secret@127.0.0.1:6379/3");
        assert!(matches!(redis, Ok(StoreName::Redis(_))));
    }

    #[test]
    fn nothing_else_is_a_store_and_no_password_is_repeated() {
        for text in [
            "",
            "embedded:",
            "embeddedx",
            "postgres://u:hunter2@host/db",
            "./data",
        ] {
            let wrong = StoreName::parse(text).unwrap_err();
            assert!(wrong.contains("`embedded:DIR`"), "{text}: {wrong}");
            assert!(!wrong.contains("hunter2"), "{wrong}");
        }
    }
}
