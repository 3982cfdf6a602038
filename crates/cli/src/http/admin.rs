//! The key that opens the admin API.

use std::io;

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
    /// For any: the operator has named the directory together with the server.
    Named,
}

impl KeyDirectory {
    pub(crate) fn of(typed: &TypedFlags) -> Self {
        if typed.have("--data") {
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
    if let Some(given) = &settings.admin_key {
        return Ok(Some(given.reveal().to_owned()));
    }
    let listener = BaseUrl::of_listener(settings.listen).socket();
    let is_listener = base.socket().is_some_and(|socket| Some(socket) == listener);
    if directory == KeyDirectory::OfListener && !is_listener {
        return Ok(None);
    }
    match private::read_secret(&settings.data.join("admin.key")) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn as_operator(request: RequestBuilder, key: &str) -> RequestBuilder {
    request.bearer_auth(key)
}
