//! Logins of a site, good and bad.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use ed25519_dalek::pkcs8::{EncodePrivateKey, EncodePublicKey};
use jsonwebtoken::{Algorithm, EncodingKey, crypto};
use p256::elliptic_curve::{rand_core::OsRng, sec1::ToEncodedPoint};
use rsa::{pkcs1::EncodeRsaPrivateKey, pkcs8::LineEnding, traits::PublicKeyParts};
use serde_json::{Value, json};

/// A key of a login service, with what it publishes.
pub struct LoginKey {
    algorithm: Algorithm,
    key: EncodingKey,
    /// The public key in PEM; empty for a secret.
    pub pem: String,
    /// The public key as a JWK without `kid`.
    pub jwk: Value,
}

impl LoginKey {
    /// HS256 with a secret.
    pub fn hs256(secret: &[u8]) -> Self {
        Self {
            algorithm: Algorithm::HS256,
            key: EncodingKey::from_secret(secret),
            pem: String::new(),
            jwk: json!({"kty": "oct", "k": BASE64.encode(secret)}),
        }
    }

    /// RS256 with a new key of so many bits.
    pub fn rs256(bits: usize) -> Self {
        let key = rsa::RsaPrivateKey::new(&mut OsRng, bits).expect("a size that RSA knows");
        let public = key.to_public_key();
        let der = key.to_pkcs1_der().expect("a key that was just made");
        let number = |number: &rsa::BigUint| BASE64.encode(number.to_bytes_be());
        Self {
            algorithm: Algorithm::RS256,
            key: EncodingKey::from_rsa_der(der.as_bytes()),
            pem: pem(&public),
            jwk: json!({"kty": "RSA", "n": number(public.n()), "e": number(public.e())}),
        }
    }

    /// ES256 with a new key.
    pub fn es256() -> Self {
        let key = p256::SecretKey::random(&mut OsRng);
        let der = key.to_pkcs8_der().expect("a key that was just made");
        let point = key.public_key().to_encoded_point(false);
        let coordinate = |bytes: Option<_>| {
            let bytes: &p256::FieldBytes = bytes.expect("an uncompressed point has both");
            BASE64.encode(bytes)
        };
        let (x, y) = (coordinate(point.x()), coordinate(point.y()));
        Self {
            algorithm: Algorithm::ES256,
            key: EncodingKey::from_ec_der(der.as_bytes()),
            pem: pem(&key.public_key()),
            jwk: json!({"kty": "EC", "crv": "P-256", "x": x, "y": y}),
        }
    }

    /// `EdDSA` with a new Ed25519 key.
    pub fn eddsa() -> Self {
        let seed = p256::SecretKey::random(&mut OsRng).to_bytes();
        let key = ed25519_dalek::SigningKey::from_bytes(&seed.into());
        let der = key.to_pkcs8_der().expect("a key that was just made");
        let x = BASE64.encode(key.verifying_key().as_bytes());
        Self {
            algorithm: Algorithm::EdDSA,
            key: EncodingKey::from_ed_der(der.as_bytes()),
            pem: pem(&key.verifying_key()),
            jwk: json!({"kty": "OKP", "crv": "Ed25519", "x": x}),
        }
    }

    /// The JWK with a `kid`.
    pub fn jwk_named(&self, kid: &str) -> Value {
        let mut jwk = self.jwk.clone();
        jwk["kid"] = kid.into();
        jwk
    }

    /// A login that says this, with the header that goes with the key.
    pub fn login(&self, claims: &Value) -> String {
        self.sign(&json!({"alg": self.name(), "typ": "JWT"}), claims)
    }

    /// As [`LoginKey::login`], naming the key.
    pub fn login_named(&self, kid: &str, claims: &Value) -> String {
        self.sign(&json!({"alg": self.name(), "kid": kid}), claims)
    }

    fn name(&self) -> String {
        format!("{:?}", self.algorithm)
    }

    /// A genuine signature below any header and claims.
    pub fn sign(&self, header: &Value, claims: &Value) -> String {
        self.sign_text(&header.to_string(), &claims.to_string())
    }

    /// A genuine signature of the same key by another algorithm of its family.
    pub fn login_by(&self, algorithm: &str, claims: &Value) -> String {
        let header = json!({"alg": algorithm}).to_string();
        let algorithm = algorithm.parse().expect("an algorithm");
        self.signed(algorithm, &header, &claims.to_string())
    }

    /// As [`LoginKey::sign`], for what no JSON value can hold.
    pub fn sign_text(&self, header: &str, claims: &str) -> String {
        self.signed(self.algorithm, header, claims)
    }

    fn signed(&self, algorithm: Algorithm, header: &str, claims: &str) -> String {
        let message = format!("{}.{}", BASE64.encode(header), BASE64.encode(claims));
        let signature = crypto::sign(message.as_bytes(), &self.key, algorithm);
        format!("{message}.{}", signature.expect("a key of its algorithm"))
    }
}

impl std::fmt::Debug for LoginKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LoginKey").field(&self.algorithm).finish()
    }
}

fn pem(key: &impl EncodePublicKey) -> String {
    key.to_public_key_pem(LineEnding::LF)
        .expect("a key that was just made")
}
