//! Sessions of the operators' page.
//!
//! A session is a signed cookie, and is good as long as the list of open sessions has it. The list outlives a restart and
//! is the same on every node, so a session can be ended for all of them. Another admin key ends all sessions.

use std::{net::IpAddr, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderValue, header::COOKIE};
use ropeline_core::Timestamp;
use ropeline_gate::Cookies;
use ropeline_store::StoreError;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::open_sessions::{Change, OpenSession, OpenSessions};
use crate::{app::KeyDigest, shared::SharedTexts, token::random};

/// A night of sales, and no longer.
const LIFE: Duration = Duration::from_secs(12 * 3_600);
/// How often at most it is written down that a session is used.
const USED_EVERY: Duration = Duration::from_secs(60);
/// No room can have this name, so no room's cookie does.
const NAME: &str = "_admin";
/// Opens sessions, recognises them and ends them.
#[derive(Debug)]
pub(crate) struct Sessions {
    key: Arc<ArcSwap<KeyDigest>>,
    cookies: Cookies,
    open: OpenSessions,
}

/// A session that is good.
#[derive(Debug)]
pub(crate) struct Session {
    id: String,
    /// What the page has to show with every change.
    csrf: String,
}

impl Sessions {
    pub(crate) fn new(
        key: Arc<ArcSwap<KeyDigest>>,
        cookies: Cookies,
        texts: Arc<dyn SharedTexts>,
    ) -> Self {
        Self {
            key,
            cookies,
            open: OpenSessions::kept_in(texts),
        }
    }

    /// Opens a session: its id, and the header that gives it to the browser.
    pub(crate) async fn open(&self, address: IpAddr, now: Timestamp) -> (String, HeaderValue) {
        let expires = now + LIFE;
        let body = format!("{}.{}", expires.0, BASE64.encode(random::<16>()));
        let value = format!("{body}.{}", self.sign("session", &body));
        let id = self.id_of(&body);
        let session = OpenSession {
            id: id.clone(),
            key: self.key_name(),
            opened_at: now,
            used_at: now,
            expires_at: expires,
            address,
        };
        // Operators log in also while the store is away: then the session holds on this node.
        self.open.change(&Change::Open(session), now).await.ok();
        (id, self.cookies.set_strict(NAME, &value, LIFE.as_secs()))
    }

    /// The header that takes a session away from the browser.
    pub(crate) fn forget(&self) -> HeaderValue {
        self.cookies.set_strict(NAME, "", 0)
    }

    /// The session of a request, if it is open.
    pub(crate) async fn find(&self, headers: &HeaderMap, now: Timestamp) -> Option<Session> {
        let session = self.signed(headers, now)?;
        let open = self.open.find(&session.id, now).await?;
        if now >= open.used_at + USED_EVERY {
            // Nothing depends on it, so it may fail.
            self.open
                .change(&Change::Use(session.id.clone()), now)
                .await
                .ok();
        }
        Some(session)
    }

    /// Ends a session; `false` if there is none of that id.
    pub(crate) async fn end(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let before = self.list(now).await;
        self.open.change(&Change::End(id.to_owned()), now).await?;
        Ok(before?.iter().any(|session| session.id == id))
    }

    /// Ends every session, and says how many there were.
    pub(crate) async fn end_all(&self, now: Timestamp) -> Result<usize, StoreError> {
        let before = self.list(now).await;
        self.open.change(&Change::EndAll, now).await?;
        Ok(before?.len())
    }

    /// The sessions that are open, the oldest first.
    pub(crate) async fn list(&self, now: Timestamp) -> Result<Vec<OpenSession>, StoreError> {
        let key = self.key_name();
        let mut sessions = self.open.list(now).await?;
        sessions.retain(|session| session.key == key);
        Ok(sessions)
    }

    /// Takes up what other nodes have changed.
    pub(crate) async fn look(&self, now: Timestamp) {
        self.open.look(now).await;
    }

