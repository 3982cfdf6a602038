//! Sessions of the operators' page.
//!
//! A session is a signed cookie and nothing else, so it outlives a restart and holds on every node that has
//! the same admin key. Another admin key ends all of them.

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderValue, header::COOKIE};
use ropeline_core::Timestamp;
use ropeline_gate::Cookies;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::{app::KeyDigest, token::random};

/// A night of sales, and no longer.
const LIFE: Duration = Duration::from_secs(12 * 3_600);
/// No room can have this name, so no room's cookie does.
const NAME: &str = "_admin";

/// Opens sessions and recognises them.
#[derive(Debug)]
pub(crate) struct Sessions {
    key: Arc<ArcSwap<KeyDigest>>,
    cookies: Cookies,
}

/// A session that is good.
#[derive(Debug)]
pub(crate) struct Session {
    /// What the page has to show with every change.
    csrf: String,
}

impl Sessions {
    pub(crate) fn new(key: Arc<ArcSwap<KeyDigest>>, cookies: Cookies) -> Self {
        Self { key, cookies }
    }

    /// The header that gives a new session to the browser.
    pub(crate) fn open(&self, now: Timestamp) -> HeaderValue {
        let expires = now + LIFE;
        let body = format!("{}.{}", expires.0, BASE64.encode(random::<16>()));
        let value = format!("{body}.{}", self.sign("session", &body));
        self.cookies.set_strict(NAME, &value, LIFE.as_secs())
    }

    /// The header that takes it away.
    pub(crate) fn close(&self) -> HeaderValue {
        self.cookies.set_strict(NAME, "", 0)
    }

    /// The session of a request.
    pub(crate) fn find(&self, headers: &HeaderMap, now: Timestamp) -> Option<Session> {
        let value = self.cookies.find(headers.get_all(COOKIE), NAME)?;
        let (body, mac) = value.rsplit_once('.')?;
        let signed = self.sign("session", body);
        bool::from(signed.as_bytes().ct_eq(mac.as_bytes())).then_some(())?;
        let (expires, _) = body.split_once('.')?;
        (now.0 < expires.parse().ok()?).then(|| Session {
            csrf: self.sign("csrf", body),
        })
    }

    fn sign(&self, purpose: &str, body: &str) -> String {
        let mac = Hmac::<Sha256>::new_from_slice(self.key.load().as_bytes());
        let mut mac = mac.expect("HMAC takes keys of any length");
        mac.update(format!("{purpose}.{body}").as_bytes());
        BASE64.encode(mac.finalize().into_bytes())
    }
}

impl Session {
    /// What the page has to send with every change.
    pub(crate) fn csrf(&self) -> &str {
        &self.csrf
    }

    pub(crate) fn csrf_matches(&self, token: &str) -> bool {
        self.csrf.as_bytes().ct_eq(token.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn sessions(key: &str) -> Sessions {
        let key = Arc::new(ArcSwap::from_pointee(KeyDigest::of(key)));
        Sessions::new(key, Cookies::Plain)
    }

    /// A request with the cookie that a browser would send back.
    fn request(set: &HeaderValue) -> HeaderMap {
        let pair = set.to_str().unwrap().split(';').next().unwrap();
        HeaderMap::from_iter([(COOKIE, HeaderValue::try_from(pair).unwrap())])
    }

    #[test]
    fn a_session_is_good_for_a_night() {
        let sessions = sessions("key");
        let request = request(&sessions.open(NOW));
        assert!(sessions.find(&request, NOW).is_some());
        let late = NOW + LIFE;
        assert!(
            sessions
                .find(&request, late - Duration::from_secs(1))
                .is_some()
        );
        assert!(sessions.find(&request, late).is_none());
    }

    #[test]
    fn a_session_of_another_key_is_none() {
        let request = request(&sessions("key").open(NOW));
        assert!(sessions("other").find(&request, NOW).is_none());
        assert!(sessions("key").find(&HeaderMap::new(), NOW).is_none());
    }

    #[test]
    fn no_character_of_the_cookie_can_be_changed() {
        let sessions = sessions("key");
        let cookie = sessions.open(NOW);
        let value = cookie.to_str().unwrap().split(';').next().unwrap();
        for at in "rl__admin=".len()..value.len() {
            let mut bytes = value.as_bytes().to_vec();
            bytes[at] = if bytes[at] == b'1' { b'2' } else { b'1' };
            let forged = HeaderValue::from_bytes(&bytes).unwrap();
            assert!(sessions.find(&request(&forged), NOW).is_none(), "at {at}");
        }
    }

    #[test]
    fn each_session_has_its_own_token_against_forgery() {
        let sessions = sessions("key");
        let [a, b] = [(), ()].map(|()| {
            let request = request(&sessions.open(NOW));
            sessions.find(&request, NOW).unwrap()
        });
        assert!(a.csrf_matches(a.csrf()));
        assert!(!a.csrf_matches(b.csrf()));
        assert!(!a.csrf_matches(""));
    }

    #[test]
    fn other_sites_and_scripts_never_have_the_cookie() {
        let key = Arc::new(ArcSwap::from_pointee(KeyDigest::of("key")));
        let sessions = Sessions::new(key, Cookies::HostOnly);
        let cookie = sessions.open(NOW);
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.starts_with("__Host-rl__admin="), "{cookie}");
        assert!(cookie.ends_with("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure"));
    }
}
