//! The operators' key at the start.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    error::StartError,
    started::{AdminKeyNote, NewAdminKey},
};
use crate::{
    app::KeyDigest,
    config::{BearerKey, Settings},
    shared::{Shared, SharedAdminKey, SharedTexts},
    token::{lock_keys, write_secret},
};

const FILE: &str = "admin.key";

/// The key that this node takes, and what the operator is told of it.
pub(super) struct OperatorsKey {
    pub(super) digest: KeyDigest,
    pub(super) note: AdminKeyNote,
    /// What the operator must hear of.
    pub(super) warning: Option<String>,
}

/// The key of the settings, else the one that all nodes take, else that of the data directory, made now if
/// there is none anywhere.
pub(super) async fn admin_key(
    settings: &Settings,
    shared: Option<&dyn SharedTexts>,
) -> Result<OperatorsKey, StartError> {
    match (&settings.admin_key, shared) {
        (Some(key), None) => Ok(OperatorsKey::given(key)),
        (Some(key), Some(texts)) => given_key(key, texts).await,
        (None, None) => {
            let found = OwnKey::find(settings)?;
            let own = found.map_or_else(|| OwnKey::make(&settings.data), Ok)?;
            Ok(own.into_operators_key())
        }
        (None, Some(texts)) => shared_key(settings, texts).await,
    }
}

async fn given_key(key: &BearerKey, texts: &dyn SharedTexts) -> Result<OperatorsKey, StartError> {
    let given = OperatorsKey::given(key);
    let shared = SharedAdminKey::read(texts).await;
    let differs = match shared.map_err(StartError::SharedAdminKey)? {
        Shared::Nothing => false,
        Shared::Key(shared) => shared != given.digest,
        Shared::Junk => true,
    };
    Ok(OperatorsKey {
        warning: differs.then(|| {
            "the admin key that this node was given is not the one that other nodes take: give it to all of them"
                .to_owned()
        }),
        ..given
    })
}

/// The key that the nodes share. Whoever comes first makes it, and keeps it before anybody can hear of it, so
/// that there is never a digest whose key nobody has.
async fn shared_key(
    settings: &Settings,
    texts: &dyn SharedTexts,
) -> Result<OperatorsKey, StartError> {
    let _lock = lock_keys(&settings.data)?;
    let mut own = OwnKey::find(settings)?;
    if let Some(own) = own.as_ref().filter(|own| own.key.is_short()) {
        return Err(own.refuse("must be at least 16 characters long where nodes share its digest"));
    }
    let mut shared = read(texts).await?;
    if shared == Shared::Nothing {
        let offered = own.map_or_else(|| OwnKey::make(&settings.data), Ok)?;
        let is_taken = SharedAdminKey::offer(texts, &offered.digest()).await;
        if is_taken.map_err(StartError::SharedAdminKey)? {
            return Ok(offered.into_operators_key());
        }
        own = offered.discard_if_new()?;
        shared = read(texts).await?;
    }
    match shared {
        Shared::Key(digest) => Ok(OperatorsKey::of_all_nodes(digest, own.as_ref())),
        Shared::Nothing | Shared::Junk => Err(StartError::NoSharedAdminKey),
    }
}

async fn read(texts: &dyn SharedTexts) -> Result<Shared, StartError> {
    let shared = SharedAdminKey::read(texts).await;
    shared.map_err(StartError::SharedAdminKey)
}

impl OperatorsKey {
    /// The digest that this node shares with others, if there are any.
    pub(super) fn shared_digest(&self) -> Option<Arc<KeyDigest>> {
        match self.note {
            AdminKeyNote::Given(_) => None,
            AdminKeyNote::Kept(_) | AdminKeyNote::New(_) | AdminKeyNote::OfFirstNode => {
                Some(Arc::new(self.digest.clone()))
            }
        }
    }

    fn given(key: &BearerKey) -> Self {
        Self {
            digest: KeyDigest::of(key.reveal()),
            note: AdminKeyNote::Given(key.file().map(Path::to_owned)),
            warning: None,
        }
    }

