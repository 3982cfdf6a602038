//! A site with logins, and a server that believes them.

use std::{path::PathBuf, sync::LazyLock};

use ropeline_testing::{
    http::{Ask, Reply},
    line::START,
    login::LoginKey,
    write_secret,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::app::{TOKENS, TestApp, field};

pub(crate) const ISSUER: &str = "https://login.example";
pub(crate) const AUDIENCE: &str = "tickets";
pub(crate) const SECRET: &[u8] = b"a secret of the tests, 32 bytes.";

/// Making an RSA key takes a while, so the tests share one.
pub(crate) static RSA: LazyLock<LoginKey> = LazyLock::new(|| LoginKey::rs256(2_048));

/// A server, and the file of keys that it follows.
pub(crate) struct Site {
    pub(crate) app: TestApp,
    pub(crate) keys: PathBuf,
    _directory: TempDir,
}

impl Site {
    /// A server whose room `main` has this identity, and whose `[login]` names a file with this text.
    pub(crate) fn new(identity: &str, setting: &str, keys: &[u8]) -> Self {
        Self::with_more(identity, setting, keys, "")
    }

    /// As [`Site::new`], with more lines in `[login]`.
    pub(crate) fn with_more(identity: &str, setting: &str, text: &[u8], more: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let keys = directory.path().join("keys");
        write_secret(&keys, text);
        let app = TestApp::with(&format!(
            "[login]\n{setting} = '{}'\nissuer = '{ISSUER}'\naudience = '{AUDIENCE}'\n{more}\n\
             [rooms.main]\nidentity = '{identity}'\nevery = '10s'\nbatch = 1\npass_ttl = '60s'\n\
             presence_ttl = '0s'\n[rooms.nameless]\nidentity = 'anonymous'\nbatch = 1\n",
            keys.display()
        ));
        Self {
            app,
            keys,
            _directory: directory,
        }
    }

    /// A server that shares a secret with the login service.
    pub(crate) fn sharing_a_secret(identity: &str) -> Self {
        Self::new(identity, "secret_file", SECRET)
    }

    pub(crate) fn join(&mut self, login: &str) -> Reply {
        self.app.send(ask(login))
    }
}

/// A join with a login.
pub(crate) fn ask(login: &str) -> Ask {
    Ask::post(TOKENS).header("Authorization", &format!("Bearer {login}"))
}

/// What a good login of a user says, for an hour.
pub(crate) fn claims(user: &str) -> Value {
    json!({"iss": ISSUER, "aud": AUDIENCE, "sub": user, "exp": now_s() + 3_600})
}

/// The time at which servers of the tests start.
pub(crate) fn now_s() -> u64 {
    START.0 / 1_000
}

/// A good login of a user, signed with the shared secret.
pub(crate) fn login(user: &str) -> String {
    LoginKey::hs256(SECRET).login(&claims(user))
}

pub(crate) fn place(reply: &Reply) -> (u16, Value, Value) {
    (
        reply.status,
        field(reply, "ordinal"),
        field(reply, "userId"),
    )
}

pub(crate) fn problem(reply: &Reply) -> (u16, String) {
    (reply.status, reply.code())
}

pub(crate) fn required() -> (u16, String) {
    (401, "LOGIN_REQUIRED".to_owned())
}

pub(crate) fn invalid() -> (u16, String) {
    (401, "LOGIN_INVALID".to_owned())
}
