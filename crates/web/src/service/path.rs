//! Paths that two servers could read differently.
//!
//! A proxy may choose by the decoded and shortened path and forward the path as it came. To the proxy
//! `/api/v1/admin/rooms/..%2f..%2f..%2f..%2fwait%2fx` is below `/wait/`, and to a router it is below `/api/v1/admin/`. No page
//! and no program that means well sends such a path, so it is refused before anything else is looked at.

use http::StatusCode;
use memchr::memchr3;

use crate::Problem;

/// Refuses segments of dots, and slashes and backslashes that are encoded. `slashes_after` names the segment after which an
/// id follows that may have any character; even there no segment of dots may come out.
pub(super) fn check(path: &str, slashes_after: Option<&str>) -> Result<(), Problem> {
    if memchr3(b'%', b'.', b'\\', path.as_bytes()).is_none() || !is_ambiguous(path, slashes_after) {
        return Ok(());
    }
    let detail = "The path has a segment of dots, or an encoded slash or backslash.";
    Err(Problem::invalid(StatusCode::BAD_REQUEST, detail))
}

fn is_ambiguous(path: &str, slashes_after: Option<&str>) -> bool {
    let mut before = None;
    path.split('/').any(|segment| {
        let may_have_slashes = slashes_after.is_some() && before == slashes_after;
        before = Some(segment);
        let plain = decode(segment);
        let mut parts = plain.split(['/', '\\']);
        parts.clone().any(|part| part == "." || part == "..")
            || (!may_have_slashes && parts.nth(1).is_some())
    })
}

/// A segment with its dots, slashes and backslashes as they are meant.
fn decode(segment: &str) -> String {
    let mut plain = String::with_capacity(segment.len());
    let mut rest = segment;
    while let Some(at) = rest.find('%') {
        let (text, code) = rest.split_at(at);
        plain.push_str(text);
        let meant = code.get(1..3).and_then(|digits| {
            Some(match &*digits.to_ascii_lowercase() {
                "2e" => '.',
                "2f" => '/',
                "5c" => '\\',
                _ => return None,
            })
        });
        plain.push(meant.unwrap_or('%'));
        rest = &code[if meant.is_some() { 3 } else { 1 }..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_servers_could_read_differently_is_refused() {
        for path in [
            "/api/v1/admin/rooms/..%2f..%2f..%2f..%2fwait%2fx/reset",
            "/api/v1/admin/../queue/status",
            "/api/v1/admin/%2e%2e/queue/status",
            "/api/v1/admin/.%2E/queue/status",
            "/wait/./main",
            "/wait/..",
            "/wait/%2e",
            "/api%2fv1/admin/rooms",
            "/api/v1/admin%5Crooms",
            "/api/v1/admin\\rooms",
            "/..\\admin",
        ] {
            assert!(is_ambiguous(path, None), "{path}");
            assert!(is_ambiguous(path, Some("visitors")), "{path}");
        }
    }

    #[test]
    fn what_has_one_meaning_is_not() {
        for path in [
            "/",
            "/api/v1/queue/status",
            "/assets/0123abcd/wait.css",
            "/.well-known/security.txt",
            "/wait/a..b",
            "/problems/%EC%97%B4",
            "/x%252f",
            "/x%2",
            "/x%",
            "/x%\u{e9}a",
        ] {
            assert!(!is_ambiguous(path, Some("visitors")), "{path}");
        }
    }

    #[test]
    fn an_id_may_have_encoded_slashes_and_leads_nowhere_else() {
        let visitors = "/api/v1/admin/rooms/main/visitors";
        for (id, is_refused) in [
            ("a%2Fb", false),
            ("kim%5clee", false),
            ("kim.lee%40example.com", false),
            ("..%2f..", true),
            ("a%2f%2e%2e%2fb", true),
            ("%2e%2e", true),
            ("a%5c..", true),
        ] {
            let path = format!("{visitors}/{id}");
            assert_eq!(is_ambiguous(&path, Some("visitors")), is_refused, "{id}");
        }
        let below = format!("{visitors}/a/b%2fc");
        assert!(is_ambiguous(&below, Some("visitors")));
    }
}
