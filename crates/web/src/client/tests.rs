use http::HeaderValue;

use super::*;

const PEER: &str = "10.0.0.1";

fn proxies() -> TrustedProxies {
    let networks = ["10.0.0.0/8", "2001:db8:1::/48"];
    TrustedProxies::new(networks.map(|text| text.parse().unwrap()).to_vec())
}

fn client(peer: &str, lines: &[&str]) -> Client {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(FORWARDED_FOR, HeaderValue::from_str(line).unwrap());
    }
    Client::behind(&proxies(), peer.parse().unwrap(), &headers)
}

#[track_caller]
fn is(client: Client, address: &str) {
    assert_eq!(client.address, address.parse::<IpAddr>().unwrap());
}

#[test]
fn a_peer_that_is_no_trusted_proxy_speaks_for_itself() {
    is(client("203.0.113.9", &[]), "203.0.113.9");
    is(client("203.0.113.9", &["198.51.100.7"]), "203.0.113.9");
    is(
        client("203.0.113.9", &["198.51.100.7, 10.0.0.2"]),
        "203.0.113.9",
    );
    is(client("::1", &["198.51.100.7"]), "::1");
}

#[test]
fn a_trusted_proxy_says_whom_it_forwards_for() {
    is(client(PEER, &["198.51.100.7"]), "198.51.100.7");
    is(client("2001:db8:1::5", &["2001:db8:2::9"]), "2001:db8:2::9");
}

#[test]
fn what_the_visitor_wrote_before_the_proxy_is_not_believed() {
    is(client(PEER, &["1.1.1.1, 198.51.100.7"]), "198.51.100.7");
    is(client(PEER, &["10.0.0.3, 198.51.100.7"]), "198.51.100.7");
    is(client(PEER, &["1.1.1.1", "198.51.100.7"]), "198.51.100.7");
    is(client(PEER, &["127.0.0.1", "198.51.100.7"]), "198.51.100.7");
}

#[test]
fn a_chain_of_trusted_proxies_is_followed_to_its_end() {
    is(client(PEER, &["198.51.100.7, 10.9.9.9"]), "198.51.100.7");
    is(
        client(PEER, &["1.1.1.1, 198.51.100.7", "10.9.9.9,2001:db8:1::2"]),
        "198.51.100.7",
    );
    is(client(PEER, &["10.1.1.1, 10.2.2.2"]), "10.1.1.1");
}

#[test]
fn nothing_left_of_a_broken_entry_is_believed() {
    for broken in [
        "unknown",
        "",
        "1.2.3",
        "1.2.3.4.5",
        "_hidden",
        "1.2.3.4:x",
        "[::1",
        "300.1.1.1",
    ] {
        is(client(PEER, &[&format!("1.1.1.1, {broken}")]), PEER);
        is(
            client(PEER, &[&format!("1.1.1.1, {broken}, 10.9.9.9")]),
            "10.9.9.9",
        );
        is(client(PEER, &["1.1.1.1", broken]), PEER);
    }
    let mut headers = HeaderMap::new();
    headers.append(
        FORWARDED_FOR,
        HeaderValue::from_bytes(b"1.1.1.1, \xff").unwrap(),
    );
    is(
        Client::behind(&proxies(), PEER.parse().unwrap(), &headers),
        PEER,
    );
}

#[test]
fn an_ipv4_address_is_the_same_in_every_spelling() {
    is(
        client("::ffff:10.0.0.1", &["::ffff:198.51.100.7"]),
        "198.51.100.7",
    );
    is(client("::ffff:203.0.113.9", &["1.1.1.1"]), "203.0.113.9");
    is(client(PEER, &["198.51.100.7:50123"]), "198.51.100.7");
    is(client(PEER, &["[2001:db8:2::9]:443"]), "2001:db8:2::9");
    is(client(PEER, &["[2001:db8:2::9]"]), "2001:db8:2::9");
}

#[test]
fn only_a_direct_loopback_peer_is_this_machine() {
    assert!(client("127.0.0.1", &[]).is_this_machine());
    assert!(client("127.0.0.1", &["198.51.100.7"]).is_this_machine());
    assert!(client("::1", &[]).is_this_machine());
    assert!(client("::ffff:127.0.0.1", &[]).is_this_machine());
    assert!(!client("203.0.113.9", &[]).is_this_machine());
    assert!(!client(PEER, &["127.0.0.1"]).is_this_machine());
}
