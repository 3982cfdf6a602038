//! A set of public keys, as login services publish it (RFC 7517).

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use ed25519_dalek::VerifyingKey;
use p256::EncodedPoint;
use p256::elliptic_curve::sec1::FromEncodedPoint;
use rsa::{BigUint, RsaPublicKey};
use serde::Deserialize;
use serde_json::Value;

use super::keys::{Pinned, eddsa, es256, rs256};

/// Services that rotate their keys publish two or three.
const KEYS_MAX: usize = 100;

#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    crv: Option<String>,
    #[serde(default)]
    n: String,
    #[serde(default)]
    e: String,
    #[serde(default)]
    x: String,
    #[serde(default)]
    y: String,
}

/// The keys of a set that logins can be verified with, by their `kid`. The others are told in the log.
pub(super) fn read(bytes: &[u8]) -> Result<BTreeMap<String, Pinned>, String> {
    let set: Set = serde_json::from_slice(bytes)
        .map_err(|error| format!("must hold a JWKS, {{\"keys\": [...]}}: {error}"))?;
    if set.keys.len() > KEYS_MAX {
        return Err(format!("holds more than {KEYS_MAX} keys"));
    }
    let mut keys = BTreeMap::new();
    for (number, jwk) in (1..).zip(set.keys) {
        match named_key(jwk) {
            Ok((kid, key)) => {
                if keys.insert(kid.clone(), key).is_some() {
                    return Err(format!("holds two keys with the kid {kid:?}"));
                }
            }
            Err(reason) => {
                tracing::warn!(number, reason, "a key of the logins' JWKS is ignored");
            }
        }
    }
    if keys.is_empty() {
        return Err(
            "holds no key that can be used: they need a kid and are RSA of 2048 to 4096 bits \
             (RS256), P-256 (ES256) or Ed25519 (EdDSA)"
                .into(),
        );
    }
    Ok(keys)
}

fn named_key(jwk: Value) -> Result<(String, Pinned), String> {
    let jwk: Jwk = serde_json::from_value(jwk).map_err(|_| "it is malformed")?;
    let (algorithm, key) = key(&jwk)?;
    let name = format!("{algorithm:?}");
    if jwk.alg.is_some_and(|alg| alg != name) {
        return Err(format!("its alg is not {name}"));
    }
    if jwk.purpose.is_some_and(|purpose| purpose != "sig") {
        return Err("its use is not sig".into());
    }
    let kid = jwk.kid.filter(|kid| !kid.is_empty());
    Ok((kid.ok_or("it has no kid")?, (algorithm, key)))
}

fn key(jwk: &Jwk) -> Result<Pinned, String> {
    let malformed = "it is malformed";
    match (jwk.kty.as_str(), jwk.crv.as_deref()) {
        ("RSA", None) => {
            let number = |text| bytes(text).map(|bytes| BigUint::from_bytes_be(&bytes));
            let key = RsaPublicKey::new(number(&jwk.n)?, number(&jwk.e)?);
            rs256(&key.map_err(|_| malformed)?)
        }
        ("EC", Some("P-256")) => {
            let coordinate = |text| -> Result<[u8; 32], String> {
                bytes(text)?.try_into().map_err(|_| malformed.into())
            };
            let (x, y) = (coordinate(&jwk.x)?, coordinate(&jwk.y)?);
            let point = EncodedPoint::from_affine_coordinates(&x.into(), &y.into(), false);
            let key = Option::from(p256::PublicKey::from_encoded_point(&point));
            key.map(|key| es256(&key)).ok_or_else(|| malformed.into())
        }
        ("OKP", Some("Ed25519")) => {
            let key = VerifyingKey::try_from(&*bytes(&jwk.x)?);
            eddsa(&key.map_err(|_| malformed)?)
        }
        _ => Err("its type is none that we know".into()),
    }
}

fn bytes(text: &str) -> Result<Vec<u8>, String> {
    BASE64.decode(text).map_err(|_| "it is malformed".into())
}
