//! Where a server is.

use std::fmt;

use reqwest::Url;
use ropeline_core::RoomId;

/// The address of a server, to which paths are added.
#[derive(Debug, Clone)]
pub(super) struct Address(Url);

impl Address {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if !text.starts_with("http://") && !text.starts_with("https://") {
            return Err("must begin with http:// or https://, as in http://127.0.0.1:8080");
        }
        let url = Url::parse(text).map_err(|_| "is not an address")?;
        let more = [url.query(), url.fragment(), url.password()];
        if more.iter().any(Option::is_some) || !url.username().is_empty() {
            return Err("must be scheme, host, port and perhaps a path, and nothing else");
        }
        Ok(Self(url))
    }

    /// Where the service API does this for a room.
    pub(super) fn of_room(&self, room: &RoomId, what: &str) -> String {
        format!("{self}/api/v1/service/rooms/{room}/{what}")
    }

    pub(super) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_found_below_the_address() {
        for base in ["https://a.example/line", "https://a.example/line/"] {
            assert_eq!(
                Address::parse(base)
                    .unwrap()
                    .of_room(&RoomId::main(), "keep"),
                "https://a.example/line/api/v1/service/rooms/main/keep"
            );
        }
    }

    #[test]
    fn what_is_no_server_is_refused() {
        for text in [
            "",
            "127.0.0.1:8080",
            "ftp://a",
            "http://",
            "http://a?b",
            "http://a#b",
            "http://u@a",
            "http://:p@a",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }
}
