//! From text to an address.
//!
//! Read by hand and not by a URL library, since what matters is what people get wrong: a password with a
//! slash in it ends the host of every library without a word.

use std::{net::Ipv6Addr, path::PathBuf};

use percent_encoding::percent_decode_str;

use super::{Address, HIDDEN, Login, PORT, RedisUrl, RedisUrlError};

/// Longer names than this are in no DNS.
const HOST_BYTES_MAX: usize = 253;

pub(super) fn redis_url(text: &str) -> Result<RedisUrl, RedisUrlError> {
    let (scheme, rest) = text.split_once("://").ok_or(RedisUrlError::Scheme)?;
    match scheme.to_ascii_lowercase().as_str() {
        "redis" => network(rest, |host, port| Address::Tcp { host, port }),
        "rediss" => network(rest, |host, port| Address::Tls { host, port }),
        "redis+unix" | "unix" => socket(rest),
        "redis+sentinel" | "rediss+sentinel" => Err(RedisUrlError::Sentinel),
        "redis+cluster" | "rediss+cluster" => Err(RedisUrlError::Cluster),
        "valkey" | "valkeys" | "valkey+unix" => Err(RedisUrlError::Valkey),
        _ => Err(RedisUrlError::Scheme),
    }
}

/// `[user:password@]host[:port][/db]`.
fn network(text: &str, address: fn(String, u16) -> Address) -> Result<RedisUrl, RedisUrlError> {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let (authority, rest) = text.split_at(end);
    if rest.contains('@') {
        return Err(RedisUrlError::Host);
    }
    let (login, place) = match authority.rsplit_once('@') {
        Some((login, place)) => (user_and_password(login)?, place),
        None => (None, authority),
    };
    let (host, port) = host_and_port(place)?;
    Ok(RedisUrl {
        address: address(host, port),
        login,
        database: database_of_path(rest)?,
    })
}

fn user_and_password(text: &str) -> Result<Option<Login>, RedisUrlError> {
    if text.is_empty() {
        return Ok(None);
    }
    let (user, password) = text.split_once(':').ok_or(RedisUrlError::NoPassword)?;
    login(Some(decoded(user)?), decoded(password)?)
}

fn login(user: Option<String>, password: String) -> Result<Option<Login>, RedisUrlError> {
    let user = user.filter(|user| !user.is_empty());
    match password {
        password if password == HIDDEN => Err(RedisUrlError::Hidden),
        password if password.is_empty() && user.is_none() => Ok(None),
        password => Ok(Some(Login { user, password })),
    }
}

fn host_and_port(text: &str) -> Result<(String, u16), RedisUrlError> {
    let (host, port) = match text.strip_prefix('[') {
        Some(inner) => {
            let (address, behind) = inner.split_once(']').ok_or(RedisUrlError::Host)?;
            let address: Ipv6Addr = address.parse().map_err(|_| RedisUrlError::Host)?;
            let port = match behind.strip_prefix(':') {
                Some(port) => Some(port),
                None if behind.is_empty() => None,
                None => return Err(RedisUrlError::Host),
            };
            (address.to_string(), port)
        }
        None => match text.split_once(':') {
            Some((host, port)) => (name(host)?, Some(port)),
            None => (name(text)?, None),
        },
    };
    if host == "0.0.0.0" || host == "::" {
        return Err(RedisUrlError::Everywhere);
    }
    let port = port.map_or(Ok(PORT), number::<u16>);
    match port {
        Ok(port) if port > 0 => Ok((host, port)),
        _ => Err(RedisUrlError::Port),
    }
}

fn name(host: &str) -> Result<String, RedisUrlError> {
    if host.is_empty() {
        return Err(RedisUrlError::NoHost);
    }
    // Names of containers may have underscores.
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if host.len() > HOST_BYTES_MAX || !host.bytes().all(fine) {
        return Err(RedisUrlError::Host);
    }
    Ok(host.to_ascii_lowercase())
}

fn database_of_path(rest: &str) -> Result<u32, RedisUrlError> {
    if rest.contains(['?', '#']) {
        return Err(RedisUrlError::Options);
    }
    match rest.strip_prefix('/').unwrap_or_default() {
        "" => Ok(0),
        database => number(database).map_err(|()| RedisUrlError::Database),
    }
}

/// `/path/to.sock[?db=1&user=…&pass=…]`.
fn socket(text: &str) -> Result<RedisUrl, RedisUrlError> {
    let (path, options) = text.split_once('?').unwrap_or((text, ""));
    let path = decoded(path)?;
    if !path.starts_with('/') || path.ends_with('/') {
        return Err(RedisUrlError::SocketPath);
    }
    let (mut database, mut user, mut password) = (None, None, None);
    for option in options.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').ok_or(RedisUrlError::SocketOptions)?;
        let slot = match name {
            "db" => &mut database,
            "user" => &mut user,
            "pass" => &mut password,
            _ => return Err(RedisUrlError::SocketOptions),
        };
        if slot.replace(decoded(value)?).is_some() {
            return Err(RedisUrlError::SocketOptions);
        }
    }
    if user.is_some() && password.is_none() {
        return Err(RedisUrlError::NoPassword);
    }
    let database = database.as_deref().map_or(Ok(0), number);
    Ok(RedisUrl {
        address: Address::Unix(PathBuf::from(path)),
        login: login(user, password.unwrap_or_default())?,
        database: database.map_err(|()| RedisUrlError::SocketOptions)?,
    })
}

/// A number of plain digits.
fn number<T: std::str::FromStr>(text: &str) -> Result<T, ()> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain).ok_or(())
}

/// The text with `%40` as `@`, and so on. A `+` is itself.
fn decoded(text: &str) -> Result<String, RedisUrlError> {
    let is_hex = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    let bytes = text.as_bytes();
    let stray = |(at, _): (usize, &str)| !is_hex(bytes.get(at + 1)) || !is_hex(bytes.get(at + 2));
    if text.match_indices('%').any(stray) {
        return Err(RedisUrlError::Percent);
    }
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Into::into).map_err(|_| RedisUrlError::Percent)
}
