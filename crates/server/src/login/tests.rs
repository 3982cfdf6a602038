use std::path::PathBuf;

use ed25519_dalek::VerifyingKey;
use ropeline_testing::{line::START, login::LoginKey, write_secret};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::config::LoginKeyFile;

/// Keys of a file with this text.
fn open(kind: fn(PathBuf) -> LoginKeyFile, text: &[u8]) -> Result<Logins, String> {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("keys");
    write_secret(&path, text);
    let source = LoginSource {
        keys: kind(path.clone()),
        issuer: "i".into(),
        audience: "a".into(),
    };
    let open = Logins::open(&source, Duration::ZERO);
    open.map_err(|error| {
        let text = error.to_string();
        let wrong = text.strip_prefix(&format!("{} ", path.display()));
        wrong.expect("an error names its file").to_owned()
    })
}

fn wrong(kind: fn(PathBuf) -> LoginKeyFile, text: impl AsRef<[u8]>) -> String {
    open(kind, text.as_ref()).unwrap_err()
}

fn verify(logins: &Logins, login: &str) -> Result<String, InvalidLogin> {
    let user = logins.verify(login, START)?;
    Ok(user.as_str().to_owned())
}

fn claims() -> serde_json::Value {
    json!({"iss": "i", "aud": "a", "sub": "ann", "exp": START.0 / 1_000 + 1})
}

#[test]
fn a_secret_is_long_and_ends_with_its_line() {
    let secret = [b'x'; 32];
    for end in [&b""[..], b"\n", b"\r\n"] {
        let logins = open(LoginKeyFile::Secret, &[&secret, end].concat()).unwrap();
        let login = LoginKey::hs256(&secret).login(&claims());
        assert_eq!(verify(&logins, &login).as_deref(), Ok("ann"));
    }
    let short = "must hold a secret of at least 32 bytes";
    assert_eq!(wrong(LoginKeyFile::Secret, [b'x'; 31]), short);
    assert_eq!(
        wrong(LoginKeyFile::Secret, [&[b'x'; 31][..], b"\n"].concat()),
        short
    );
    assert_eq!(wrong(LoginKeyFile::Secret, ""), short);
}

#[test]
fn a_public_key_is_no_secret() {
    assert_eq!(
        wrong(LoginKeyFile::Secret, LoginKey::es256().pem),
        "holds a key in PEM and not a secret: name it by public_key_file"
    );
}

#[test]
fn a_weak_rsa_key_is_refused() {
    let weak = LoginKey::rs256(1_024);
    assert_eq!(
        wrong(LoginKeyFile::PublicKey, &weak.pem),
        "holds an RSA key of 1024 bits; at least 2048 are needed"
    );
    let set = json!({"keys": [weak.jwk_named("k")]}).to_string();
    assert!(wrong(LoginKeyFile::Jwks, set).starts_with("holds no key that can be used"));
}

#[test]
fn a_file_without_a_public_key_is_told_what_belongs_there() {
    let private = "-----BEGIN PRIVATE KEY-----\nMC4CAQ==\n-----END PRIVATE KEY-----\n";
    assert_eq!(
        wrong(LoginKeyFile::PublicKey, private),
        "holds a private key: only its public half belongs here"
    );
    let other = "must hold a public key in PEM: RSA of 2048 to 4096 bits, P-256 or Ed25519";
    let half = &LoginKey::es256().pem[..100];
    for text in ["", "secret", half, "\u{feff}"] {
        assert_eq!(wrong(LoginKeyFile::PublicKey, text), other);
    }
    assert_eq!(wrong(LoginKeyFile::PublicKey, [0xff, 0xfe]), other);
    assert_eq!(
        wrong(LoginKeyFile::PublicKey, vec![b' '; 1_024 * 1_024 + 1]),
        "cannot be read: it is larger than 1 MiB"
    );
}

#[test]
fn an_ed25519_key_that_fits_anybodys_signature_is_refused() {
    // The neutral element of the curve.
    let mut x = [0; 32];
    x[0] = 1;
    let key = VerifyingKey::from_bytes(&x).unwrap();
    assert!(keys::eddsa(&key).is_err());
}

