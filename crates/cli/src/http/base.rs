//! Where a server is.

use std::{fmt, net::SocketAddr, str::FromStr};

use reqwest::Url;

/// The address of a server, to which paths are added.
#[derive(Debug, Clone)]
pub(crate) struct BaseUrl(Url);

impl BaseUrl {
    /// A server that listens on this address of this machine.
    pub(crate) fn of_listener(listen: SocketAddr) -> Self {
        let mut reached = listen;
        if listen.ip().is_unspecified() {
            // Everywhere includes here.
            reached.set_ip(if listen.is_ipv4() {
                std::net::Ipv4Addr::LOCALHOST.into()
            } else {
                std::net::Ipv6Addr::LOCALHOST.into()
            });
        }
        format!("http://{reached}")
            .parse()
            .expect("an address makes an URL")
    }

    /// The full address of a path that begins with a slash.
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    pub(crate) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The address that it names, if it does so by number.
    pub(crate) fn socket(&self) -> Option<SocketAddr> {
        let host = self.0.host_str()?.trim_matches(['[', ']']);
        let port = self.0.port_or_known_default()?;
        Some(SocketAddr::new(host.parse().ok()?, port))
    }
}

impl FromStr for BaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.starts_with("http://") && !text.starts_with("https://") {
            return Err("must begin with http:// or https://, as in http://127.0.0.1:8080".into());
        }
        let url = Url::parse(text).map_err(|error| format!("is not an address: {error}"))?;
        if url.query().is_some() || url.fragment().is_some() || url.username() != "" {
            return Err("must be scheme, host, port and perhaps a path, and nothing else".into());
        }
        Ok(Self(url))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_added_behind_the_address() {
        for (base, whole) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/readyz"),
            ("https://a.example/", "https://a.example/readyz"),
            ("https://a.example/line", "https://a.example/line/readyz"),
        ] {
            assert_eq!(base.parse::<BaseUrl>().unwrap().join("/readyz"), whole);
        }
    }

    #[test]
    fn what_is_no_server_is_refused_with_an_example() {
        for text in [
            "127.0.0.1:8080",
            "localhost",
            "ftp://a",
            "http://",
            "http://a?b",
            "",
        ] {
            assert!(text.parse::<BaseUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_listener_on_every_address_is_reached_on_this_machine() {
        let base = |text: &str| BaseUrl::of_listener(text.parse().unwrap()).to_string();
        assert_eq!(base("0.0.0.0:80"), "http://127.0.0.1");
        assert_eq!(base("[::]:8080"), "http://[::1]:8080");
        assert_eq!(base("10.0.0.7:81"), "http://10.0.0.7:81");
    }

    #[test]
    fn an_address_by_number_is_known() {
        let socket = |text: &str| text.parse::<BaseUrl>().unwrap().socket();
        assert_eq!(socket("http://127.0.0.1"), "127.0.0.1:80".parse().ok());
        assert_eq!(socket("https://[::1]:9"), "[::1]:9".parse().ok());
        assert_eq!(socket("http://a.example"), None);
    }
}
