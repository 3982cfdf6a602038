//! Tokens made by us, by others, and by nobody.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use ropeline_core::{Ordinal, RoomId};
use serde_json::{Value, json};

use super::*;

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

fn ring() -> KeyRing {
    KeyRing {
        keys: vec![Key::new("k1", SECRET)],
        visitor_secret: mac_with(b"visitors"),
    }
}

fn claims() -> Claims {
    Claims {
        iss: ISSUER.into(),
        aud: RoomId::main(),
        epoch: Timestamp(1),
        sub: Visitor::parse("u:42").unwrap(),
        ord: Ordinal(7),
        lane: LANE_MAIN.into(),
        vfd: false,
        ver: FORMAT,
        iat: NOW.0 / 1_000,
        exp: NOW.0 / 1_000 + 60,
    }
}

/// A token with any header and claims, signed with HS256 by any secret.
fn forge(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let signed = format!(
        "{}.{}",
        BASE64.encode(header.to_string()),
        BASE64.encode(claims.to_string())
    );
    let signature = mac_with(secret)
        .chain_update(&signed)
        .finalize()
        .into_bytes();
    format!("{signed}.{}", BASE64.encode(signature))
}

fn header() -> Value {
    json!({"alg": "HS256", "kid": "k1", "typ": "rl+jwt"})
}

#[test]
fn what_we_sign_we_believe_and_so_does_a_library() {
    let token = ring().sign(&claims());
    assert_eq!(ring().verify(&token, NOW).unwrap(), claims());
    let mut rules = jsonwebtoken::Validation::new(Algorithm::HS256);
    rules.set_audience(&["main"]);
    rules.validate_exp = false;
    let key = jsonwebtoken::DecodingKey::from_secret(SECRET);
    let read = jsonwebtoken::decode::<Value>(&token, &key, &rules).unwrap();
    assert_eq!(read.claims, serde_json::to_value(claims()).unwrap());
    assert_eq!(read.header.typ.as_deref(), Some("rl+jwt"));
}

#[test]
fn a_token_is_void_from_its_last_second_on() {
    let token = ring().sign(&claims());
    assert!(ring().verify(&token, Timestamp(NOW.0 + 59_999)).is_ok());
    assert!(ring().verify(&token, Timestamp(NOW.0 + 60_000)).is_err());
}

#[test]
fn forged_headers_are_refused() {
    let honest = serde_json::to_value(claims()).unwrap();
    let bad = [
        json!({"alg": "none", "kid": "k1", "typ": "rl+jwt"}),
        json!({"alg": "None", "kid": "k1", "typ": "rl+jwt"}),
        json!({"alg": "nOnE", "kid": "k1", "typ": "rl+jwt"}),
        json!({"alg": "HS512", "kid": "k1", "typ": "rl+jwt"}),
        json!({"alg": "RS256", "kid": "k1", "typ": "rl+jwt"}),
        json!({"alg": "ES256", "kid": "k1", "typ": "rl+jwt"}),
        json!({"alg": "HS256", "kid": "k2", "typ": "rl+jwt"}),
        json!({"alg": "HS256", "kid": "../../etc/passwd", "typ": "rl+jwt"}),
        json!({"alg": "HS256", "kid": "k1' OR '1'='1", "typ": "rl+jwt"}),
        json!({"alg": "HS256", "kid": "x".repeat(1 << 20), "typ": "rl+jwt"}),
        json!({"alg": "HS256", "kid": "k1", "typ": "JWT"}),
        json!({"alg": "HS256", "kid": "k1"}),
        json!({"alg": "HS256", "typ": "rl+jwt"}),
        json!({"alg": "HS256", "kid": "k1", "typ": "rl+jwt", "crit": ["b64"], "b64": false}),
        json!({"alg": "HS256", "kid": "k1", "typ": "rl+jwt", "jku": "https://evil.example/keys"}),
        json!({"alg": "HS256", "kid": "k1", "typ": "rl+jwt", "jwk": {"kty": "oct", "k": "AA"}}),
        json!({"alg": "HS256", "kid": "k1", "typ": "rl+jwt", "x5u": "https://evil.example/x"}),
    ];
    assert!(
        ring()
            .verify(&forge(&header(), &honest, SECRET), NOW)
            .is_ok(),
        "the forge works"
    );
    for header in bad {
        let token = forge(&header, &honest, SECRET);
        assert_eq!(
            ring().verify(&token, NOW).unwrap_err(),
            InvalidToken,
            "{header}"
        );
    }
}

