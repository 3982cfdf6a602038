//! The key that opens the admin API.

use std::fs;

use reqwest::RequestBuilder;
use ropeline_server::config::Settings;

use super::BaseUrl;

/// The admin key for a server: the one that was given, or the one that lies in the data directory, if the
/// server is the one of these settings. A key that was found is never shown to another address.
pub(crate) fn admin_key(settings: &Settings, base: &BaseUrl) -> Option<String> {
    if let Some(given) = &settings.admin_key {
        return Some(given.reveal().to_owned());
    }
    if base.socket()? != BaseUrl::of_listener(settings.listen).socket()? {
        return None;
    }
    let text = fs::read_to_string(settings.data.join("admin.key")).ok()?;
    Some(text.trim().to_owned())
}

pub(crate) fn as_operator(request: RequestBuilder, key: &str) -> RequestBuilder {
    request.bearer_auth(key)
}
