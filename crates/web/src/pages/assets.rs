//! Styles, scripts and pictures of the pages, built into the binary.
//!
//! They are served under one name for all of them, `/assets/<digest of all>/<file>`: a file can name another
//! beside it, and whatever is new has a new address, so that browsers may keep each for as long as they like.

use std::fmt::Write;

use axum::response::{IntoResponse, Response};
use http::{
    HeaderValue,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use sha2::{Digest, Sha256};

use crate::{NOT_FOUND, Problem};

/// The content type of style sheets.
pub const STYLE: &str = "text/css; charset=utf-8";
/// The content type of scripts.
pub const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// A file that pages name.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// Its name among the others.
    pub name: &'static str,
    /// What it is.
    pub content_type: &'static str,
    /// What is in it.
    pub content: &'static str,
}

/// A file of the calling crate's `assets` directory, as an [`Asset`].
#[macro_export]
macro_rules! page_asset {
    ($name:literal, $content_type:expr) => {
        $crate::pages::Asset {
            name: $name,
            content_type: $content_type,
            content: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/", $name)),
        }
    };
}
pub use page_asset as asset;

const COMMON: [Asset; 2] = [
    page_asset!("page.css", STYLE),
    page_asset!("icon.svg", PICTURE),
];

/// The files of a service's pages.
#[derive(Debug)]
pub(super) struct Assets {
    files: Vec<Asset>,
    digest: String,
    base: String,
}

impl Assets {
    /// The common files and a service's own, routed under `at`.
    pub(super) fn new(at: &str, own: &[Asset]) -> Self {
        let files = [&COMMON, own].concat();
        let digest = digest(&files);
        Self {
            base: format!("{at}/{digest}"),
            files,
            digest,
        }
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn answer(&self, digest: &str, name: &str) -> Result<Response, Problem> {
        let file = self.files.iter().find(|file| file.name == name);
        let file = file.ok_or_else(|| Problem::new(&NOT_FOUND, "There is no such file."))?;
        let keep = if digest == self.digest {
            "public, max-age=31536000, immutable"
        } else {
            "no-store"
        };
        let headers = [(CONTENT_TYPE, file.content_type), (CACHE_CONTROL, keep)];
        let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
        Ok((headers, file.content).into_response())
    }
}

fn digest(files: &[Asset]) -> String {
    let all = files.iter().fold(Sha256::new(), |digest, file| {
        digest.chain_update(file.name).chain_update(file.content)
    });
    let digest: [u8; 32] = all.finalize().into();
    digest[..6].iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes everything");
        text
    })
}
