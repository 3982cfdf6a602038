//! The queue token of a request, wherever it travels, and the login as a cookie.

use http::{HeaderMap, HeaderName, HeaderValue, header::COOKIE};
use ropeline_core::RoomId;
use ropeline_web::cookie;

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

/// Of a room's cookie the rest of the name.
const OF_ROOM: &str = "rl_";
/// The cookie of somebody who has logged in at a service next to the rooms. No room's cookie has this name.
const LOGIN: &str = "ropeline_login";

/// How our secrets travel as cookies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookies {
    /// Over plain HTTP, as on a developer's machine.
    Plain,
    /// Over HTTPS: the browser makes sure that nobody else can set it.
    HostOnly,
}

impl Cookies {
    /// With this one a browser takes the cookie from this very host over HTTPS, and from nobody else.
    fn prefix(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::HostOnly => "__Host-",
        }
    }

    /// The token of a room's cookie; none if there are two different ones.
    pub fn find<'a>(
        self,
        cookies: impl IntoIterator<Item = &'a HeaderValue>,
        room: &str,
    ) -> Option<&'a str> {
        cookie(cookies, |name| {
            let name = name.strip_prefix(self.prefix());
            name.and_then(|name| name.strip_prefix(OF_ROOM)) == Some(room)
        })
    }

    /// The login of a service next to the rooms; none if there are two different ones.
    pub fn login(self, headers: &HeaderMap) -> Option<&str> {
        let is_login = |name: &str| name.strip_prefix(self.prefix()) == Some(LOGIN);
        cookie(headers.get_all(COOKIE), is_login)
    }

    /// The header that gives a token to the browser for so many seconds; none takes it away.
    pub fn set(self, room: &RoomId, token: &str, seconds: u64) -> HeaderValue {
        self.header([OF_ROOM, room.as_str()], token, seconds, "Lax")
    }

    /// The same for a login.
    pub fn set_login(self, login: &str, seconds: u64) -> HeaderValue {
        self.header([LOGIN, ""], login, seconds, "Lax")
    }

    /// As [`Cookies::set`], for one that never travels with a request that another site began.
    pub fn set_strict(self, name: &str, value: &str, seconds: u64) -> HeaderValue {
        self.header([OF_ROOM, name], value, seconds, "Strict")
    }

    fn header(self, name: [&str; 2], value: &str, seconds: u64, same_site: &str) -> HeaderValue {
        let prefix = self.prefix();
        let [kind, name] = name;
        let secure = match self {
            Self::HostOnly => "; Secure",
            Self::Plain => "",
        };
        let seconds = seconds.to_string();
        // Every join is answered with one, and a formatter takes twice as long.
        let parts = [
            prefix,
            kind,
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
    fn a_cookie_that_was_set_twice_is_none() {
        let mut headers = HeaderMap::new();
        let tossed = "rl_main=a; ropeline_login=a; rl_main=b; ropeline_login=b; rl_x=c; rl_x=c";
        headers.append(COOKIE, HeaderValue::from_static(tossed));
        let plain = |room| Cookies::Plain.find(headers.get_all(COOKIE), room);
        assert_eq!((plain("main"), plain("x")), (None, Some("c")));
        assert_eq!(Cookies::Plain.login(&headers), None);
    }

    #[test]
    fn over_https_only_the_login_counts_that_no_other_host_can_set() {
        let mut headers = HeaderMap::new();
        let both = "ropeline_login=tossed; __Host-ropeline_login=own";
        headers.append(COOKIE, HeaderValue::from_static(both));
        assert_eq!(Cookies::HostOnly.login(&headers), Some("own"));
        assert_eq!(Cookies::Plain.login(&headers), Some("tossed"));
        let set = Cookies::HostOnly.set_login("l", 60);
        assert_eq!(
            set.to_str().unwrap(),
            "__Host-ropeline_login=l; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure"
        );
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
