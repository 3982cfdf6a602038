//! From text to an address.
//!
//! Read by hand and not by a URL library, since what matters is what people get wrong: a password with a
//! slash in it ends the host of every library without a word.

use std::{net::Ipv6Addr, path::PathBuf};

use percent_encoding::percent_decode_str;

use super::{Address, HIDDEN, Login, PORT, Place, RedisUrl, RedisUrlError, SENTINEL_PORT, Wire};

/// Longer names than this are in no DNS.
const HOST_BYTES_MAX: usize = 253;

pub(super) fn redis_url(text: &str) -> Result<RedisUrl, RedisUrlError> {
    let (scheme, rest) = text.split_once("://").ok_or(RedisUrlError::Scheme)?;
    match scheme.to_ascii_lowercase().as_str() {
        "redis" => server(rest, Wire::Plain),
        "rediss" => server(rest, Wire::Tls),
        "redis+unix" | "unix" => socket(rest),
        "redis+sentinel" => sentinels(rest, Wire::Plain),
        "rediss+sentinel" => sentinels(rest, Wire::Tls),
        "redis+cluster" => cluster(rest, Wire::Plain),
        "rediss+cluster" => cluster(rest, Wire::Tls),
        "valkey" | "valkeys" | "valkey+unix" => Err(RedisUrlError::Valkey),
        _ => Err(RedisUrlError::Scheme),
    }
}

/// `[user:password@]host[:port][/db]`.
fn server(text: &str, wire: Wire) -> Result<RedisUrl, RedisUrlError> {
    let (login, place, path) = authority(text)?;
    if place.contains(',') {
        return Err(RedisUrlError::Several);
    }
    Ok(RedisUrl {
        place: Place::Server(address(place, wire, PORT)?),
        login,
        database: database_of_path(path)?,
    })
}

/// `[user:password@]host[:port],…/master[/db][?sentinel_user=…&sentinel_pass=…]`.
fn sentinels(text: &str, wire: Wire) -> Result<RedisUrl, RedisUrlError> {
    let (login, places, rest) = authority(text)?;
    let (path, options) = rest.split_once('?').unwrap_or((rest, ""));
    if path.contains('#') {
        return Err(RedisUrlError::Options);
    }
    let [user, password] = options_of(
        options,
        ["sentinel_user", "sentinel_pass"],
        RedisUrlError::SentinelOptions,
    )?;
    if user.is_some() && password.is_none() {
        return Err(RedisUrlError::SentinelOptions);
    }
    let mut parts = path.strip_prefix('/').unwrap_or_default().splitn(2, '/');
    let master = decoded(parts.next().unwrap_or_default())?;
    if master.is_empty() || master.contains(char::is_whitespace) {
        return Err(RedisUrlError::NoMaster);
    }
    let database = parts.next().filter(|database| !database.is_empty());
    Ok(RedisUrl {
        place: Place::Sentinels {
            sentinels: addresses(places, wire, SENTINEL_PORT)?,
            master,
            login: self::login(user, password.unwrap_or_default())?,
        },
        login,
        database: database
            .map_or(Ok(0), number)
            .map_err(|()| RedisUrlError::Database)?,
    })
}

/// `[user:password@]host[:port],…`.
fn cluster(text: &str, wire: Wire) -> Result<RedisUrl, RedisUrlError> {
    let (login, places, path) = authority(text)?;
    if database_of_path(path)? != 0 {
        return Err(RedisUrlError::ClusterDatabase);
    }
    Ok(RedisUrl {
        place: Place::Cluster(addresses(places, wire, PORT)?),
        login,
        database: 0,
    })
}

/// Who logs in, where, and what stands behind that.
fn authority(text: &str) -> Result<(Option<Login>, &str, &str), RedisUrlError> {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let (authority, rest) = text.split_at(end);
    if rest.contains('@') {
        return Err(RedisUrlError::Host);
    }
    match authority.rsplit_once('@') {
        Some((login, place)) => Ok((user_and_password(login)?, place, rest)),
        None => Ok((None, authority, rest)),
    }
}

fn addresses(text: &str, wire: Wire, port: u16) -> Result<Vec<Address>, RedisUrlError> {
    let each = text.split(',').map(|place| address(place, wire, port));
    each.collect()
}

fn address(text: &str, wire: Wire, port: u16) -> Result<Address, RedisUrlError> {
    let (host, port) = host_and_port(text, port)?;
    Ok(Address::Net { wire, host, port })
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

fn host_and_port(text: &str, usual_port: u16) -> Result<(String, u16), RedisUrlError> {
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
    let port = port.map_or(Ok(usual_port), number::<u16>);
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
    let [database, user, password] = options_of(
        options,
        ["db", "user", "pass"],
        RedisUrlError::SocketOptions,
    )?;
    if user.is_some() && password.is_none() {
        return Err(RedisUrlError::NoPassword);
    }
    let database = database.as_deref().map_or(Ok(0), number);
    Ok(RedisUrl {
        place: Place::Server(Address::Unix(PathBuf::from(path))),
        login: login(user, password.unwrap_or_default())?,
        database: database.map_err(|()| RedisUrlError::SocketOptions)?,
    })
}

/// The options behind a `?`, each at most once and no other.
fn options_of<const N: usize>(
    text: &str,
    names: [&str; N],
    otherwise: RedisUrlError,
) -> Result<[Option<String>; N], RedisUrlError> {
    let mut values = [const { None }; N];
    for option in text.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').ok_or(otherwise)?;
        let at = names.iter().position(|known| *known == name);
        let slot = &mut values[at.ok_or(otherwise)?];
        if slot.replace(decoded(value)?).is_some() {
            return Err(otherwise);
        }
    }
    Ok(values)
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
