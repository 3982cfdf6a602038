//! Where a request says who sends it.

use std::borrow::Cow;

use http::{HeaderMap, HeaderValue, header::AUTHORIZATION};

/// What stands behind `Authorization: Bearer`.
pub fn bearer(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let value = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, rest) = value.split_at_checked("bearer".len())?;
    let ends = rest.first().is_none_or(|byte| *byte == b' ');
    (scheme.eq_ignore_ascii_case(b"bearer") && ends)
        .then(|| String::from_utf8_lossy(rest.trim_ascii()))
}

/// The value of the cookie whose name `is` the one that is looked for.
///
/// Two different values count as none: another host of the same site may have set one of them, and nobody can tell
/// which.
pub fn cookie<'a>(
    lines: impl IntoIterator<Item = &'a HeaderValue>,
    is: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let lines = lines.into_iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';'));
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter_map(|(name, value)| is(name.trim()).then_some(value.trim()));
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
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
    fn a_cookie_is_found_on_every_line() {
        let lines = ["a=1; b = 2;broken", "c=3=4"].map(HeaderValue::from_static);
        let find = |wanted: &str| cookie(&lines, |name| name == wanted);
        assert_eq!(
            ["a", "b", "c"].map(find),
            [Some("1"), Some("2"), Some("3=4")]
        );
        assert_eq!(["broken", "d", ""].map(find), [None; 3]);
    }

    #[test]
    fn two_different_values_of_a_cookie_are_none() {
        for (lines, expected) in [
            (&["a=1; b=x; a=2"][..], None),
            (&["a=1", "a=2"], None),
            (&["a=1; a="], None),
            (&["a=1; a=1", "a=1"], Some("1")),
        ] {
            let lines: Vec<_> = lines
                .iter()
                .map(|line| HeaderValue::from_static(line))
                .collect();
            assert_eq!(cookie(&lines, |name| name == "a"), expected, "{lines:?}");
        }
    }
}