    fn of_all_nodes(digest: KeyDigest, own: Option<&OwnKey>) -> Self {
        match own {
            Some(own) if digest.matches(own.key.reveal()) => Self {
                digest,
                note: AdminKeyNote::Kept(own.file.clone()),
                warning: None,
            },
            own => Self {
                digest,
                note: AdminKeyNote::OfFirstNode,
                warning: own.map(|own| {
                    let file = own.file.display();
                    format!("the admin key in {file} is not the one that the nodes take, and is of no use")
                }),
            },
        }
    }
}

/// The key in a node's data directory.
struct OwnKey {
    key: BearerKey,
    file: PathBuf,
    /// Whether it was made just now.
    is_new: bool,
}

impl OwnKey {
    fn find(settings: &Settings) -> Result<Option<Self>, StartError> {
        let file = settings.data.join(FILE);
        let key = match BearerKey::read_own(&file) {
            Ok(key) => key,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(StartError::AdminKey { path: file, cause }),
        };
        let own = Self {
            key,
            file,
            is_new: false,
        };
        match settings.judge_length(&own.key) {
            Ok(()) => Ok(Some(own)),
            Err(short) => Err(own.refuse(&short.to_string())),
        }
    }

    fn make(data: &Path) -> Result<Self, StartError> {
        let (key, file) = (BearerKey::generate(), data.join(FILE));
        match write_secret(&file, format!("{}\n", key.reveal()).as_bytes()) {
            Ok(()) => Ok(Self {
                key,
                file,
                is_new: true,
            }),
            Err(cause) => Err(StartError::AdminKey { path: file, cause }),
        }
    }

    fn refuse(&self, wrong: &str) -> StartError {
        let cause = format!("it {wrong}; remove the file to have a new key made");
        StartError::AdminKey {
            path: self.file.clone(),
            cause: io::Error::other(cause),
        }
    }

    fn digest(&self) -> KeyDigest {
        KeyDigest::of(self.key.reveal())
    }

    /// Removes a key that was made just now, since another node was faster and nobody has heard of this one.
    fn discard_if_new(self) -> Result<Option<Self>, StartError> {
        if !self.is_new {
            return Ok(Some(self));
        }
        match std::fs::remove_file(&self.file) {
            Ok(()) => Ok(None),
            Err(cause) => Err(StartError::AdminKey {
                path: self.file,
                cause,
            }),
        }
    }

    fn into_operators_key(self) -> OperatorsKey {
        let digest = self.digest();
        let Self { key, file, is_new } = self;
        let warning = key.is_short().then(|| {
            format!(
                "the admin key in {} is shorter than 16 characters and may be guessed",
                file.display()
            )
        });
        let note = if is_new {
            let key = key.reveal().to_owned();
            AdminKeyNote::New(NewAdminKey { key, file })
        } else {
            AdminKeyNote::Kept(file)
        };
        OperatorsKey {
            digest,
            note,
            warning,
        }
    }
}

#[cfg(test)]
mod tests {
    use ropeline_testing::write_secret;
    use tempfile::TempDir;

    use super::*;
    use crate::{config::Overrides, shared::memory::Memory};

    fn settings(data: &TempDir, admin_key: Option<&str>) -> Settings {
        let overrides = Overrides {
            data: Some(data.path().to_owned()),
            admin_key: admin_key.map(str::to_owned),
            ..Overrides::default()
        };
        Settings::from_text("", &overrides).unwrap()
    }

    async fn start(data: &TempDir, given: Option<&str>, texts: &Memory) -> OperatorsKey {
        let started = admin_key(&settings(data, given), Some(texts)).await;
        started.unwrap_or_else(|error| panic!("{error}"))
    }

    fn directory() -> TempDir {
        tempfile::tempdir().unwrap()
    }

