//! Under which names a server is asked.
//!
//! A page of any site can make a browser send requests to this machine by giving its own name the address
//! of this machine (DNS rebinding). To the browser they are requests to that site itself, so the check
//! against other sites does not see them. Only `Host` tells: it has the name of that site.

use std::{
    net::{IpAddr, UdpSocket},
    sync::{Mutex, PoisonError},
};

use http::{HeaderMap, HeaderName, Method, Request, header::HOST};

use crate::{MISDIRECTED_REQUEST, Problem};

/// Names that mean this machine whatever the settings are. Addresses need no DNS, so no other site has one.
const THIS_MACHINE: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];
/// Addresses of this machine that are remembered, so that the system is asked once about each.
const ADDRESSES_MAX: usize = 64;

/// The hosts for which a server answers.
#[derive(Debug, Default)]
pub struct Hosts {
    /// Without ports, in small letters; none where any host is answered for.
    names: Option<Vec<String>>,
    exempt: Vec<&'static str>,
    exempt_with_header: Vec<(Method, &'static str, HeaderName)>,
    addresses: Mutex<Vec<IpAddr>>,
}

impl Hosts {
    /// Every host, whatever its name.
    pub fn any() -> Self {
        Self::default()
    }

    /// These, with any port, and the names and addresses of this machine.
    pub fn only(names: impl IntoIterator<Item = String>) -> Self {
        let names = names
            .into_iter()
            .map(|name| without_port(&name).to_ascii_lowercase());
        let machine = THIS_MACHINE.map(str::to_owned);
        Self {
            names: Some(names.chain(machine).collect()),
            ..Self::default()
        }
    }

    /// Answers for any host at these paths, or below those that end in `/*`.
    #[must_use]
    pub fn exempt(mut self, paths: impl IntoIterator<Item = &'static str>) -> Self {
        self.exempt.extend(paths);
        self
    }

    /// Answers for any host where a request with this method and path has this header.
    #[must_use]
    pub fn exempt_with_header(
        mut self,
        method: Method,
        path: &'static str,
        header: HeaderName,
    ) -> Self {
        self.exempt_with_header.push((method, path, header));
        self
    }

    /// Refuses a request to a host that is not one of these.
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<(), Problem> {
        let Some(names) = &self.names else {
            return Ok(());
        };
        let Some(host) = host_of(request.headers(), request) else {
            return Ok(());
        };
        let host = without_port(host);
        let listed = names.iter().any(|name| name.eq_ignore_ascii_case(host));
        if listed || self.is_this_machine(host) || self.is_exempt(request) {
            return Ok(());
        }
        let detail = "This server does not answer for the host that the request names. Its operator sets \
                      `public_url` to the address that visitors use, or lists the host in `allowed_hosts`.";
        Err(Problem::new(&MISDIRECTED_REQUEST, detail))
    }

    fn is_this_machine(&self, host: &str) -> bool {
        if ends_with_localhost(host) {
            return true;
        }
        let plain = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let Ok(address) = plain.unwrap_or(host).parse::<IpAddr>() else {
            return false;
        };
        let address = address.to_canonical();
        address.is_loopback() || self.has_address(address)
    }

