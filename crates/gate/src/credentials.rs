//! The queue token of a request, wherever it travels.

use http::{HeaderMap, HeaderName, HeaderValue, header::COOKIE};
use ropeline_core::RoomId;

const X_QUEUE_TOKEN: HeaderName = HeaderName::from_static("x-queue-token");
const TOKEN: HeaderName = HeaderName::from_static("token");

/// The token that a header carries: `X-Queue-Token`, else the plain `token`. Whatever stands in the second is of no
/// account beside the first.
pub fn header_token(headers: &HeaderMap) -> Option<&str> {
    text(headers, &X_QUEUE_TOKEN).or_else(|| text(headers, &TOKEN))
}

/// The token of a room's cookie, of either kind: first the one that no other host can set.
pub(crate) fn cookie_token<'a>(headers: &'a HeaderMap, room: &RoomId) -> Option<&'a str> {
    let find = |kind: Cookies| kind.find(headers.get_all(COOKIE), room.as_str());
    find(Cookies::HostOnly).or_else(|| find(Cookies::Plain))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    str::from_utf8(headers.get(name)?.as_bytes()).ok()
}

/// How the token travels as a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookies {
    /// Over plain HTTP, as on a developer's machine.
    Plain,
    /// Over HTTPS: the browser makes sure that nobody else can set it.
    HostOnly,
}

impl Cookies {
    fn prefix(self) -> &'static str {
        match self {
            Self::Plain => "rl_",
            Self::HostOnly => "__Host-rl_",
        }
    }

    /// The token of a room's cookie.
    pub fn find<'a>(
        self,
        cookies: impl IntoIterator<Item = &'a HeaderValue>,
        room: &str,
    ) -> Option<&'a str> {
        let cookies = cookies.into_iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|p| p.split_once('='));
        pairs.find_map(|(name, token)| {
            (name.trim().strip_prefix(self.prefix())? == room).then(|| token.trim())
        })
    }

    /// The header that gives a token to the browser for so many seconds; none takes it away.
    pub fn set(self, room: &RoomId, token: &str, seconds: u64) -> HeaderValue {
        self.header(room.as_str(), token, seconds, "Lax")
    }

    /// As [`Cookies::set`], for one that never travels with a request that another site began.
    pub fn set_strict(self, name: &str, value: &str, seconds: u64) -> HeaderValue {
        self.header(name, value, seconds, "Strict")
    }

    fn header(self, name: &str, value: &str, seconds: u64, same_site: &str) -> HeaderValue {
        let prefix = self.prefix();
        let secure = match self {
            Self::HostOnly => "; Secure",
            Self::Plain => "",
        };
        let seconds = seconds.to_string();
        // Every join is answered with one, and a formatter takes twice as long.
        let parts = [
            prefix,
            name,
            "=",
            value,
            "; Path=/; Max-Age=",
            &seconds,
            "; HttpOnly; SameSite=",
            same_site,
            secure,
        ];
        HeaderValue::try_from(parts.concat()).expect("names and values are visible ASCII")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rooms_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(
            COOKIE,
            HeaderValue::from_static("a=1; rl_main-2=wrong; rl_main=right"),
        );
        headers.append(
            COOKIE,
            HeaderValue::from_static("__Host-rl_main=host; rl_x"),
        );
        assert_eq!(
            Cookies::Plain.find(headers.get_all(COOKIE), "main"),
            Some("right")
        );
        assert_eq!(
            Cookies::HostOnly.find(headers.get_all(COOKIE), "main"),
            Some("host")
        );
        assert_eq!(Cookies::Plain.find(headers.get_all(COOKIE), "x"), None);
    }

    #[test]
    fn scripts_and_other_sites_never_see_the_cookie() {
        let set = Cookies::HostOnly.set(&RoomId::main(), "t", 60);
        assert_eq!(
            set.to_str().unwrap(),
            "__Host-rl_main=t; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure"
        );
        let set = Cookies::Plain.set(&RoomId::main(), "t", 0);
        assert_eq!(
            set.to_str().unwrap(),
            "rl_main=t; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"
        );
    }
}
