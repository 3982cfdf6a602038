//! How much is logged, and in which form.

use super::{
    keys,
    section::Section,
    value::{Wrong, text},
};

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// How the server writes its log, which goes to standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// One line of text per event, or one JSON object.
    pub format: LogFormat,
    /// Levels by part, in the syntax of tracing's `EnvFilter`: `info`, or `info,ropeline_store=debug`.
    pub level: String,
}

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For log collectors.
    Json,
}

impl LogFormat {
    /// As it is written in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// Reads `[log]` into its defaults.
pub(super) fn read(file: &mut Section<'_>, log: &mut LogSettings) {
    let Some(mut section) = file.section("log", &keys::LOG) else {
        return;
    };
    section.set(&mut log.format, "format", |value| match text(value)? {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(Wrong::new("must be \"text\" or \"json\"")),
    });
    section.set(&mut log.level, "level", |value| filter(text(value)?));
}

/// Takes a level, or levels by part.
///
/// `EnvFilter` would take any word for the name of a part, so that `inof` silences everything.
fn filter(text: &str) -> Result<String, Wrong> {
    let is_level = |word: &str| LEVELS.contains(&word);
    let is_part = |word: &str| {
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':';
        !word.is_empty() && word.bytes().all(fine)
    };
    let fine = text
        .split(',')
        .all(|directive| match directive.split_once('=') {
            Some((part, level)) => is_part(part) && is_level(level),
            None => is_level(directive),
        });
    if fine {
        return Ok(text.into());
    }
    Err(Wrong::new(format!(
        "must be one of {}, or part=level pairs after it, divided by commas without spaces",
        LEVELS.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_may_be_given_for_each_part() {
        for text in ["info", "off", "warn,ropeline_store=debug,hyper::proto=off"] {
            assert_eq!(filter(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn a_misspelt_level_does_not_silence_the_log() {
        for text in [
            "inof",
            "",
            "INFO",
            "info,",
            "a=b",
            "=info",
            "info, hyper=warn",
        ] {
            assert!(filter(text).is_err(), "{text}");
        }
    }
}
