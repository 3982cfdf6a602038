//! Web addresses without a path: where this server is seen, and which sites may call it.

use std::net::Ipv6Addr;

use super::value::Wrong;

/// Where visitors see this server: `http` or `https`, a host, perhaps a port, no path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

impl PublicUrl {
    pub(super) fn parse(text: &str) -> Result<Self, Wrong> {
        web_origin(text).map(Self)
    }

    /// Whether visitors come by https, so that cookies may be `Secure`.
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// The host, with its port where that is not the usual one.
    pub fn host(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, host)| host)
    }

    /// The address, without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An origin exactly as browsers send it, since the two are compared as text.
pub(super) fn web_origin(text: &str) -> Result<String, Wrong> {
    const SHAPE: &str = "must be http:// or https://, a host and perhaps a port";
    if text == "*" {
        return Err(Wrong::new("must name each site: \"*\" would let in all"));
    }
    let (scheme, rest) = text.split_once("://").ok_or_else(|| Wrong::new(SHAPE))?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => return Err(Wrong::new(SHAPE)),
    };
    let authority = authority.to_ascii_lowercase();
    let (host, port) = split_port(&authority).ok_or_else(|| Wrong::new(SHAPE))?;
    let origin = match port {
        Some(port) if port != default_port => format!("{scheme}://{host}:{port}"),
        Some(_) | None => format!("{scheme}://{host}"),
    };
    if origin == text {
        return Ok(origin);
    }
    let what = if path.is_empty() {
        "must be written as browsers send it: small letters, and no port where it is the usual one"
    } else {
        "must end after the host or port, without a path"
    };
    Err(Wrong::meant(what, format!("\"{origin}\"")))
}

/// A host, with its port where that is not the usual one, exactly as an address has it.
pub(super) fn web_host(text: &str) -> Result<String, Wrong> {
    const SHAPE: &str = "must be a host and perhaps a port, without http://, path or *";
    let small = text.to_ascii_lowercase();
    let (host, port) = split_port(&small).ok_or_else(|| Wrong::new(SHAPE))?;
    let meant = match port {
        Some(port) if port != 80 && port != 443 => format!("{host}:{port}"),
        Some(_) | None => host.to_owned(),
    };
    if meant == text {
        return Ok(meant);
    }
    let what = "must be in small letters, and have no port where it is the usual one";
    Err(Wrong::meant(what, format!("\"{meant}\"")))
}

/// A host and the port behind it, if both can be what they say.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let bracket_end = authority.rfind(']').unwrap_or(0);
    let (host, port) = match authority[bracket_end..].rfind(':') {
        Some(at) => {
            let (host, port) = authority.split_at(bracket_end + at);
            let digits = &port[1..];
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            (host, Some(digits.parse().ok().filter(|_| plain)?))
        }
        None => (authority, None),
    };
    is_host(host).then_some((host, port))
}

fn is_host(host: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[') {
        let address = inner.strip_suffix(']');
        return address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    let label = |label: &str| {
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (1..=63).contains(&label.len()) && label.bytes().all(fine)
    };
    host.len() <= 253 && host.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_taken_as_browsers_send_it() {
        for text in [
            "https://tickets.example.com",
            "http://localhost:8080",
            "http://127.0.0.1",
            "http://[::1]:8080",
            "https://xn--9d0b7n.kr:8443",
        ] {
            assert_eq!(web_origin(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_was_meant_is_shown() {
        for (written, meant) in [
            ("https://example.com/", "https://example.com"),
            ("https://example.com/queue?x", "https://example.com"),
            ("HTTPS://Example.com", "https://example.com"),
            ("https://example.com:443", "https://example.com"),
            ("http://example.com:080", "http://example.com"),
        ] {
            let wrong = web_origin(written).unwrap_err();
            assert_eq!(wrong.instead, Some(format!("\"{meant}\"")), "{written}");
        }
    }

    #[test]
    fn what_no_browser_sends_is_refused() {
        for text in [
            "",
            "*",
            "null",
            "example.com",
            "ftp://example.com",
            "https://",
            "https://:8080",
            "https://a..b",
            "https://user@example.com",
            "https://exa mple.com",
            "https://example.com:+80",
            "https://example.com:99999",
            "https://example.com:",
            "https://[::1",
            "https://[example]",
        ] {
            assert!(
                web_origin(text).is_err_and(|wrong| wrong.instead.is_none()),
                "{text}"
            );
        }
    }

    #[test]
    fn a_host_is_taken_as_addresses_have_it() {
        for text in [
            "tickets.example.com",
            "localhost:3000",
            "[::1]:81",
            "127.0.0.1",
        ] {
            assert_eq!(web_host(text).as_deref(), Ok(text));
        }
        for (written, meant) in [
            ("Shop.example", "shop.example"),
            ("a.example:443", "a.example"),
        ] {
            let wrong = web_host(written).unwrap_err();
            assert_eq!(wrong.instead, Some(format!("\"{meant}\"")), "{written}");
        }
        for text in [
            "*",
            "*.example.com",
            "https://a.example",
            "a.example/path",
            "user@a.example",
            "a.example:x",
            "a b",
            ".",
        ] {
            assert!(
                web_host(text).is_err_and(|wrong| wrong.instead.is_none()),
                "{text}"
            );
        }
    }

    #[test]
    fn a_public_url_knows_its_scheme() {
        assert!(PublicUrl::parse("https://a.example").unwrap().is_https());
        assert!(!PublicUrl::parse("http://a.example").unwrap().is_https());
    }
}
