//! How the site's login tokens are verified.

use std::{
    net::SocketAddr,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    time::Duration,
};

use ropeline_core::{FieldError, Identity, Policy};
use toml::de::DeValue;

use super::{
    Settings, keys,
    section::Section,
    value::{Wrong, duration_within, path, text},
};
use crate::login::Logins;

/// More than this is no disagreement of clocks but a longer life for stolen tokens.
const LEEWAY: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(5);

/// What `[login]` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginSettings {
    /// Whose logins are believed; `None` where no key is given.
    pub source: Option<LoginSource>,
    /// How far the clocks may disagree.
    pub leeway: Duration,
}

/// Whose logins are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginSource {
    /// Where the keys are.
    pub keys: LoginKeyFile,
    /// What `iss` must be.
    pub issuer: String,
    /// What `aud` must be or contain.
    pub audience: String,
}

/// A file of keys that verify logins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginKeyFile {
    /// A shared secret.
    Secret(PathBuf),
    /// A public key in PEM.
    PublicKey(PathBuf),
    /// Public keys as a JWKS.
    Jwks(PathBuf),
}

/// Whether this server can have verified users at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifiedUsers {
    /// `[login]` names a key, the box office serves here and brings its own, or a service key is set, so that a
    /// service can vouch for its users.
    Possible,
    /// None of the three.
    Impossible,
}

impl LoginKeyFile {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Secret(path) | Self::PublicKey(path) | Self::Jwks(path) => path,
        }
    }

    /// The setting that names it.
    pub fn setting(&self) -> &'static str {
        match self {
            Self::Secret(_) => "secret_file",
            Self::PublicKey(_) => "public_key_file",
            Self::Jwks(_) => "jwks_file",
        }
    }
}

/// Whether a room with this policy could know its visitors here: one that takes only verified users
/// would refuse everybody where nobody can vouch for them.
pub fn check_identity(policy: &Policy, users: VerifiedUsers) -> Result<(), FieldError> {
    if policy.identity == Identity::Jwt && users == VerifiedUsers::Impossible {
        return Err(FieldError {
            field: "identity",
            message: "\"jwt\" needs someone who vouches for users: set secret_file, \
                      public_key_file or jwks_file in [login], set a service key \
                      (service_key_file), or let the box office serve here (section [boxoffice]; \
                      with a Redis store it also needs a database)"
                .into(),
        });
    }
    Ok(())
}

impl Settings {
    /// Whether others than this machine can reach a server that listens on this address: directly, or through a
    /// proxy.
    pub fn is_public(&self, listen: SocketAddr) -> bool {
        let by_proxy = self.public_url.is_some() || !self.trusted_proxies.networks().is_empty();
        by_proxy || !listen.ip().is_loopback()
    }

    /// What to tell an operator whose room takes user ids as stated although others can reach it.
    pub fn advice_for_open_room(&self) -> String {
        let database = self.database.as_ref();
        let logins = if self.login.source.is_some() {
            "which takes the logins of [login]"
        } else if self.boxoffice.serves_with(&self.store, database) {
            "which takes the logins of the box office"
        } else {
            "and a key for logins in [login]"
        };
        format!(
            "this room believes any userId, and others than this machine can reach it: set identity = \"jwt\", \
             {logins}, or identity = \"anonymous\", or let only your own back end join"
        )
    }
}

/// Refuses the keys of `[login]`: a box office gives out user ids itself.
pub(super) fn refuse_next_to_box_office(file: &mut Section<'_>) {
    file.refuse_section(
        "login",
        "names a key while the box office serves here, and both give out user ids: user 7 of your site and user 7 \
         of the box office would have one place",
        "turn the box office off (enabled = false in [boxoffice]), or remove the key from [login]",
    );
}

/// Reads `[login]` over its defaults, and says whether it names a key, right or wrong.
pub(super) fn read(file: &mut Section<'_>, login: &mut LoginSettings) -> VerifiedUsers {
    let Some(mut section) = file.section("login", &keys::LOGIN) else {
        return VerifiedUsers::Impossible;
    };
    section.set(&mut login.leeway, "leeway", duration_within(LEEWAY));
    let issuer = section.get("issuer", name);
    let audience = section.get("audience", name);
    let Some(keys) = key_file(&mut section) else {
        return key_named(&mut section);
    };
    for (key, value) in [("issuer", &issuer), ("audience", &audience)] {
        if value.is_none() && !section.has_failed(key) {
            section.refuse(key, &Wrong::new("must be set where a key is given"));
        }
    }
    let source = LoginSource {
        keys,
        issuer: issuer.unwrap_or_default(),
        audience: audience.unwrap_or_default(),
    };
    if let Err(error) = Logins::open(&source, login.leeway) {
        section.refuse(source.keys.setting(), &Wrong::new(error.to_string()));
    }
    login.source = Some(source);
    VerifiedUsers::Possible
}

fn name(value: &DeValue<'_>) -> Result<String, Wrong> {
    text(value).map(str::to_owned)
}

/// The one file that is named.
fn key_file(section: &mut Section<'_>) -> Option<LoginKeyFile> {
    type Kind = fn(PathBuf) -> LoginKeyFile;
    let kinds: [(&'static str, Kind); 3] = [
        ("secret_file", LoginKeyFile::Secret),
        ("public_key_file", LoginKeyFile::PublicKey),
        ("jwks_file", LoginKeyFile::Jwks),
    ];
    let mut found = None;
    for (key, kind) in kinds {
        let Some(file) = section.get(key, path).map(kind) else {
            continue;
        };
        match &found {
            None => found = Some(file),
            Some(first) => {
                let first = LoginKeyFile::setting(first);
                let wrong = format!("cannot stand beside {first}: logins have one source of keys");
                section.refuse(key, &Wrong::new(wrong));
            }
        }
    }
    found
}

/// Without a file that can be used: whether one was meant, and what stands there for nothing.
fn key_named(section: &mut Section<'_>) -> VerifiedUsers {
    if section.written().any(|key| key.ends_with("_file")) {
        return VerifiedUsers::Possible;
    }
    for key in ["issuer", "audience"] {
        if section.written().any(|written| written == key) && !section.has_failed(key) {
            let wrong = "needs a key beside it: secret_file, public_key_file or jwks_file";
            section.refuse(key, &Wrong::new(wrong));
        }
    }
    VerifiedUsers::Impossible
}