    /// Whether this machine has the address. The system lets a socket have only such.
    fn has_address(&self, address: IpAddr) -> bool {
        // Browsers take it for this machine, and sites have used that.
        if address.is_unspecified() || address.is_multicast() {
            return false;
        }
        let addresses = || {
            self.addresses
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if addresses().contains(&address) {
            return true;
        }
        let has = UdpSocket::bind((address, 0)).is_ok();
        let mut addresses = addresses();
        if has && addresses.len() < ADDRESSES_MAX {
            addresses.push(address);
        }
        has
    }

    fn is_exempt<B>(&self, request: &Request<B>) -> bool {
        let path = request.uri().path();
        let by_path = self
            .exempt
            .iter()
            .any(|exempt| match exempt.strip_suffix('*') {
                Some(start) => path.starts_with(start),
                None => path == *exempt,
            });
        let by_header = |(method, exempt, header): &(Method, &str, HeaderName)| {
            request.method() == method && path == *exempt && request.headers().contains_key(header)
        };
        by_path || self.exempt_with_header.iter().any(by_header)
    }
}

/// The host as the request names it, in the header or, before HTTP/1.1, perhaps nowhere. The two are the
/// same where both are there.
fn host_of<'a, B>(headers: &'a HeaderMap, request: &'a Request<B>) -> Option<&'a str> {
    match headers.get(HOST) {
        // One that is not text is no name of ours.
        Some(host) => Some(host.to_str().unwrap_or_default()),
        None => request.uri().authority().map(http::uri::Authority::as_str),
    }
}

fn without_port(host: &str) -> &str {
    let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    match host.rsplit_once(':') {
        // The last colon of `[::1]` is part of the address.
        Some((name, port)) if digits(port) && (!name.contains(':') || name.ends_with(']')) => name,
        _ => host,
    }
}

fn ends_with_localhost(host: &str) -> bool {
    let name = host.rsplit_once('.').map(|(_, last)| last);
    name.is_some_and(|name| name.eq_ignore_ascii_case("localhost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(hosts: &Hosts, host: &str, path: &str) -> bool {
        let request = Request::get(path).header(HOST, host).body(()).unwrap();
        hosts.check(&request).is_ok()
    }

    fn hosts() -> Hosts {
        let names = ["tickets.example", "shop.example:8443", "[2001:db8::7]"];
        Hosts::only(names.map(str::to_owned))
    }

    #[test]
    fn the_listed_hosts_pass_with_any_port_and_in_any_case() {
        for host in [
            "tickets.example",
            "tickets.example:443",
            "TICKETS.example:8080",
            "shop.example",
            "shop.example:8443",
            "[2001:db8::7]:80",
        ] {
            assert!(passes(&hosts(), host, "/"), "{host}");
        }
    }

    #[test]
    fn the_names_and_addresses_of_this_machine_always_pass() {
        for host in [
            "localhost",
            "localhost:8080",
            "LOCALHOST:1",
            "app.localhost:8080",
            "127.0.0.1:8080",
            "127.8.9.10",
            "[::1]:8080",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(passes(&hosts(), host, "/"), "{host}");
        }
        let hosts = hosts();
        assert!(hosts.has_address([127, 0, 0, 77].into()));
        assert_eq!(
            *hosts.addresses.lock().unwrap(),
            [IpAddr::from([127, 0, 0, 77])]
        );
    }

    #[test]
    fn no_other_host_passes() {
        for host in [
            "evil.example",
            "tickets.example.evil.example",
            "eviltickets.example",
            "tickets.example@evil.example",
            "localhost.evil.example",
            "notlocalhost",
            "127.0.0.1.evil.example",
            "192.0.2.1",
            "192.0.2.1:8080",
            "[2001:db8::8]",
            "0.0.0.0",
            "0.0.0.0:8080",
            "[::]:8080",
            "224.0.0.1",
            "tickets.example:x",
            ":8080",
            "",
        ] {
            assert!(!passes(&hosts(), host, "/"), "{host}");
        }
    }

    #[test]
    fn exempt_paths_pass_under_any_host() {
        let hosts = hosts().exempt(["/healthz", "/service/*"]);
        for (path, fine) in [
            ("/healthz", true),
            ("/healthz?x", true),
            ("/service/rooms", true),
            ("/healthz/", false),
            ("/service", false),
            ("/", false),
        ] {
            assert_eq!(passes(&hosts, "evil.example", path), fine, "{path}");
        }
    }

    #[test]
    fn without_a_rule_every_host_passes() {
        for host in ["evil.example", "192.0.2.1", ""] {
            assert!(passes(&Hosts::any(), host, "/"), "{host}");
        }
    }

    #[test]
    fn a_request_without_a_host_passes_as_it_has_no_name_of_another_site() {
        let request = Request::get("/").body(()).unwrap();
        assert!(hosts().check(&request).is_ok());
        let request = Request::get("http://evil.example/").body(()).unwrap();
        assert!(hosts().check(&request).is_err());
    }
}
