//! Where the waiting page may send somebody who is let in.
//!
//! An address that anybody can put into a link must not lead to any site that anybody likes. What is not
//! surely ours is dropped, and what is kept is written anew from its parsed form, so that the browser reads
//! the same address as we did.

use url::{Position, Url};

use crate::config::PublicUrl;

/// Longer addresses are cut by some browsers and proxies, and nobody can say what they lead to then.
const LENGTH_MAX: usize = 2_048;
/// Only lends its scheme and host to paths while they are parsed. The name can never be one of ours.
const NOWHERE: &str = "http://nowhere.invalid";

/// Which addresses are allowed.
#[derive(Debug)]
pub(crate) struct ReturnRule {
    /// Hosts as an address has them, with a port where it is not the usual one.
    hosts: Vec<String>,
    https: Https,
}

/// Whether plain http is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Https {
    Required,
    Optional,
}

/// An address that is allowed, as it is written into a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReturnTo(String);

impl ReturnTo {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl ReturnRule {
    /// The hosts of the settings and that of the public address are allowed.
    pub(crate) fn new(return_hosts: &[String], public_url: Option<&PublicUrl>) -> Self {
        let own = public_url.and_then(|url| url.as_str().split_once("://"));
        let own = own.map(|(_, host)| host.to_owned());
        let https = if public_url.is_some_and(PublicUrl::is_https) {
            Https::Required
        } else {
            Https::Optional
        };
        Self {
            hosts: return_hosts.iter().cloned().chain(own).collect(),
            https,
        }
    }

    /// The address, if it is a path on this server or leads to an allowed host.
    pub(crate) fn judge(&self, text: &str) -> Option<ReturnTo> {
        // Browsers take a backslash for a slash, and skip tabs and line ends.
        let odd = |c: char| c == '\\' || c.is_control() || c.is_whitespace();
        if text.len() > LENGTH_MAX || text.contains(odd) {
            return None;
        }
        let address = if text.starts_with('/') {
            own_path(text)
        } else {
            self.absolute(text)
        };
        address
            .filter(|address| address.len() <= LENGTH_MAX)
            .map(ReturnTo)
    }

    fn absolute(&self, text: &str) -> Option<String> {
        let (scheme, _) = text.split_once("://")?;
        let plain = scheme.eq_ignore_ascii_case("http");
        if !plain && !scheme.eq_ignore_ascii_case("https") {
            return None;
        }
        if plain && self.https == Https::Required {
            return None;
        }
        // Parsers skip further slashes here, and people read the host of `https:///x` differently.
        if text[scheme.len() + 3..].starts_with('/') {
            return None;
        }
        let url = Url::parse(text).ok()?;
        let authority = &url[Position::BeforeUsername..Position::BeforePath];
        let allowed = self.hosts.iter().any(|host| host == authority);
        allowed.then(|| url.to_string())
    }
}

/// A path on this server. Dots are resolved first: `/.//x` would else become `//x`, which is a host.
fn own_path(text: &str) -> Option<String> {
    if text.starts_with("//") {
        return None;
    }
    let url = Url::parse(NOWHERE).ok()?.join(text).ok()?;
    let path = &url[Position::BeforePath..];
    let ours = url[..Position::BeforePath] == *NOWHERE && !path.starts_with("//");
    ours.then(|| path.to_owned())
}

#[cfg(test)]
#[path = "return_to_tests.rs"]
mod tests;
