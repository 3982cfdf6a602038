//! Addresses that reach a real Redis, and what is said where they do not.

use std::{
    io::{Read, Write},
    net::TcpListener,
    process::Command,
    thread,
    time::Duration,
};

use redis::cmd;
use ropeline_store::{RedisUrl, Unreached};
use ropeline_testing::{Persistence, TestCertificates, TestRedis, free_port};

/// Longer than a Redis of this machine takes.
const LIMIT: Duration = Duration::from_secs(2);

fn url(text: &str) -> RedisUrl {
    text.parse().unwrap()
}

/// What Redis says of the connection that an address makes: as whom, and to which database.
async fn who_and_where(url: &RedisUrl) -> (String, String) {
    url.knock(LIMIT).await.unwrap();
    let client = url.client().unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let info: String = cmd("CLIENT")
        .arg("INFO")
        .query_async(&mut connection)
        .await
        .unwrap();
    let field = |name: &str| {
        let mut fields = info.split_whitespace();
        let value = fields.find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        value.unwrap().to_owned()
    };
    (field("user"), field("db"))
}

/// Why nobody is let in by an address, however often they try.
async fn refusal(url: &str) -> String {
    match self::url(url).knock(LIMIT).await {
        Err(Unreached::Refused(why)) => why,
        other => panic!("{url}: {other:?}"),
    }
}

/// Why it may be another time.
async fn absence(url: &str) -> String {
    match self::url(url).knock(LIMIT).await {
        Err(Unreached::Away(why)) => why,
        other => panic!("{url}: {other:?}"),
    }
}

#[tokio::test]
async fn an_address_reaches_its_database_as_its_user() {
    let redis = TestRedis::with(Persistence::None, &[]);
    redis.cli(&[
        "ACL", "SETUSER", "ann", "on", ">p/?#@%:", "~*", "&*", "+@all",
    ]);
    redis.cli(&[
        "ACL", "SETUSER", "open", "on", "nopass", "~*", "&*", "+@all",
    ]);
    let port = redis.port();
    let socket = redis.directory().join("redis.sock").display().to_string();
    for (address, user, database) in [
        (redis.url(), "default", "0"),
        (format!("redis://localhost:{port}/3"), "default", "3"),
        (
            format!("redis://ann:p%2F%3F%23%40%25%3A@127.0.0.1:{port}/15"),
            "ann",
            "15",
        ),
        (format!("redis://open:@127.0.0.1:{port}"), "open", "0"),
        (redis.socket_url(), "default", "0"),
        (
            format!("unix://{socket}?db=2&user=ann&pass=p/%3F%23%40%25:"),
            "ann",
            "2",
        ),
    ] {
        let expected = (user.to_owned(), database.to_owned());
        assert_eq!(who_and_where(&url(&address)).await, expected, "{address}");
    }
}

#[tokio::test]
async fn an_address_reaches_a_redis_that_listens_on_ipv6() {
    let redis = TestRedis::with(Persistence::None, &["--bind", "127.0.0.1", "::1"]);
    let url = url(&format!("redis://[::1]:{}", redis.port()));
    assert_eq!(who_and_where(&url).await.0, "default");
}

#[tokio::test]
async fn a_password_that_is_wrong_or_missing_is_refused_at_once() {
    let redis = TestRedis::with(Persistence::None, &["--requirepass", "hunter2"]);
    let port = redis.port();
    let right = url(&format!("redis://:hunter2@127.0.0.1:{port}"));
    assert_eq!(who_and_where(&right).await.0, "default");
    let missing = refusal(&redis.url()).await;
    assert!(missing.starts_with("it wants a password"), "{missing}");
    let wrong = refusal(&format!("redis://:hunter3@127.0.0.1:{port}")).await;
    assert!(
        wrong.starts_with("it does not take this user and password"),
        "{wrong}"
    );
    let other = refusal(&format!("redis://bob:hunter2@127.0.0.1:{port}")).await;
    assert_eq!(other, wrong);
    let database = refusal(&format!("redis://:hunter2@127.0.0.1:{port}/99")).await;
    assert!(database.contains("DB index is out of range"), "{database}");
}

#[tokio::test]
async fn a_redis_that_is_away_busy_or_full_may_be_there_later() {
    let mut redis = TestRedis::with(Persistence::None, &[]);
    redis.cli(&["CONFIG", "SET", "maxclients", "1"]);
    let client = url(&redis.url()).client().unwrap();
    let taken = client.get_multiplexed_async_connection().await.unwrap();
    let full = absence(&redis.url()).await;
    assert_eq!(full, "it has as many clients as it takes");
    drop(taken);
    redis.kill();
    assert_eq!(absence(&redis.url()).await, "nothing listens there");
    let socket = absence(&redis.socket_url()).await;
    assert!(!socket.is_empty());
    redis.start_again();
    url(&redis.url()).knock(LIMIT).await.unwrap();
    redis.freeze();
    let frozen = url(&redis.url()).knock(Duration::from_millis(50)).await;
    redis.thaw();
    assert_eq!(frozen, Err(Unreached::Away("it does not answer".into())));
}

#[tokio::test]
async fn something_that_is_not_redis_is_refused_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let other = thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 1_024]).unwrap() > 0);
            stream
                .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                .unwrap();
        }
    });
    let plain = refusal(&format!("redis://127.0.0.1:{port}")).await;
    assert!(plain.contains("not as Redis does"), "{plain}");
    let tls = refusal(&format!("rediss://127.0.0.1:{port}")).await;
    assert!(tls.starts_with("TLS is not possible"), "{tls}");
    other.join().unwrap();
}

/// Names this test's address to the process that it starts, whose certificates are others.
const ADDRESS: &str = "REDIS_URL_TEST_ADDRESS";

#[test]
fn over_tls_the_authority_that_ssl_cert_file_names_is_trusted_and_no_other() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if let Some(address) = std::env::var_os(ADDRESS) {
        let url = url(address.to_str().unwrap());
        runtime.block_on(who_and_where(&url));
        return;
    }
    let (certificates, port) = (TestCertificates::make(), free_port());
    let options = certificates.redis_options(port);
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    let redis = TestRedis::with(Persistence::None, &options);
    let name = "redis_url::over_tls_the_authority_that_ssl_cert_file_names_is_trusted_and_no_other";
    for host in ["localhost", "127.0.0.1"] {
        let trusting = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env(ADDRESS, format!("rediss://{host}:{port}/1"))
            .env("SSL_CERT_FILE", certificates.authority())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&trusting.stdout);
        assert!(trusting.status.success(), "{host}: {said}");
        assert!(said.contains("1 passed"), "{said}");
    }
    let stranger = runtime.block_on(refusal(&format!("rediss://localhost:{port}")));
    assert!(stranger.starts_with("TLS is not possible"), "{stranger}");
    // Who speaks the other language there is told so, whether it is answered or not.
    let plain_port = format!("rediss://localhost:{}", redis.port());
    let no_tls = runtime.block_on(absence(&plain_port));
    assert!(
        no_tls.ends_with("does it speak TLS (rediss://) on this port?"),
        "{no_tls}"
    );
    let tls_port = format!("redis://localhost:{port}");
    let no_plain = runtime.block_on(absence(&tls_port));
    assert!(
        no_plain.ends_with("does it want TLS (rediss://) on this port?"),
        "{no_plain}"
    );
}