    /// A session whose cookie we have signed and whose time is not over.
    fn signed(&self, headers: &HeaderMap, now: Timestamp) -> Option<Session> {
        let value = self.cookies.find(headers.get_all(COOKIE), NAME)?;
        let (body, mac) = value.rsplit_once('.')?;
        let signed = self.sign("session", body);
        bool::from(signed.as_bytes().ct_eq(mac.as_bytes())).then_some(())?;
        let (expires, _) = body.split_once('.')?;
        (now.0 < expires.parse().ok()?).then(|| Session {
            id: self.id_of(body),
            csrf: self.sign("csrf", body),
        })
    }

    /// The id says nothing of the cookie, so a list of ids may be read by many.
    fn id_of(&self, body: &str) -> String {
        self.digest("id", body)
    }

    /// What tells the keys apart with which sessions were opened.
    fn key_name(&self) -> String {
        self.digest("key", "")
    }

    fn sign(&self, purpose: &str, body: &str) -> String {
        BASE64.encode(self.mac(purpose, body))
    }

    /// 128 bits in hexadecimal. Nobody who reads ids, and knows the digest of the admin key from Redis, can find a cookie
    /// for one. No id begins with `-`, which command lines would take for a flag.
    fn digest(&self, purpose: &str, body: &str) -> String {
        let mac = self.mac(purpose, body);
        let (beginning, _) = mac.split_first_chunk().expect("it has 32 bytes");
        format!("{:032x}", u128::from_be_bytes(*beginning))
    }

    fn mac(&self, purpose: &str, body: &str) -> [u8; 32] {
        let mac = Hmac::<Sha256>::new_from_slice(self.key.load().as_bytes());
        let mut mac = mac.expect("HMAC takes keys of any length");
        mac.update(format!("{purpose}.{body}").as_bytes());
        mac.finalize().into_bytes().into()
    }
}

