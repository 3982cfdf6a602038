//! Why a server did not do what an operator wanted, and what to do about it.

use std::{fmt, io, path::Path, time::Duration};

use ropeline_server::config::nearest;
use serde::Deserialize;

use crate::{
    failure::Failure,
    http::{Answer, BaseUrl, HttpError},
};

#[derive(Debug)]
pub(crate) enum Trouble {
    /// No answer came.
    Away(HttpError),
    /// The answer was no.
    Refused(Refusal),
    /// Nothing was asked, or something else answered.
    Other(String),
}

#[derive(Debug)]
pub(crate) struct Refusal {
    code: String,
    text: String,
    /// When to try again, if that helps.
    retry: Option<Duration>,
}

/// What is wrong with one field.
#[derive(Deserialize)]
struct FieldProblem {
    field: String,
    message: String,
}

#[derive(Deserialize)]
struct Fields {
    errors: Vec<FieldProblem>,
}

impl Trouble {
    pub(super) fn no_key(base: &BaseUrl, data: &Path) -> Self {
        Self::Other(format!(
            "there is no admin key at hand for {base}\n\
             The key is in admin.key of that server's data directory (here it would be {}). Give the directory with \
             --data,\nor the key with ROPELINE_ADMIN_KEY or --admin-key-file.",
            data.join("admin.key").display()
        ))
    }

    pub(super) fn unreadable_key(data: &Path, why: &io::Error) -> Self {
        let file = data.join("admin.key");
        Self::Other(format!(
            "cannot use the admin key in {}: {why}",
            file.display()
        ))
    }

    pub(super) fn refused(base: &BaseUrl, answer: &Answer) -> Self {
        let Some(problem) = answer.problem() else {
            return Self::strange(answer);
        };
        let text = match problem.code.as_str() {
            "UNAUTHORIZED" => format!(
                "{base} does not take this admin key\n\
                 The right one is in admin.key of the server's data directory, such as data/admin.key, unless the server was\n\
                 given another. Give it here with ROPELINE_ADMIN_KEY or --admin-key-file."
            ),
            "RATE_LIMITED" => {
                let seconds = answer.retry_after.map_or(60, |wait| wait.as_secs());
                format!("{base} is asked too often from here: try again in {seconds} s")
            }
            "ROOM_EXISTS" => "there is a room of that name: change it with `ropeline room set`, or delete it first".into(),
            "INVALID_REQUEST" => fields(answer).unwrap_or_else(|| problem.to_string()),
            _ => problem.to_string(),
        };
        let passes = answer.status.is_server_error() || problem.code == "RATE_LIMITED";
        let retry = answer.retry_after.unwrap_or(Duration::from_secs(1));
        Self::Refused(Refusal {
            code: problem.code,
            text,
            retry: passes.then_some(retry),
        })
    }

    pub(super) fn unknown_room<'a>(room: &str, rooms: impl Iterator<Item = &'a str>) -> Self {
        let rooms: Vec<_> = rooms.collect();
        let meant = meant(room, rooms.iter().copied());
        let names = rooms.join(", ");
        let text = format!("there is no room {room}{meant}\nThe rooms are: {names}");
        Self::Refused(Refusal {
            code: "ROOM_NOT_FOUND".into(),
            text,
            retry: None,
        })
    }

    pub(super) fn strange(answer: &Answer) -> Self {
        Self::Other(format!(
            "the answer is not one of Ropeline ({}); is something else listening there?",
            answer.summary()
        ))
    }

    pub(super) fn is_unknown_room(&self) -> bool {
        self.code() == Some("ROOM_NOT_FOUND")
    }

    pub(super) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => Some(&refusal.code),
            Self::Away(_) | Self::Other(_) => None,
        }
    }

    /// How long to wait at least before trying again, if trying again may help.
    pub(super) fn passes_after(&self) -> Option<Duration> {
        match self {
            Self::Away(_) => Some(Duration::ZERO),
            Self::Refused(refusal) => refusal.retry,
            Self::Other(_) => None,
        }
    }
}

/// Which name was perhaps meant.
pub(super) fn meant<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(written, names) {
        Some(meant) => format!("; did you mean {meant}?"),
        None => String::new(),
    }
}

/// The fields that are not right, one in each line, named as in `ropeline.toml`.
fn fields(answer: &Answer) -> Option<String> {
    let Fields { errors } = serde_json::from_slice(&answer.body).ok()?;
    let lines = errors.iter().map(|FieldProblem { field, message }| {
        let name = field.strip_prefix("policy.").unwrap_or(field);
        format!("{}: {message}", snake_case(name))
    });
    let lines: Vec<_> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A field of the API as it is called in `ropeline.toml`: `activeMax` is `active_max`.
fn snake_case(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, letter| {
        if letter.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
        text
    })
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Away(error) => write!(f, "{error}"),
            Self::Refused(Refusal { text, .. }) | Self::Other(text) => f.write_str(text),
        }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::Room(trouble)
    }
}
