//! Keys that verify logins, each with the one algorithm that it may be used with.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

use ed25519_dalek::VerifyingKey;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use p256::elliptic_curve::sec1::ToEncodedPoint;
use ropeline_store::private;
use rsa::{
    RsaPublicKey, pkcs1::DecodeRsaPublicKey, pkcs8::DecodePublicKey, traits::PublicKeyParts,
};
use thiserror::Error;

use super::jwks;
use crate::config::LoginKeyFile;

/// More is no file of keys.
const FILE_BYTES_MAX: u64 = 1_024 * 1_024;
/// A shorter secret can be found by trying, given one token.
const SECRET_BYTES_MIN: usize = 32;
/// Shorter RSA keys can be broken.
const RSA_BITS_MIN: usize = 2_048;

/// Why keys of logins cannot be used, worded for the operator.
#[derive(Debug, Error)]
#[error("{path} {wrong}")]
pub struct LoginKeyError {
    path: PathBuf,
    wrong: String,
}

/// The keys of one source.
#[derive(Debug)]
pub(super) enum Keys {
    /// There is one, whatever a token calls it.
    One(Box<Key>),
    /// A token names one by its `kid`.
    Named(BTreeMap<String, Key>),
}

/// A key, and the rules that go with it.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) key: DecodingKey,
    pub(super) rules: Validation,
}

/// A key and its algorithm.
pub(super) type Pinned = (Algorithm, DecodingKey);

impl Keys {
    pub(super) fn read(file: &LoginKeyFile, audience: &str) -> Result<Self, LoginKeyError> {
        let path = file.path();
        let fail = |wrong: String| LoginKeyError {
            path: path.to_owned(),
            wrong,
        };
        let opened = match file {
            LoginKeyFile::Secret(_) => private::open_given_secret(path),
            LoginKeyFile::PublicKey(_) | LoginKeyFile::Jwks(_) => File::open(path),
        };
        let bytes = opened.and_then(contents);
        let bytes = bytes.map_err(|error| fail(format!("cannot be read: {error}")))?;
        let with_rules = |key| Key::new(key, audience);
        let one = |key| Self::One(Box::new(with_rules(key)));
        let keys = match file {
            LoginKeyFile::Secret(_) => secret(&bytes).map(one),
            LoginKeyFile::PublicKey(_) => pem(&bytes).map(one),
            LoginKeyFile::Jwks(_) => jwks::read(&bytes).map(|keys| {
                let keys = keys.into_iter().map(|(kid, key)| (kid, with_rules(key)));
                Self::Named(keys.collect())
            }),
        };
        keys.map_err(fail)
    }

    pub(super) fn shared(secret: &[u8; 32], audience: &str) -> Self {
        let key = (Algorithm::HS256, DecodingKey::from_secret(secret));
        Self::One(Box::new(Key::new(key, audience)))
    }

    pub(super) fn named(&self, kid: Option<&str>) -> Option<&Key> {
        match self {
            Self::One(key) => Some(key),
            Self::Named(keys) => keys.get(kid?),
        }
    }
}

impl Key {
    fn new((algorithm, key): Pinned, audience: &str) -> Self {
        let mut rules = Validation::new(algorithm);
        rules.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        rules.set_audience(&[audience]);
        // The library would read the machine's clock; the caller compares the times with ours.
        rules.validate_exp = false;
        rules.validate_nbf = false;
        Self { key, rules }
    }
}

fn contents(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("it is larger than 1 MiB"));
    }
    Ok(bytes)
}

fn secret(bytes: &[u8]) -> Result<Pinned, String> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let secret = line.strip_suffix(b"\r").unwrap_or(line);
    if secret.starts_with(b"-----BEGIN") {
        return Err("holds a key in PEM and not a secret: name it by public_key_file".into());
    }
    if secret.len() < SECRET_BYTES_MIN {
        return Err(format!(
            "must hold a secret of at least {SECRET_BYTES_MIN} bytes"
        ));
    }
    Ok((Algorithm::HS256, DecodingKey::from_secret(secret)))
}

fn pem(bytes: &[u8]) -> Result<Pinned, String> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    if text.contains("PRIVATE KEY-----") {
        return Err("holds a private key: only its public half belongs here".into());
    }
    let rsa = RsaPublicKey::from_public_key_pem(text);
    if let Ok(key) = rsa.or_else(|_| RsaPublicKey::from_pkcs1_pem(text)) {
        return rs256(&key);
    }
    if let Ok(key) = p256::PublicKey::from_public_key_pem(text) {
        return Ok(es256(&key));
    }
    if let Ok(key) = VerifyingKey::from_public_key_pem(text) {
        return eddsa(&key);
    }
    Err("must hold a public key in PEM: RSA of 2048 to 4096 bits, P-256 or Ed25519".into())
}

pub(super) fn rs256(key: &RsaPublicKey) -> Result<Pinned, String> {
    let bits = key.n().bits();
    if bits < RSA_BITS_MIN {
        return Err(format!(
            "holds an RSA key of {bits} bits; at least {RSA_BITS_MIN} are needed"
        ));
    }
    let (n, e) = (key.n().to_bytes_be(), key.e().to_bytes_be());
    let key = DecodingKey::from_rsa_raw_components(&n, &e);
    Ok((Algorithm::RS256, key))
}

pub(super) fn es256(key: &p256::PublicKey) -> Pinned {
    let point = key.to_encoded_point(false);
    (Algorithm::ES256, DecodingKey::from_ec_der(point.as_bytes()))
}

pub(super) fn eddsa(key: &VerifyingKey) -> Result<Pinned, String> {
    if key.is_weak() {
        return Err("holds an Ed25519 key that fits signatures of anybody".into());
    }
    let key = DecodingKey::from_ed_der(key.as_bytes());
    Ok((Algorithm::EdDSA, key))
}
