//! Logins that the box office gives out itself, in place of a site that has its own.

use std::{fmt, time::Duration};

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use ropeline_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::UserId;

/// Who the logins say has made them.
pub const LOGIN_ISSUER: &str = "ropeline-boxoffice";
/// Whom the logins say they are for: the box office and the waiting room before it.
pub const LOGIN_AUDIENCE: &str = "ropeline";
/// Longer than any sale's line.
pub(crate) const LOGIN_TTL: Duration = Duration::from_secs(12 * 60 * 60);
/// Ours have about 200 bytes; longer texts are not looked at.
const LOGIN_BYTES_MAX: usize = 1_024;

/// Gives out logins, and knows them again. A login is a JWT, signed by HMAC with SHA-256.
#[derive(Clone)]
pub struct Logins {
    signing: EncodingKey,
    verifying: DecodingKey,
    rules: Validation,
}

#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: String,
    iat: u64,
    exp: u64,
}

impl Logins {
    /// Signs with this secret, at least 32 random bytes.
    pub fn with_secret(secret: &[u8]) -> Self {
        let mut rules = Validation::new(Algorithm::HS256);
        rules.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        rules.set_audience(&[LOGIN_AUDIENCE]);
        rules.set_issuer(&[LOGIN_ISSUER]);
        // The library would read the machine's clock, and allow for a minute.
        rules.leeway = 0;
        rules.validate_exp = false;
        Self {
            signing: EncodingKey::from_secret(secret),
            verifying: DecodingKey::from_secret(secret),
            rules,
        }
    }

    /// A login of this user that is good from now on.
    pub(crate) fn issue(&self, user: UserId, now: Timestamp) -> String {
        let claims = Claims {
            iss: LOGIN_ISSUER.to_owned(),
            aud: LOGIN_AUDIENCE.to_owned(),
            sub: user.to_string(),
            iat: seconds(now),
            exp: seconds(now + LOGIN_TTL),
        };
        encode(&Header::new(Algorithm::HS256), &claims, &self.signing)
            .expect("plain claims can be signed with a secret")
    }

    /// Whose login this is, if it is one now.
    pub(crate) fn verify(&self, login: &str, now: Timestamp) -> Option<UserId> {
        if login.len() > LOGIN_BYTES_MAX {
            return None;
        }
        let Claims { sub, exp, .. } = decode(login, &self.verifying, &self.rules).ok()?.claims;
        let user = UserId::named(&sub)?;
        (seconds(now) < exp).then_some(user)
    }
}

impl fmt::Debug for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Logins")
    }
}

fn seconds(at: Timestamp) -> u64 {
    at.0 / 1_000
}

#[cfg(test)]
mod tests {
    use ropeline_testing::login::LoginKey;
    use serde_json::{Value, json};

    use super::*;

    const SECRET: &[u8] = b"a secret of thirty-two bytes or so";
    const NOW: Timestamp = Timestamp(1_800_000_000_000);
    const KIM: UserId = UserId(42);

    fn claims() -> Value {
        json!({"iss": LOGIN_ISSUER, "aud": LOGIN_AUDIENCE, "sub": "42", "iat": 1_800_000_000_u64,
            "exp": 1_800_000_060_u64})
    }

    #[test]
    fn a_login_lasts_twelve_hours_to_the_second() {
        let logins = Logins::with_secret(SECRET);
        let login = logins.issue(KIM, NOW);
        assert_eq!(logins.verify(&login, NOW), Some(KIM));
        let end = NOW + LOGIN_TTL;
        assert_eq!(logins.verify(&login, Timestamp(end.0 - 1)), Some(KIM));
        assert_eq!(logins.verify(&login, end), None);
    }

    #[test]
    fn what_others_signed_or_for_others_is_no_login() {
        let logins = Logins::with_secret(SECRET);
        let ours = LoginKey::hs256(SECRET);
        assert_eq!(
            logins.verify(&ours.login(&claims()), NOW),
            Some(KIM),
            "the claims are good"
        );
        for (name, value) in [
            ("iss", json!("another")),
            ("aud", json!("another")),
            ("sub", json!("042")),
            ("sub", json!("kim")),
            ("sub", json!(42)),
            ("exp", json!("1800000060")),
            ("exp", json!(1_799_999_999_u64)),
        ] {
            let mut other = claims();
            other[name] = value;
            assert_eq!(logins.verify(&ours.login(&other), NOW), None, "{other}");
        }
        let others = LoginKey::hs256(b"another secret of thirty-two bytes");
        assert_eq!(logins.verify(&others.login(&claims()), NOW), None);
        assert_eq!(logins.verify(&ours.login_by("HS512", &claims()), NOW), None);
        let unsigned = ours.sign(&json!({"alg": "none"}), &claims());
        assert_eq!(logins.verify(&unsigned, NOW), None);
        for text in ["", ".", "..", &"x".repeat(2_000)] {
            assert_eq!(logins.verify(text, NOW), None);
        }
    }
}
