//! Logins made to deceive: all are refused, and all in the same words.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use ropeline_testing::{http::Ask, login::LoginKey};
use serde_json::{Value, json};

use crate::{
    app::ADMIN_KEY,
    site::{AUDIENCE, ISSUER, RSA, SECRET, Site, claims, now_s},
};

/// The one answer to every bad login, without its request id.
fn refusal(site: &mut Site, login: &str) -> Value {
    let reply = site.join(login);
    let mut body = reply.json();
    assert_eq!(reply.status, 401, "{login}: {body}");
    let members = body.as_object_mut().unwrap();
    let id = members.remove("requestId");
    assert_eq!(id.unwrap().as_str(), reply.header("x-request-id"));
    body
}

/// Asserts that each of these is refused with the same body, after a good login was taken.
fn all_are_refused(site: &mut Site, good: &str, bad: &[(&str, String)]) {
    assert_eq!(site.join(good).status, 201, "a good login is taken at all");
    let expected = refusal(site, "nonsense");
    assert_eq!(expected["code"], "LOGIN_INVALID");
    for (why, login) in bad {
        assert_eq!(refusal(site, login), expected, "{why}");
    }
    let key = format!("Bearer {ADMIN_KEY}");
    let room = Ask::get("/api/v1/admin/rooms/main").header("Authorization", &key);
    let issued = site.app.send(room).json()["issued"].clone();
    assert_eq!(issued, 1, "no other has taken a place");
}

fn part(value: &Value) -> String {
    BASE64.encode(value.to_string())
}

/// The claims of a good login with one of them replaced; `null` takes it away.
fn with(claim: &str, value: Value) -> Value {
    let mut claims = claims("ann");
    let members = claims.as_object_mut().unwrap();
    members.insert(claim.to_owned(), value);
    members.retain(|_, value| !value.is_null());
    claims
}

#[test]
fn the_token_does_not_choose_its_algorithm() {
    let mut site = Site::new("jwt", "public_key_file", RSA.pem.as_bytes());
    let good = RSA.login(&claims("ann"));
    let (payload, signature) = (
        good.split('.').nth(1).unwrap(),
        good.rsplit('.').next().unwrap(),
    );
    let mut bad = Vec::new();
    for alg in ["none", "None", "nOnE", "NONE", ""] {
        let header = part(&json!({"alg": alg}));
        bad.push((alg, format!("{header}.{payload}.")));
        bad.push((alg, format!("{header}.{payload}.{signature}")));
    }
    let pem = RSA.pem.as_bytes();
    for secret in [pem, pem.trim_ascii_end(), b""] {
        let login = LoginKey::hs256(secret).login(&claims("ann"));
        bad.push(("HS256 with the public key as secret", login));
    }
    for alg in ["RS384", "RS512", "PS256", "ES256", "EdDSA", "HS256"] {
        let login = RSA.sign(&json!({"alg": alg}), &claims("ann"));
        bad.push(("a genuine signature under another name", login));
    }
    for alg in ["RS384", "RS512", "PS256", "PS384", "PS512"] {
        bad.push((alg, RSA.login_by(alg, &claims("ann"))));
    }
    all_are_refused(&mut site, &good, &bad);
}

#[test]
fn the_token_does_not_bring_its_key() {
    let ours = LoginKey::es256();
    let set = json!({"keys": [ours.jwk_named("k1")]});
    let mut site = Site::new("jwt", "jwks_file", set.to_string().as_bytes());
    let theirs = LoginKey::es256();
    let forged = |header: &Value| {
        let mut full = json!({"alg": "ES256", "kid": "k1"});
        let members = header.as_object().unwrap().clone();
        full.as_object_mut().unwrap().extend(members);
        theirs.sign(&full, &claims("ann"))
    };
    let url = "http://127.0.0.1:1/jwks.json";
    let bad = [
        ("another's key", forged(&json!({}))),
        (
            "embedded jwk",
            forged(&json!({"jwk": theirs.jwk_named("k1")})),
        ),
        ("jku", forged(&json!({"jku": url}))),
        ("x5u", forged(&json!({"x5u": url}))),
        ("x5c", forged(&json!({"x5c": ["MIIB"]}))),
        ("unknown kid", forged(&json!({"kid": "k2"}))),
        (
            "kid as path",
            forged(&json!({"kid": "../../../../dev/null"})),
        ),
        ("kid as SQL", forged(&json!({"kid": "k1' OR '1'='1"}))),
        ("kid as URL", forged(&json!({"kid": url}))),
        ("kid as number", forged(&json!({"kid": 1}))),
        ("long kid", forged(&json!({"kid": "k".repeat(5_000)}))),
        (
            "too long in all",
            forged(&json!({"kid": "k".repeat(7_000)})),
        ),
        (
            "our kid in another case",
            ours.sign(&json!({"alg": "ES256", "kid": "K1"}), &claims("ann")),
        ),
        (
            "an extension that must be understood",
            ours.sign(
                &json!({"alg": "ES256", "kid": "k1", "crit": ["b64"], "b64": false}),
                &claims("ann"),
            ),
        ),
    ];
    all_are_refused(&mut site, &ours.login_named("k1", &claims("ann")), &bad);
}

