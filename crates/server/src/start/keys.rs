//! The keys at the start: those that sign, those that verify logins, and the operators'.

use std::{path::Path, sync::Arc};

use arc_swap::{ArcSwap, ArcSwapOption};
use ropeline_store::Clock;

use super::{
    admin_key::{OperatorsKey, admin_key},
    error::StartError,
};
use crate::{
    app::KeyDigest,
    config::{LoginSettings, Settings},
    follow::{Followed, Following},
    login::{LoginKeyError, Logins},
    shared::{SharedAdminKey, SharedDigest, SharedKeyError, SharedKeys, SharedTexts, Sharing},
    token::{KeyError, KeyFile, KeyRing},
};

/// Replaced as a whole whenever its source changes.
pub(super) type Slot<T> = Arc<ArcSwap<T>>;

/// Every key that the server needs.
pub(super) struct Keys {
    pub(super) signing: Slot<KeyRing>,
    pub(super) logins: Option<Slot<Logins>>,
    pub(super) operators: OperatorsKey,
    /// The digest of the operators' key, replaced when the settings are reloaded.
    pub(super) admin_key: Slot<KeyDigest>,
    /// The digest of the key that nodes share, replaced at the same time.
    pub(super) shared_digest: SharedDigest,
    /// Files whose changes are taken up while the server runs.
    pub(super) followed: Following,
    /// What is done meanwhile to have the same keys as other nodes, where there may be any.
    pub(super) sharing: Option<Sharing>,
}

pub(super) async fn open(
    settings: &Settings,
    shared: Option<Arc<dyn SharedTexts>>,
    clock: &Arc<dyn Clock>,
) -> Result<Keys, StartError> {
    let mut followed = Vec::new();
    let logins = follow_logins(&settings.login, &mut followed)?;
    let operators = admin_key(settings, shared.as_deref()).await?;
    let digest = Arc::new(ArcSwap::from_pointee(operators.digest.clone()));
    let shared_digest = Arc::new(ArcSwapOption::new(operators.shared_digest()));
    let (signing, sharing) = match shared {
        None => {
            let (signing, file) = follow_keys(&settings.data, clock)?;
            followed.push(file);
            (signing, None)
        }
        Some(texts) => {
            let keys = shared_keys(&settings.data, &texts, clock).await?;
            let admin_key = SharedAdminKey::new(texts, Arc::clone(&shared_digest));
            (keys.ring(), Some(Sharing { keys, admin_key }))
        }
    };
    Ok(Keys {
        signing,
        logins,
        operators,
        admin_key: digest,
        shared_digest,
        followed: Following::of(followed),
        sharing,
    })
}

/// The signing keys as they are now, for a command that is soon over.
pub(super) async fn signing_keys(
    settings: &Settings,
    shared: Option<Arc<dyn SharedTexts>>,
    clock: &Arc<dyn Clock>,
) -> Result<Slot<KeyRing>, StartError> {
    Ok(match shared {
        None => follow_keys(&settings.data, clock)?.0,
        Some(texts) => shared_keys(&settings.data, &texts, clock).await?.ring(),
    })
}

async fn shared_keys(
    data: &Path,
    texts: &Arc<dyn SharedTexts>,
    clock: &Arc<dyn Clock>,
) -> Result<SharedKeys, SharedKeyError> {
    SharedKeys::open(Arc::clone(texts), data.to_owned(), Arc::clone(clock)).await
}

/// The signing keys of a node that shares them with nobody, made now if there are none. They follow their
/// rotation.
fn follow_keys(data: &Path, clock: &Arc<dyn Clock>) -> Result<(Slot<KeyRing>, Followed), KeyError> {
    KeyFile::open_or_create(data, clock.now())?;
    let path = KeyFile::path(data);
    let directory = data.to_owned();
    let read = move || {
        let ring = KeyFile::open(&directory)?.ring();
        ring.map_err(|cause| KeyError::Malformed {
            path: KeyFile::path(&directory),
            cause,
        })
    };
    Followed::open("signing keys", path, read)
}

/// The verifier of logins, where there is one, which follows its file of keys.
fn follow_logins(
    settings: &LoginSettings,
    followed: &mut Vec<Followed>,
) -> Result<Option<Slot<Logins>>, LoginKeyError> {
    let Some(source) = settings.source.clone() else {
        return Ok(None);
    };
    let (path, leeway) = (source.keys.path().to_owned(), settings.leeway);
    let read = move || Logins::open(&source, leeway);
    let (logins, file) = Followed::open("keys of logins", path, read)?;
    followed.push(file);
    Ok(Some(logins))
}
