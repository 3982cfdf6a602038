//! Keys that operators and services show.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use ropeline_store::private;
use thiserror::Error;

use super::value::Wrong;
use crate::{app::KeyDigest, token::random};

/// Longer than any key that a person or a program makes.
const LENGTH_MAX: usize = 256;
/// Shorter than this can be guessed by trying.
const LENGTH_SAFE: usize = 16;

/// A secret that stands behind `Authorization: Bearer`: the admin key, or the service key.
///
/// It is never printed: not by `Debug`, and there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerKey {
    text: Box<str>,
    file: Option<PathBuf>,
}

impl BearerKey {
    pub(super) fn parse(text: &str) -> Result<Self, Wrong> {
        let fine = text.bytes().all(|byte| byte.is_ascii_graphic());
        if (1..=LENGTH_MAX).contains(&text.len()) && fine {
            Ok(Self {
                text: text.into(),
                file: None,
            })
        } else {
            Err(Wrong::new(
                "must be 1 to 256 printable ASCII characters without spaces",
            ))
        }
    }

    /// Reads the key from a file that holds nothing else; white space around it does not count.
    pub(super) fn read(file: &Path) -> Result<Self, Wrong> {
        let name = file.display();
        let text = private::open_given_secret(file)
            .and_then(io::read_to_string)
            .map_err(|error| Wrong::new(format!("{name} cannot be read: {error}")))?;
        let key = Self::parse(text.trim())
            .map_err(|wrong| Wrong::new(format!("the key in {name} {}", wrong.what)))?;
        Ok(Self {
            file: Some(file.to_owned()),
            ..key
        })
    }

    /// Reads the key that a data directory holds, with the same rules.
    pub(crate) fn read_own(file: &Path) -> io::Result<Self> {
        let text = private::read_secret(file)?;
        Self::parse(text.trim()).map_err(|wrong| io::Error::other(format!("it {}", wrong.what)))
    }

    /// A new key, at random.
    pub(crate) fn generate() -> Self {
        Self {
            text: format!("rladm_{}", BASE64.encode(random::<24>())).into(),
            file: None,
        }
    }

    /// The key itself, for comparing.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// The file that it was read from; `None` if it was given by flag or variable.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Whether a text is the key; found out in the same time for every wrong one.
    pub fn matches(&self, text: &str) -> bool {
        KeyDigest::of(&self.text).matches(text)
    }

    /// Whether the key is so short that it may be guessed.
    pub fn is_short(&self) -> bool {
        self.text.len() < LENGTH_SAFE
    }
}

/// A key may be guessed, since it is short and others than this machine can try keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("must be at least 16 characters long where others than this machine can try keys")]
pub struct ShortKey;

impl fmt::Debug for BearerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let key = BearerKey::parse("correct-horse").unwrap();
        assert_eq!(format!("{key:?}"), "BearerKey(…)");
        assert_eq!(key.reveal(), "correct-horse");
        assert!(key.is_short());
        assert!(key.matches("correct-horse") && !key.matches("correct-horses"));
    }

    #[test]
    fn a_key_fits_into_a_header() {
        for text in ["", "two words", "열쇠", "tab\t", &"x".repeat(257)] {
            assert!(BearerKey::parse(text).is_err(), "{text}");
        }
    }
}
