//! The keys at the start: the operators', those that sign, and those that verify logins.

use std::{io, path::Path, sync::Arc};

use arc_swap::ArcSwap;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};

use super::{error::StartError, started::NewAdminKey};
use crate::{
    app::AdminKeyDigest,
    config::{LoginSettings, Settings},
    follow::Followed,
    login::{LoginKeyError, Logins},
    token::{KeyError, KeyFile, KeyRing, random, write_secret},
};

const ADMIN_KEY_FILE: &str = "admin.key";

/// The admin key of the settings, else that of the data directory, made now if there is none.
pub(super) fn admin_key(
    settings: &Settings,
) -> Result<(AdminKeyDigest, Option<NewAdminKey>), StartError> {
    if let Some(key) = &settings.admin_key {
        return Ok((AdminKeyDigest::of(key.reveal()), None));
    }
    let path = settings.data.join(ADMIN_KEY_FILE);
    let fail = |cause| StartError::AdminKey {
        path: path.clone(),
        cause,
    };
    match std::fs::read_to_string(&path) {
        Ok(key) if !key.trim().is_empty() => Ok((AdminKeyDigest::of(key.trim()), None)),
        Ok(_) => Err(fail(io::Error::other(
            "the file is empty; remove it to have a new key made",
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = format!("rladm_{}", BASE64.encode(random::<24>()));
            write_secret(&path, format!("{key}\n").as_bytes()).map_err(fail)?;
            Ok((
                AdminKeyDigest::of(&key),
                Some(NewAdminKey { key, file: path }),
            ))
        }
        Err(error) => Err(fail(error)),
    }
}

pub(super) type Slot<T> = Arc<ArcSwap<T>>;

/// The signing keys, which follow their rotation.
pub(super) fn follow_keys(data: &Path) -> Result<(Slot<KeyRing>, Vec<Followed>), KeyError> {
    let path = KeyFile::path(data);
    let directory = data.to_owned();
    let read = move || {
        let ring = KeyFile::open(&directory)?.ring();
        ring.map_err(|cause| KeyError::Malformed {
            path: KeyFile::path(&directory),
            cause,
        })
    };
    let (keys, followed) = Followed::open("signing keys", path, read)?;
    Ok((keys, vec![followed]))
}

/// The verifier of logins, where there is one, which follows its file of keys.
pub(super) fn follow_logins(
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