    #[tokio::test]
    async fn of_nodes_that_start_together_one_makes_the_key_that_all_take() {
        for _ in 0..20 {
            let (texts, [a, b]) = (Memory::default(), [directory(), directory()]);
            let started = tokio::join!(start(&a, None, &texts), start(&b, None, &texts));
            let (first, second, of_second) = match (&started.0.note, &started.1.note) {
                (AdminKeyNote::New(_), AdminKeyNote::OfFirstNode) => (started.0, started.1, &b),
                (AdminKeyNote::OfFirstNode, AdminKeyNote::New(_)) => (started.1, started.0, &a),
                notes => panic!("{notes:?}"),
            };
            let AdminKeyNote::New(NewAdminKey { key, file }) = first.note else {
                panic!("it was new above");
            };
            assert!(first.digest.matches(&key) && second.digest.matches(&key));
            assert_eq!(std::fs::read_to_string(file).unwrap().trim(), key);
            assert!(!of_second.path().join(FILE).exists());
        }
    }

    #[tokio::test]
    async fn who_has_the_shared_key_is_told_nothing_and_who_has_another_is_warned() {
        let (texts, [first, second]) = (Memory::default(), [directory(), directory()]);
        start(&first, None, &texts).await;
        let again = start(&first, None, &texts).await;
        assert!(matches!(again.note, AdminKeyNote::Kept(_)) && again.warning.is_none());
        write_secret(&second.path().join(FILE), "another-key-than-the-shared-one");
        let other = start(&second, None, &texts).await;
        assert!(matches!(other.note, AdminKeyNote::OfFirstNode));
        assert!(other.warning.unwrap().contains("is of no use"));
        assert_eq!(other.digest, again.digest);
    }

    #[tokio::test]
    async fn a_given_key_is_not_shared_and_is_warned_of_if_others_take_another() {
        let (texts, [first, second]) = (Memory::default(), [directory(), directory()]);
        let given = start(&first, Some("given"), &texts).await;
        assert!(given.warning.is_none() && texts.texts().is_empty());
        let made = start(&second, None, &texts).await;
        assert!(matches!(made.note, AdminKeyNote::New(_)));
        let given = start(&first, Some("given"), &texts).await;
        assert!(given.digest.matches("given"));
        assert!(given.warning.unwrap().contains("give it to all of them"));
    }

    #[tokio::test]
    async fn a_short_key_in_the_data_directory_is_refused_where_others_can_try_keys() {
        let data = directory();
        write_secret(&data.path().join(FILE), "abc\n");
        let overrides = Overrides {
            data: Some(data.path().to_owned()),
            ..Overrides::default()
        };
        let start = async |text: &str, texts| {
            let settings = Settings::from_text(text, &overrides).unwrap();
            let started = admin_key(&settings, texts).await;
            started.map_err(|error| error.to_string())
        };
        let alone = start("", None).await.unwrap();
        assert!(alone.digest.matches("abc"));
        assert!(alone.warning.unwrap().contains("shorter than 16"));
        for text in ["listen = '0.0.0.0:80'", "trusted_proxies = ['10.0.0.0/8']"] {
            let refused = start(text, None).await.err().unwrap();
            for part in ["at least 16 characters", "admin.key", "remove"] {
                assert!(refused.contains(part), "{refused}");
            }
            assert!(!refused.contains("abc"), "{refused}");
        }
        // Anybody who can read Redis could find the key by its digest.
        let texts = Memory::default();
        assert!(start("", Some(&texts)).await.is_err());
        assert!(texts.texts().is_empty());
    }

    #[tokio::test]
    async fn a_key_in_the_data_directory_that_no_header_can_hold_is_refused() {
        let data = directory();
        for text in [
            "",
            "\n",
            "two words of some length",
            "열쇠열쇠열쇠열쇠열쇠열쇠열쇠열쇠",
        ] {
            write_secret(&data.path().join(FILE), text);
            assert!(
                admin_key(&settings(&data, None), None).await.is_err(),
                "{text}"
            );
        }
    }

    #[tokio::test]
    async fn a_start_without_the_store_or_with_junk_in_it_makes_no_key() {
        let (texts, data) = (Memory::default(), directory());
        texts.set_away(true);
        let settings = settings(&data, None);
        assert!(admin_key(&settings, Some(&texts)).await.is_err());
        texts.set_away(false);
        texts.texts().insert("admin-key".into(), "junk".into());
        assert!(admin_key(&settings, Some(&texts)).await.is_err());
        assert!(!data.path().join(FILE).exists());
    }
}