#[test]
fn forged_claims_are_refused_even_with_the_right_signature() {
    let with = |name: &str, value: Value| {
        let mut claims = serde_json::to_value(claims()).unwrap();
        claims[name] = value;
        claims
    };
    let without = |name: &str| {
        let mut claims = serde_json::to_value(claims()).unwrap();
        claims.as_object_mut().unwrap().remove(name);
        claims
    };
    let bad = [
        with("exp", json!(1.5e10)),
        with("exp", json!("9999999999")),
        with("exp", json!(-1)),
        without("exp"),
        without("aud"),
        without("ord"),
        with("aud", json!(["main", "other"])),
        with("aud", json!("Not A Slug")),
        with("iss", json!("somebody else")),
        with("sub", json!("root")),
        with("sub", json!("u:")),
        with("ord", json!("7")),
        with("ver", json!(2)),
        with("lane", json!("vip")),
        with("admin", json!(true)),
        json!([]),
        json!(null),
    ];
    for claims in bad {
        let token = forge(&header(), &claims, SECRET);
        assert_eq!(
            ring().verify(&token, NOW).unwrap_err(),
            InvalidToken,
            "{claims}"
        );
    }
    let huge = r#"{"iss":"ropeline","exp":18446744073709551616}"#;
    let signed = format!("{}.{}", ring().keys[0].header, BASE64.encode(huge));
    let signature = mac_with(SECRET)
        .chain_update(&signed)
        .finalize()
        .into_bytes();
    assert!(
        ring()
            .verify(&format!("{signed}.{}", BASE64.encode(signature)), NOW)
            .is_err()
    );
}

#[test]
fn broken_texts_are_refused() {
    let token = ring().sign(&claims());
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let mut last = signature.chars().rev();
    // The last of 43 characters carries four bits; the other two must be zero.
    let other = if last.next() == Some('A') { 'B' } else { 'A' };
    let malleable = format!("{}{other}", &token[..token.len() - 1]);
    let bad = [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "...".to_owned(),
        signed.to_owned(),
        format!("{signed}."),
        format!("{token}="),
        format!("{token}A"),
        format!("{token}.x"),
        format!(" {token}"),
        format!("{token}\n"),
        token[..token.len() - 1].to_owned(),
        token.replace('.', ".."),
        malleable,
        format!("{token}\u{0}"),
        "가.나.다".to_owned(),
        "x".repeat(3_000_000),
    ];
    for text in bad {
        let shown: String = text.chars().take(80).collect();
        assert!(ring().verify(&text, NOW).is_err(), "{shown}");
    }
}

#[test]
fn another_deployments_key_is_refused() {
    let other = KeyRing {
        keys: vec![Key::new("k1", b"another")],
        visitor_secret: mac_with(b""),
    };
    assert!(ring().verify(&other.sign(&claims()), NOW).is_err());
    let header = Header {
        kid: Some("k1".into()),
        ..Header::new(Algorithm::HS256)
    };
    let key = EncodingKey::from_secret(SECRET);
    let token = jsonwebtoken::encode(&header, &claims(), &key).unwrap();
    assert!(ring().verify(&token, NOW).is_err(), "the type is missing");
}

#[test]
fn old_keys_verify_until_they_are_retired() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = KeyFile::open_or_create(directory.path(), NOW).unwrap();
    let before = file.ring().unwrap().sign(&claims());
    let old = file.kids().next().unwrap().0.to_owned();
    assert!(matches!(file.retire(&old), Err(KeyError::Signing(_))));
    KeyFile::change(directory.path(), |keys| keys.rotate(NOW).map(drop)).unwrap();
    file = KeyFile::open(directory.path()).unwrap();
    let ring = file.ring().unwrap();
    let after = ring.sign(&claims());
    assert!(ring.verify(&before, NOW).is_ok() && ring.verify(&after, NOW).is_ok());
    assert_ne!(
        before.split('.').next(),
        after.split('.').next(),
        "the newest signs"
    );
    file.retire(&old).unwrap();
    let ring = file.ring().unwrap();
    assert!(ring.verify(&before, NOW).is_err() && ring.verify(&after, NOW).is_ok());
}

#[test]
fn keys_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let file = KeyFile::open_or_create(directory.path(), NOW).unwrap();
    let path = KeyFile::path(directory.path());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let secret = text["keys"][0]["secret"].as_str().unwrap();
    assert!(!format!("{file:?}").contains(secret), "a secret in a log");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(
        KeyFile::open(directory.path()),
        Err(KeyError::Io { .. })
    ));
}

#[test]
fn the_same_request_names_the_same_anonymous_visitor() {
    let ring = ring();
    assert_eq!(
        ring.visitor_of_key("main", "k"),
        ring.visitor_of_key("main", "k")
    );
    assert_ne!(
        ring.visitor_of_key("main", "k"),
        ring.visitor_of_key("main", "l")
    );
    assert_ne!(
        ring.visitor_of_key("main", "k"),
        ring.visitor_of_key("other", "k")
    );
}
