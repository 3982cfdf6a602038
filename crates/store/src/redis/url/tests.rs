use redis::ConnectionAddr;

use super::*;

fn url(text: &str) -> RedisUrl {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// What is told to the `redis` crate of the first server that is named.
fn info(url: &RedisUrl) -> ConnectionInfo {
    connection_info(&url.named()[0], url.login.as_ref(), url.database).unwrap()
}

#[test]
fn an_address_says_where_and_as_whom() {
    for (text, host, port, user, password, database) in [
        ("redis://cache", "cache", 6379, None, None, 0),
        ("redis://cache/", "cache", 6379, None, None, 0),
        (
            "REDIS://Cache.Example:7000/3",
            "cache.example",
            7000,
            None,
            None,
            3,
        ),
        ("redis://@cache", "cache", 6379, None, None, 0),
        ("redis://:@cache", "cache", 6379, None, None, 0),
        (
            "redis://:secret@10.0.0.7:6380/15",
            "10.0.0.7",
            6380,
            None,
            Some("secret"),
            15,
        ),
        (
            "redis://ann:secret@cache_1",
            "cache_1",
            6379,
            Some("ann"),
            Some("secret"),
            0,
        ),
        (
            "redis://ann:@cache",
            "cache",
            6379,
            Some("ann"),
            Some(""),
            0,
        ),
        ("redis://[::1]", "::1", 6379, None, None, 0),
        (
            "redis://ann:a:b@[2001:db8::1]:7000/1",
            "2001:db8::1",
            7000,
            Some("ann"),
            Some("a:b"),
            1,
        ),
        (
            "redis://a%40b:%2F%3F%23%40%25%3a+@cache",
            "cache",
            6379,
            Some("a@b"),
            Some("/?#@%:+"),
            0,
        ),
        ("redis://:p@ss@cache", "cache", 6379, None, Some("p@ss"), 0),
        (
            "redis://:%EC%95%94%ED%98%B8@cache",
            "cache",
            6379,
            None,
            Some("암호"),
            0,
        ),
        ("redis://:암호@cache", "cache", 6379, None, Some("암호"), 0),
    ] {
        let info = info(&url(text));
        assert_eq!(
            *info.addr(),
            ConnectionAddr::Tcp(host.into(), port),
            "{text}"
        );
        let session = info.redis_settings();
        assert_eq!(
            (session.username(), session.password()),
            (user, password),
            "{text}"
        );
        assert_eq!(session.db(), database, "{text}");
    }
}

#[test]
fn several_servers_are_named_with_commas() {
    for (text, servers, shown) in [
        (
            "redis+sentinel://a,B:7000,[::1]/mymaster",
            vec!["a:26379", "b:7000", "[::1]:26379"],
            "redis+sentinel://a:26379,b:7000,[::1]:26379/mymaster",
        ),
        (
            "rediss+sentinel://ann:hunter2@a/my%2Fmaster/3?sentinel_user=bob&sentinel_pass=hunter2",
            vec!["a:26379"],
            "rediss+sentinel://ann:…@a:26379/my%2Fmaster/3?sentinel_user=bob&sentinel_pass=…",
        ),
        (
            "redis+cluster://:hunter2@a,b:7001/0",
            vec!["a:6379", "b:7001"],
            "redis+cluster://:…@a:6379,b:7001",
        ),
    ] {
        let url = url(text);
        let named: Vec<_> = url.named().iter().map(Address::to_string).collect();
        assert_eq!(named, servers, "{text}");
        assert_eq!(url.to_string(), shown);
        assert_eq!(url.is_tls(), text.starts_with("rediss"), "{text}");
        assert_eq!(url.has_password(), text.contains("hunter2"), "{text}");
        assert!(url.client().is_err(), "{text}");
        if !url.has_password() {
            assert_eq!(shown.parse(), Ok(url));
        }
    }
}

#[test]
fn with_tls_the_certificate_is_always_verified() {
    let info = info(&url("rediss://:secret@cache:6380/2"));
    assert!(
        matches!(info.addr(), ConnectionAddr::TcpTls { host, port: 6380, insecure: false, .. } if host == "cache"),
        "{:?}",
        info.addr()
    );
    assert!(url("rediss://cache").is_tls() && !url("redis://cache").is_tls());
}

#[test]
fn a_socket_has_its_path_and_the_rest_as_options() {
    for (text, path, user, password, database) in [
        (
            "redis+unix:///run/redis.sock",
            "/run/redis.sock",
            None,
            None,
            0,
        ),
        ("unix:///run/redis.sock?", "/run/redis.sock", None, None, 0),
        (
            "unix:///run/a%20b.sock?db=4",
            "/run/a b.sock",
            None,
            None,
            4,
        ),
        (
            "redis+unix:///s?pass=x%26y+z&db=1",
            "/s",
            None,
            Some("x&y+z"),
            1,
        ),
        (
            "redis+unix:///s?user=ann&pass=",
            "/s",
            Some("ann"),
            Some(""),
            0,
        ),
    ] {
        let info = info(&url(text));
        assert_eq!(*info.addr(), ConnectionAddr::Unix(path.into()), "{text}");
        let session = info.redis_settings();
        assert_eq!(
            (session.username(), session.password()),
            (user, password),
            "{text}"
        );
        assert_eq!(session.db(), database, "{text}");
    }
}

#[test]
fn a_password_is_never_shown() {
    for (text, shown) in [
        ("redis://:hunter2@cache", "redis://:…@cache:6379"),
        (
            "rediss://ann:hunter2@[::1]/3",
            "rediss://ann:…@[::1]:6379/3",
        ),
        ("redis://a%40b:hunter2@cache", "redis://a%40b:…@cache:6379"),
        (
            "unix:///run/a%20b.sock?db=1&user=ann&pass=hunter2",
            "redis+unix:///run/a%20b.sock?db=1&user=ann&pass=…",
        ),
    ] {
        let url = url(text);
        assert_eq!(url.to_string(), shown);
        assert_eq!(format!("{url:?}"), format!("RedisUrl({shown})"));
        assert!(url.has_password());
        // Who copies what was shown is told what is missing.
        assert_eq!(shown.parse::<RedisUrl>(), Err(RedisUrlError::Hidden));
    }
}

#[test]
fn an_address_without_a_password_is_shown_so_that_it_means_the_same() {
    for text in [
        "redis://cache:6379",
        "redis://ann:@cache:6379/3",
        "rediss://[2001:db8::1]:7000",
        "redis+unix:///run/redis.sock",
        "redis+unix:///run/a%3Fb.sock?db=2&user=ann&pass=",
    ] {
        assert_eq!(url(text).to_string(), text);
        assert!(!url(text).has_password());
    }
}

#[test]
fn every_mistake_is_told_with_what_to_write() {
    use RedisUrlError::*;
    for (text, error) in [
        ("", Scheme),
        ("cache:6379", Scheme),
        ("http://cache", Scheme),
        ("redis:cache", Scheme),
        ("valkey://cache", Valkey),
        ("redis+sentinel://a,b,c", NoMaster),
        ("redis+sentinel://a,b,c/", NoMaster),
        ("redis+sentinel://a,b,c//1", NoMaster),
        ("redis+sentinel://a,b,c/my%20master", NoMaster),
        ("redis+sentinel://a,,c/main", NoHost),
        ("redis+sentinel:///main", NoHost),
        ("redis+sentinel://a/main/x", Database),
        ("redis+sentinel://a/main#x", Options),
        (
            "redis+sentinel://a/main?sentinel_pass=hunter2&x=1",
            SentinelOptions,
        ),
        ("redis+sentinel://a/main?sentinel_user=ann", SentinelOptions),
        ("redis+cluster://a,b,c/1", ClusterDatabase),
        ("redis+cluster://a,b:0", Port),
        ("redis+cluster://", NoHost),
        ("redis+cluster://a?x=1", Options),
        ("redis://", NoHost),
        ("redis:///1", NoHost),
        ("redis://:6379", NoHost),
        ("redis://:hunter2@", NoHost),
        ("redis://0.0.0.0", Everywhere),
        ("redis://[::]:6379", Everywhere),
        ("redis://ca che", Host),
        ("redis://[::1", Host),
        ("redis://[cache]", Host),
        ("redis://[::1]x", Host),
        ("redis://a,b", Several),
        ("redis://:hun/ter2@cache", Host),
        ("redis://:hun?ter2@cache", Host),
        ("redis://:hun#ter2@cache", Host),
        ("redis://cache:", Port),
        ("redis://cache:0", Port),
        ("redis://cache:+1", Port),
        ("redis://cache:65536", Port),
        ("redis://hunter2@cache", NoPassword),
        ("unix:///s?user=ann", NoPassword),
        ("redis://:100%@cache", Percent),
        ("redis://:100%zz@cache", Percent),
        ("redis://:%FF@cache", Percent),
        ("redis://cache/main", Database),
        ("redis://cache/-1", Database),
        ("redis://cache/0/1", Database),
        ("redis://cache/99999999999", Database),
        ("redis://cache?db=1", Options),
        ("rediss://cache/#insecure", Options),
        ("unix://", SocketPath),
        ("unix://run/redis.sock", SocketPath),
        ("unix:///run/", SocketPath),
        ("unix:///s?database=1", SocketOptions),
        ("unix:///s?db", SocketOptions),
        ("unix:///s?db=x", SocketOptions),
        ("unix:///s?db=1&db=2", SocketOptions),
    ] {
        let told = text.parse::<RedisUrl>().unwrap_err();
        assert_eq!(told, error, "{text}");
        assert!(!told.to_string().contains("hunter2"), "{text}");
        let instead = told.instead().replace("HOST", "cache");
        assert!(instead.parse::<RedisUrl>().is_ok(), "{instead}");
    }
}
