//! Where a request says who sends it.

use std::borrow::Cow;

use http::{
    HeaderMap, HeaderValue,
    header::{AUTHORIZATION, COOKIE},
};

/// The cookie of somebody who has logged in at a service beside the rooms. No room's cookie can be called so.
pub const LOGIN_COOKIE: &str = "ropeline_login";

/// What stands behind `Authorization: Bearer`.
pub fn bearer(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let value = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, rest) = value.split_at_checked("bearer".len())?;
    let ends = rest.first().is_none_or(|byte| *byte == b' ');
    (scheme.eq_ignore_ascii_case(b"bearer") && ends)
        .then(|| String::from_utf8_lossy(rest.trim_ascii()))
}

/// The values of all cookies, as they came.
pub fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(COOKIE).into_iter();
    let lines = lines.filter_map(|line: &HeaderValue| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';'));
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearer_is_what_stands_behind_the_word() {
        for (header, expected) in [
            ("Bearer x.y.z", Some("x.y.z")),
            ("bearer  x ", Some("x")),
            ("BEARER", Some("")),
            ("Bearer ", Some("")),
            ("Bearerx y", None),
            ("Basic x", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_static(header));
            assert_eq!(bearer(&headers).as_deref(), expected, "{header:?}");
        }
        assert_eq!(bearer(&HeaderMap::new()), None);
    }

    #[test]
    fn cookies_are_found_on_every_line() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1; b = 2;broken"));
        headers.append(COOKIE, HeaderValue::from_static("c=3=4"));
        let found: Vec<_> = cookies(&headers).collect();
        assert_eq!(found, [("a", "1"), ("b", "2"), ("c", "3=4")]);
    }
}
