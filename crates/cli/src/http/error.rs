//! Why there is no answer.

use std::{error::Error, fmt};

use super::BaseUrl;

/// No answer came, worded for who started the command.
#[derive(Debug)]
pub(crate) struct HttpError(String);

impl HttpError {
    pub(super) fn no_client(error: &reqwest::Error) -> Self {
        Self(format!(
            "cannot speak https: {}; install the system's certificates (on Debian: ca-certificates)",
            deepest(error)
        ))
    }

    pub(super) fn lost(base: &BaseUrl, error: &reqwest::Error) -> Self {
        let cause = deepest(error);
        Self(if error.is_connect() {
            format!("cannot reach {base}: {cause}; is `ropeline serve` running there?")
        } else if error.is_timeout() {
            format!("{base} takes connections but does not answer in time")
        } else {
            format!("the connection to {base} broke: {cause}")
        })
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The outer errors only say that something inside them went wrong.
fn deepest(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = cause.to_string();
    // The number that the system adds tells people nothing.
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.to_lowercase()
}