impl Session {
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

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
    use crate::shared::memory::Memory;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);
    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn node(key: &str, texts: &Arc<Memory>) -> Sessions {
        let key = Arc::new(ArcSwap::from_pointee(KeyDigest::of(key)));
        Sessions::new(key, Cookies::Plain, Arc::clone(texts) as _)
    }

    fn sessions(key: &str) -> Sessions {
        node(key, &Arc::default())
    }

    /// A request with the cookie that a browser would send back.
    fn request(set: &HeaderValue) -> HeaderMap {
        let pair = set.to_str().unwrap().split(';').next().unwrap();
        HeaderMap::from_iter([(COOKIE, HeaderValue::try_from(pair).unwrap())])
    }

    /// Opens a session: its id, and a request of its browser.
    async fn opened(sessions: &Sessions, now: Timestamp) -> (String, HeaderMap) {
        let (id, cookie) = sessions.open(HERE, now).await;
        (id, request(&cookie))
    }

    #[tokio::test]
    async fn a_session_is_good_for_a_night() {
        let sessions = sessions("key");
        let (_, request) = opened(&sessions, NOW).await;
        assert!(sessions.find(&request, NOW).await.is_some());
        let late = NOW + LIFE;
        let just_before = Timestamp(late.0 - 1_000);
        assert!(sessions.find(&request, just_before).await.is_some());
        assert!(sessions.find(&request, late).await.is_none());
        assert!(sessions.list(late).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn an_id_can_be_written_on_a_command_line() {
        let sessions = sessions("key");
        for _ in 0..10 {
            let (id, _) = sessions.open(HERE, NOW).await;
            let is_plain = id.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_plain && id.len() == 32, "{id}");
        }
    }

    #[tokio::test]
    async fn a_session_of_another_key_is_none() {
        let texts = Arc::default();
        let (sessions, other) = (node("key", &texts), node("other", &texts));
        let (id, request) = opened(&sessions, NOW).await;
        assert!(other.find(&request, NOW).await.is_none());
        assert!(other.list(NOW).await.unwrap().is_empty());
        assert!(!other.end(&id, NOW).await.unwrap());
        assert!(sessions.find(&HeaderMap::new(), NOW).await.is_none());
    }

    #[tokio::test]
    async fn another_key_ends_the_sessions_of_a_running_server() {
        let sessions = sessions("key");
        let (_, request) = opened(&sessions, NOW).await;
        sessions.key.store(Arc::new(KeyDigest::of("another")));
        assert!(sessions.find(&request, NOW).await.is_none());
        assert!(sessions.list(NOW).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn no_character_of_the_cookie_can_be_changed() {
        let sessions = sessions("key");
        let (_, cookie) = sessions.open(HERE, NOW).await;
        let value = cookie.to_str().unwrap().split(';').next().unwrap();
        for at in "rl__admin=".len()..value.len() {
            let mut bytes = value.as_bytes().to_vec();
            bytes[at] = if bytes[at] == b'1' { b'2' } else { b'1' };
            let forged = HeaderValue::from_bytes(&bytes).unwrap();
            assert!(
                sessions.find(&request(&forged), NOW).await.is_none(),
                "at {at}"
            );
        }
    }

    #[tokio::test]
    async fn each_session_has_its_own_token_against_forgery() {
        let sessions = sessions("key");
        let mut found = Vec::new();
        for _ in 0..2 {
            let (_, request) = opened(&sessions, NOW).await;
            found.push(sessions.find(&request, NOW).await.unwrap());
        }
        let [a, b] = &found[..] else {
            panic!("there are two");
        };
        assert!(a.csrf_matches(a.csrf()) && b.csrf_matches(b.csrf()));
        assert!(!a.csrf_matches(b.csrf()) && !a.csrf_matches(""));
    }

    #[tokio::test]
    async fn an_ended_session_is_none_on_any_node_and_after_a_restart() {
        let texts = Arc::default();
        let (here, there) = (node("key", &texts), node("key", &texts));
        let (id, request) = opened(&here, NOW).await;
        let (_, other) = opened(&there, NOW).await;
        assert!(there.find(&request, NOW).await.is_some(), "known at once");
        assert!(there.end(&id, NOW).await.unwrap());
        here.look(NOW).await;
        for node in [&here, &there, &node("key", &texts)] {
            assert!(node.find(&request, NOW).await.is_none());
            assert!(
                node.find(&other, NOW).await.is_some(),
                "the other one goes on"
            );
        }
        assert!(!there.end(&id, NOW).await.unwrap(), "it is ended already");
        assert_eq!(here.end_all(NOW).await, Ok(1));
        assert!(here.find(&other, NOW).await.is_none());
    }

    #[tokio::test]
    async fn the_list_says_since_when_and_when_last() {
        let sessions = sessions("key");
        let (id, request) = opened(&sessions, NOW).await;
        let later = NOW + 2 * USED_EVERY;
        sessions.find(&request, later).await.unwrap();
        let soon = later + USED_EVERY / 2;
        sessions.find(&request, soon).await.unwrap();
        let list = sessions.list(soon).await.unwrap();
        assert_eq!(list.len(), 1);
        assert_eq!((&list[0].id, list[0].address), (&id, HERE));
        assert_eq!((list[0].opened_at, list[0].used_at), (NOW, later));
    }

    #[tokio::test]
    async fn neither_the_list_nor_the_store_has_what_opens_a_session() {
        let texts: Arc<Memory> = Arc::default();
        let sessions = node("key", &texts);
        let (_, cookie) = sessions.open(HERE, NOW).await;
        let kept = texts.texts().values().cloned().collect::<String>();
        let value = cookie.to_str().unwrap().split(['=', ';']).nth(1).unwrap();
        for part in value.split('.').skip(1) {
            assert!(!kept.contains(part), "{kept}");
        }
    }

    #[tokio::test]
    async fn other_sites_and_scripts_never_have_the_cookie() {
        let key = Arc::new(ArcSwap::from_pointee(KeyDigest::of("key")));
        let sessions = Sessions::new(key, Cookies::HostOnly, Arc::<Memory>::default());
        let (_, cookie) = sessions.open(HERE, NOW).await;
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.starts_with("__Host-rl__admin="), "{cookie}");
        assert!(cookie.ends_with("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure"));
    }
}