#[test]
fn keys_that_a_set_cannot_use_are_left_out() {
    let good = LoginKey::es256();
    let changed = |member: &str, value: &str| {
        let mut jwk = good.jwk_named(member);
        jwk[member] = value.into();
        jwk
    };
    let useless = [
        good.jwk.clone(),
        LoginKey::hs256(&[1; 32]).jwk_named("secret"),
        changed("kty", "AKP"),
        changed("crv", "P-384"),
        changed("x", "AAAA"),
        changed("y", "not base64!"),
        changed("alg", "ES384"),
        changed("use", "enc"),
        changed("kid", ""),
        json!({"kty": "RSA", "kid": "empty", "n": "", "e": ""}),
        json!({"kty": "OKP", "kid": "short", "crv": "Ed25519", "x": "AAAA"}),
        json!("no key at all"),
    ];
    let set = json!({"keys": useless}).to_string();
    assert!(wrong(LoginKeyFile::Jwks, set).starts_with("holds no key that can be used"));

    let mut keys = useless.to_vec();
    let mut full = good.jwk_named("good");
    full["alg"] = "ES256".into();
    full["use"] = "sig".into();
    keys.push(full);
    let logins = open(
        LoginKeyFile::Jwks,
        json!({"keys": keys}).to_string().as_bytes(),
    )
    .unwrap();
    let login = good.login_named("good", &claims());
    assert_eq!(verify(&logins, &login).as_deref(), Ok("ann"));
    for kid in ["", "alg", "use", "crv", "kty", "x"] {
        let login = good.login_named(kid, &claims());
        assert_eq!(verify(&logins, &login), Err(InvalidLogin), "{kid}");
    }
}

#[test]
fn a_set_names_each_key_once() {
    let keys = [
        LoginKey::es256().jwk_named("k"),
        LoginKey::eddsa().jwk_named("k"),
    ];
    let set = json!({"keys": keys}).to_string();
    assert_eq!(
        wrong(LoginKeyFile::Jwks, set),
        "holds two keys with the kid \"k\""
    );
    let crowd = json!({"keys": vec![json!({}); 101]}).to_string();
    assert_eq!(wrong(LoginKeyFile::Jwks, crowd), "holds more than 100 keys");
    let no_set = wrong(LoginKeyFile::Jwks, "[]");
    assert!(no_set.starts_with("must hold a JWKS"), "{no_set}");
}

#[test]
fn a_huge_text_is_not_looked_at() {
    let key = LoginKey::es256();
    let set = json!({"keys": [key.jwk_named(&"k".repeat(1_024 * 512))]}).to_string();
    let logins = open(LoginKeyFile::Jwks, set.as_bytes()).unwrap();
    let login = key.login_named(&"k".repeat(1_024 * 512), &claims());
    assert_eq!(verify(&logins, &login), Err(InvalidLogin));
    for text in ["x".repeat(1_024 * 1_024), ".".repeat(1_024 * 1_024)] {
        assert_eq!(verify(&logins, &text), Err(InvalidLogin));
    }
}

#[test]
fn the_end_of_time_is_a_time() {
    let secret = [b'x'; 32];
    let logins = open(LoginKeyFile::Secret, &secret).unwrap();
    let mut claims = claims();
    claims["exp"] = json!(u64::MAX);
    let login = LoginKey::hs256(&secret).login(&claims);
    assert_eq!(verify(&logins, &login).as_deref(), Ok("ann"));
    claims["nbf"] = json!(u64::MAX);
    let login = LoginKey::hs256(&secret).login(&claims);
    assert_eq!(verify(&logins, &login), Err(InvalidLogin));
}

#[test]
fn a_secret_is_not_in_the_debug_output() {
    let logins = open(LoginKeyFile::Secret, b"hunter2-hunter2-hunter2-hunter2-").unwrap();
    assert!(!format!("{logins:?}").contains("hunter2"));
    let bytes = format!("{:?}", b"hunter2");
    assert!(!format!("{logins:?}").contains(bytes.trim_matches(['[', ']'])));
}
