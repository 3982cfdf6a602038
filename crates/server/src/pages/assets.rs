//! Styles, scripts and pictures of the pages, built into the binary.
//!
//! They are served under one name for all of them, `/assets/<digest of all>/<file>`: a file can name another
//! beside it, and whatever is new has a new address, so that browsers may keep each for as long as they like.

use std::{fmt::Write, sync::LazyLock};

use axum::response::{IntoResponse, Response};
use http::{
    HeaderValue,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use ropeline_web::{NOT_FOUND, Path, Problem};
use sha2::{Digest, Sha256};

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

struct Asset {
    name: &'static str,
    content_type: &'static str,
    content: &'static str,
}

macro_rules! asset {
    ($name:literal, $content_type:ident) => {
        Asset {
            name: $name,
            content_type: $content_type,
            content: include_str!(concat!("../../assets/", $name)),
        }
    };
}

const ASSETS: [Asset; 11] = [
    asset!("page.css", STYLE),
    asset!("admin.css", STYLE),
    asset!("icon.svg", PICTURE),
    asset!("home.js", SCRIPT),
    asset!("wait.js", SCRIPT),
    asset!("source.js", SCRIPT),
    asset!("line.js", SCRIPT),
    asset!("memory.js", SCRIPT),
    asset!("words.js", SCRIPT),
    asset!("admin.js", SCRIPT),
    asset!("plot.js", SCRIPT),
];

static DIGEST: LazyLock<String> = LazyLock::new(|| {
    let all = ASSETS.iter().fold(Sha256::new(), |digest, asset| {
        digest.chain_update(asset.name).chain_update(asset.content)
    });
    let digest: [u8; 32] = all.finalize().into();
    digest[..6].iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes everything");
        text
    })
});

/// Where the assets are, without a slash at its end.
pub(crate) fn base() -> String {
    format!("/assets/{}", *DIGEST)
}

/// One asset. A page of another version of this server may ask for its own: it gets ours, but may not keep it.
pub(crate) async fn asset(
    Path((digest, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    let asset = asset.ok_or_else(|| Problem::new(&NOT_FOUND, "There is no such file."))?;
    let keep = if digest == *DIGEST {
        "public, max-age=31536000, immutable"
    } else {
        "no-store"
    };
    let headers = [(CONTENT_TYPE, asset.content_type), (CACHE_CONTROL, keep)];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    Ok((headers, asset.content).into_response())
}