#[test]
fn a_login_is_taken_whole_or_not_at_all() {
    let mut site = Site::sharing_a_secret("jwt");
    let good = LoginKey::hs256(SECRET).login(&claims("ann"));
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (header, payload) = signed.split_once('.').unwrap();
    let other = part(&claims("bob"));
    // The last character of a MAC in base64 has two bits to spare, which must be zero.
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let (rest, last) = signature.split_at(signature.len() - 1);
    let at = alphabet.find(last).unwrap();
    let loose = &alphabet[at + 1..at + 2];
    let bad = [
        (
            "HS384",
            LoginKey::hs256(SECRET).login_by("HS384", &claims("ann")),
        ),
        (
            "HS512",
            LoginKey::hs256(SECRET).login_by("HS512", &claims("ann")),
        ),
        ("truncated", good[..good.len() - 1].to_owned()),
        ("trailing character", format!("{good}A")),
        ("trailing part", format!("{good}.x")),
        ("padding", format!("{good}=")),
        ("empty signature", format!("{signed}.")),
        ("no signature", signed.to_owned()),
        ("another's claims", format!("{header}.{other}.{signature}")),
        ("no claims", format!("{header}..{signature}")),
        ("no header", format!(".{payload}.{signature}")),
        ("three dots", "...".to_owned()),
        ("not canonical", format!("{signed}.{rest}{loose}")),
        ("two of them", format!("{good} {good}")),
        ("not ASCII", "토큰.토큰.토큰".to_owned()),
    ];
    all_are_refused(&mut site, &good, &bad);
}

#[test]
fn every_claim_must_be_there_and_right() {
    let mut site = Site::sharing_a_secret("jwt");
    let key = LoginKey::hs256(SECRET);
    let hour = now_s() + 3_600;
    let beyond: Value = serde_json::from_str("18446744073709551616").unwrap();
    let bad = [
        ("exp", Value::Null),
        ("exp", json!(now_s())),
        ("exp", json!(0)),
        ("exp", json!(-1)),
        ("exp", serde_json::from_str(&format!("{hour}.5")).unwrap()),
        ("exp", json!(hour.to_string())),
        ("exp", beyond),
        ("exp", json!([hour])),
        ("nbf", json!(now_s() + 1)),
        ("nbf", json!("0")),
        ("nbf", serde_json::from_str("1.5").unwrap()),
        ("aud", Value::Null),
        ("aud", json!("another")),
        ("aud", json!("")),
        ("aud", json!(["another", "tickets-admin"])),
        ("aud", json!([])),
        ("aud", json!({AUDIENCE: true})),
        ("iss", Value::Null),
        ("iss", json!("https://login.example.evil")),
        ("iss", json!(format!("{ISSUER}/"))),
        ("iss", json!([ISSUER])),
        ("sub", Value::Null),
        ("sub", json!("")),
        ("sub", json!("x".repeat(129))),
        ("sub", json!("ann lee")),
        ("sub", json!("ann\n")),
        ("sub", json!("a:00000000000000000000000000000007")),
        ("sub", json!("앤")),
        ("sub", json!(42)),
    ];
    let bad: Vec<_> = bad
        .map(|(claim, value)| (claim, key.login(&with(claim, value))))
        .into();
    all_are_refused(&mut site, &key.login(&claims("ann")), &bad);
}

#[test]
fn a_login_may_be_for_others_too() {
    let mut site = Site::sharing_a_secret("jwt");
    let claims = with("aud", json!(["another", AUDIENCE]));
    let reply = site.join(&LoginKey::hs256(SECRET).login(&claims));
    assert_eq!(reply.status, 201);
}

#[test]
fn a_claim_said_twice_is_not_believed() {
    let mut site = Site::sharing_a_secret("jwt");
    let key = LoginKey::hs256(SECRET);
    let twice = |claim: &str| {
        let first = format!("{{{claim},");
        let claims = claims("ann").to_string().replacen('{', &first, 1);
        key.sign_text(r#"{"alg":"HS256"}"#, &claims)
    };
    let bad = [
        ("sub", twice(r#""sub":"bob""#)),
        ("exp", twice(r#""exp":1"#)),
        ("iss", twice(r#""iss":"https://evil.example""#)),
        ("aud", twice(r#""aud":"another""#)),
    ];
    all_are_refused(&mut site, &key.login(&claims("ann")), &bad);
}
