//! The proxies that are believed about whom they forward for.

use std::net::IpAddr;

use ipnet::IpNet;

use super::{
    TrustedProxies,
    section::Section,
    value::{Wrong, texts},
};

/// Reads `trusted_proxies` into its default.
pub(super) fn read(file: &mut Section<'_>, proxies: &mut TrustedProxies) {
    file.set(proxies, "trusted_proxies", |value| {
        let networks: Result<_, _> = texts(value)?.into_iter().map(network).collect();
        networks.map(TrustedProxies::new)
    });
}

/// An address, which stands for itself alone, or a network.
fn network(text: &str) -> Result<IpNet, Wrong> {
    let address = text.parse::<IpAddr>().map(IpNet::from);
    let Ok(network) = address.or_else(|_| text.parse::<IpNet>()) else {
        return Err(Wrong::new(format!(
            "must be IP addresses, or networks such as 10.0.0.0/8; this is neither: {text}"
        )));
    };
    let instead = |network: IpNet| format!("[\"{network}\"]");
    if network.prefix_len() == 0 {
        return Err(Wrong::new(
            "must not name the whole internet: every visitor would be believed about the address",
        ));
    }
    if network.addr() != network.network() {
        let what = format!("{text} has bits set behind its prefix");
        return Err(Wrong::meant(what, instead(network.trunc())));
    }
    // Peers that come by way of IPv6 sockets are taken as what they are, IPv4.
    let mapped = |address: IpAddr| address.to_canonical() != address;
    if mapped(network.network()) {
        let bits = network.prefix_len().saturating_sub(96);
        let plain = IpNet::new(network.network().to_canonical(), bits);
        let what = format!("{text} is IPv4 and must be written so");
        return Err(plain.map_or_else(
            |_| Wrong::new(what.clone()),
            |plain| Wrong::meant(what.clone(), instead(plain)),
        ));
    }
    Ok(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_or_a_network_is_taken() {
        for (text, prefix_len) in [
            ("127.0.0.1", 32),
            ("10.0.0.0/8", 8),
            ("192.0.2.7/32", 32),
            ("::1", 128),
            ("2001:db8::/32", 32),
        ] {
            assert_eq!(network(text).map(|net| net.prefix_len()), Ok(prefix_len));
        }
    }

    #[test]
    fn what_was_meant_is_shown() {
        for (written, meant) in [
            ("10.0.0.1/8", "10.0.0.0/8"),
            ("2001:db8::1/32", "2001:db8::/32"),
            ("::ffff:10.0.0.1", "10.0.0.1/32"),
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ] {
            let wrong = network(written).unwrap_err();
            assert_eq!(wrong.instead, Some(format!("[\"{meant}\"]")), "{written}");
        }
    }

    #[test]
    fn nothing_else_is_taken() {
        for text in [
            "localhost",
            "10.0.0.0/33",
            "10.0.0",
            "*",
            "0.0.0.0/0",
            "::/0",
            "10.0.0.1:80",
        ] {
            assert!(
                network(text).is_err_and(|wrong| wrong.instead.is_none()),
                "{text}"
            );
        }
    }
}
