//! Requests that another site made a visitor's browser send.
//!
//! A form on any site can post here. The browser would not send our cookie along, but it would keep the one
//! in our answer, and so trade the visitor's place for a new one at the end of the line.

use axum::extract::FromRequestParts;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request,
    header::{AUTHORIZATION, HOST, ORIGIN},
    request::Parts,
};

use crate::{CROSS_SITE, Problem};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses what changes something and comes from a page of a site that is not among `origins`.
pub(super) fn check<B>(request: &Request<B>, origins: &[String]) -> Result<(), Problem> {
    if !is_from_another_site(request.method(), request.headers(), origins) {
        return Ok(());
    }
    let detail = "A page of another site sent this. Its origin may be listed in `cors_origins`.";
    Err(Problem::new(&CROSS_SITE, detail))
}

/// Whether a request would change something and a browser sent it for a page of a site that is not among `origins`.
///
/// Programs that are not browsers send neither of the two headers that tell.
pub fn is_from_another_site(method: &Method, headers: &HeaderMap, origins: &[String]) -> bool {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return false;
    }
    let origin = headers.get(ORIGIN);
    let listed = |origin: &HeaderValue| origins.iter().any(|known| origin == known.as_str());
    if origin.is_some_and(listed) {
        return false;
    }
    let mut sites = headers.get_all(&SEC_FETCH_SITE).iter().peekable();
    let ours = if sites.peek().is_some() {
        sites.all(|site| matches!(site.as_bytes(), b"same-origin" | b"none"))
    } else {
        // Browsers that are old, or see us over plain http, tell only where the page is from.
        origin.is_none_or(|origin| is_own(origin, headers))
    };
    !ours
}

/// Whether a page of another site made a browser send this `GET`, for a route where even that changes something.
///
/// Other methods are judged before they reach a route. Scripts of another site that send `Origin` and `Authorization`
/// have been allowed to by `cors_origins`, so they pass.
pub fn is_get_from_another_site(headers: &HeaderMap) -> bool {
    let allowed = headers.contains_key(ORIGIN) && headers.contains_key(AUTHORIZATION);
    !allowed && is_from_another_site(&Method::POST, headers, &[])
}

/// Proof that no page of another site made a browser send this, by the rule of [`is_get_from_another_site`].
#[derive(Debug, Clone, Copy)]
pub struct NotCrossSite;

impl<S: Sync> FromRequestParts<S> for NotCrossSite {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Parts {
            method, headers, ..
        } = parts;
        let reads = matches!(*method, Method::GET | Method::HEAD);
        if reads && is_get_from_another_site(headers) {
            let detail = "A page of another site sent this, and it would change something.";
            return Err(Problem::new(&CROSS_SITE, detail));
        }
        Ok(Self)
    }
}

/// Whether a page of this origin was served under the host that the request was sent to.
fn is_own(origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let (Some(host), Ok(origin)) = (host, origin.to_str()) else {
        return false;
    };
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let usual_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let host = host.strip_suffix(usual_port).unwrap_or(host);
    !host.is_empty() && host.eq_ignore_ascii_case(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "https://shop.example";

    fn passes(method: Method, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().method(method);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check(&request.body(()).unwrap(), &[LISTED.to_owned()]).is_ok()
    }

    fn post(headers: &[(&str, &str)]) -> bool {
        passes(Method::POST, headers)
    }

    #[test]
    fn the_browser_says_whose_page_it_is() {
        for (site, fine) in [
            ("same-origin", true),
            ("none", true),
            ("same-site", false),
            ("cross-site", false),
            ("", false),
            ("Same-Origin", false),
        ] {
            assert_eq!(post(&[("sec-fetch-site", site)]), fine, "{site}");
            let own = ("origin", "http://test");
            let with_own = [("host", "test"), own, ("sec-fetch-site", site)];
            assert_eq!(post(&with_own), fine, "{site}");
        }
        let two = [
            ("sec-fetch-site", "same-origin"),
            ("sec-fetch-site", "cross-site"),
        ];
        assert!(!post(&two));
    }

    #[test]
    fn a_listed_origin_may_send_from_anywhere() {
        assert!(post(&[("origin", LISTED)]));
        assert!(post(&[
            ("origin", LISTED),
            ("sec-fetch-site", "cross-site")
        ]));
        for near in [
            "https://shop.example:443",
            "http://shop.example",
            "https://shop.example.evil",
        ] {
            assert!(!post(&[("host", "test"), ("origin", near)]), "{near}");
        }
    }

    #[test]
    fn without_a_word_of_the_browser_the_origin_must_be_the_host() {
        for (origin, host, fine) in [
            ("http://test", "test", true),
            ("http://test:8080", "test:8080", true),
            ("https://test", "test:443", true),
            ("http://test", "test:80", true),
            ("http://test", "TEST", true),
            ("http://[::1]:8080", "[::1]:8080", true),
            ("http://test", "test:443", false),
            ("http://test:8081", "test:8080", false),
            ("http://evil", "test", false),
            ("http://test.evil", "test", false),
            ("http://", "", false),
            ("null", "null", false),
            ("null", "test", false),
            ("test", "test", false),
            ("ftp://test", "test", false),
        ] {
            let headers = [("host", host), ("origin", origin)];
            assert_eq!(post(&headers), fine, "{origin} to {host}");
        }
    }

    #[test]
    fn programs_that_are_not_browsers_pass() {
        assert!(post(&[("host", "test")]));
        assert!(post(&[]));
    }

    fn get_passes(headers: &[(&str, &str)]) -> bool {
        let mut request = Request::get("/join");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let mut judged = std::pin::pin!(NotCrossSite::from_request_parts(&mut parts, &()));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match judged.as_mut().poll(&mut context) {
            std::task::Poll::Ready(judged) => judged.is_ok(),
            std::task::Poll::Pending => panic!("it waits for nothing"),
        }
    }

    #[test]
    fn a_get_that_changes_something_may_not_come_from_another_site() {
        let key = ("authorization", "Bearer x");
        for (headers, fine) in [
            (&[][..], true),
            (&[key], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site"), key], false),
            (&[("origin", LISTED)], false),
            (&[("origin", LISTED), key], true),
        ] {
            assert_eq!(get_passes(headers), fine, "{headers:?}");
        }
    }

    #[test]
    fn what_changes_nothing_is_never_refused() {
        let headers = [("sec-fetch-site", "cross-site"), ("origin", "null")];
        for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
            assert!(passes(method, &headers));
        }
        let patch = Method::PATCH;
        for method in [
            Method::POST,
            Method::PUT,
            Method::DELETE,
            patch,
            Method::TRACE,
        ] {
            assert!(!passes(method.clone(), &headers), "{method}");
        }
    }
}
