//! The key that opens the admin API.

use std::{io, path::Path};

use reqwest::RequestBuilder;
use ropeline_server::config::Settings;
use ropeline_store::private;

use super::BaseUrl;
use crate::args::TypedFlags;

/// For which servers the key in the data directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyDirectory {
    /// For the one of the settings, since the directory is that of the settings too.
    OfListener,
    /// For any: the operator has typed the directory together with a server, and no key. Flags beat the environment and
    /// the settings file, so the key in it comes first.
    Named,
}

impl KeyDirectory {
    pub(crate) fn of(typed: &TypedFlags, url: Option<&BaseUrl>) -> Self {
        let has_key = typed.have("--admin-key") || typed.have("--admin-key-file");
        if url.is_some() && typed.have("--data") && !has_key {
            Self::Named
        } else {
            Self::OfListener
        }
    }
}

/// The admin key for a server: the one that was given, or the one in the data directory if that is the server's. A key
/// that was found is never shown to another address.
pub(crate) fn admin_key(
    settings: &Settings,
    base: &BaseUrl,
    directory: KeyDirectory,
) -> io::Result<Option<String>> {
    let given = settings.admin_key.as_ref();
    let given = given.map(|key| key.reveal().to_owned());
    let listener = BaseUrl::of_listener(settings.listen).socket();
    let is_listener = base.socket().is_some_and(|socket| Some(socket) == listener);
    match directory {
        KeyDirectory::Named => Ok(key_in(&settings.data)?.or(given)),
        KeyDirectory::OfListener if given.is_none() && is_listener => key_in(&settings.data),
        KeyDirectory::OfListener => Ok(given),
    }
}

fn key_in(data: &Path) -> io::Result<Option<String>> {
    match private::read_secret(&data.join("admin.key")) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn as_operator(request: RequestBuilder, key: &str) -> RequestBuilder {
    request.bearer_auth(key)
}
