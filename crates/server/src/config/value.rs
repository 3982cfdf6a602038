//! Turns single values into what they mean, or says what is wrong with them.

use std::{net::SocketAddr, ops::RangeInclusive, path::PathBuf, time::Duration};

use toml::de::DeValue;

use super::{section::kind, span};

/// Why a value cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    /// What is wrong with it.
    pub(super) what: String,
    /// What was probably meant, as TOML; without it the example of the key is shown.
    pub(super) instead: Option<String>,
}

impl Wrong {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            instead: None,
        }
    }

    pub(super) fn meant(what: impl Into<String>, instead: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            instead: Some(instead.into()),
        }
    }
}

/// A piece of text that is not empty.
pub(super) fn text<'a>(value: &'a DeValue<'_>) -> Result<&'a str, Wrong> {
    match value {
        DeValue::String(text) if text.is_empty() => Err(Wrong::new("must not be empty")),
        DeValue::String(text) => Ok(text),
        other => Err(Wrong::new(format!(
            "must be text in quotes, not {}",
            kind(other)
        ))),
    }
}

/// A list of pieces of text.
pub(super) fn texts<'a>(value: &'a DeValue<'_>) -> Result<Vec<&'a str>, Wrong> {
    match value {
        DeValue::Array(list) => list.iter().map(|item| text(item.get_ref())).collect(),
        other => Err(Wrong::new(format!(
            "must be a list in brackets, not {}",
            kind(other)
        ))),
    }
}

/// A number that counts something.
pub(super) fn count(value: &DeValue<'_>) -> Result<u64, Wrong> {
    let DeValue::Integer(number) = value else {
        let not = format!("must be a whole number without quotes, not {}", kind(value));
        return Err(Wrong::new(not));
    };
    u64::from_str_radix(number.as_str(), number.radix())
        .map_err(|_| Wrong::new("must be a whole number that is not below 0"))
}

/// A number that counts something and has bounds.
pub(super) fn count_within(
    bounds: RangeInclusive<usize>,
) -> impl Fn(&DeValue<'_>) -> Result<usize, Wrong> {
    move |value| {
        let number = usize::try_from(count(value)?).ok();
        number
            .filter(|number| bounds.contains(number))
            .ok_or_else(|| {
                let (min, max) = (bounds.start(), bounds.end());
                Wrong::new(format!("must be between {min} and {max}"))
            })
    }
}

/// Yes or no.
pub(super) fn flag(value: &DeValue<'_>) -> Result<bool, Wrong> {
    match value {
        DeValue::Boolean(flag) => Ok(*flag),
        other => {
            let not = format!("must be true or false without quotes, not {}", kind(other));
            Err(Wrong::new(not))
        }
    }
}

/// A span of time with its unit.
pub(super) fn duration(value: &DeValue<'_>) -> Result<Duration, Wrong> {
    match value {
        DeValue::String(text) => span::parse(text).ok_or_else(|| not_a_span(text)),
        DeValue::Integer(number) => Err(not_a_span(number.as_str())),
        other => Err(Wrong::new(format!(
            "must be a number with a unit, in quotes, not {}",
            kind(other)
        ))),
    }
}

fn not_a_span(text: &str) -> Wrong {
    Wrong::new(match text.parse::<u32>() {
        Ok(n) => format!("must have a unit, in quotes: \"{n}s\", \"{n}m\", \"{n}h\" or \"{n}d\""),
        Err(_) => "must be a whole number with a unit: ms, s, m, h or d".into(),
    })
}

/// A span of time with bounds.
pub(super) fn duration_within(
    bounds: RangeInclusive<Duration>,
) -> impl Fn(&DeValue<'_>) -> Result<Duration, Wrong> {
    move |value| {
        let span = duration(value)?;
        bounds.contains(&span).then_some(span).ok_or_else(|| {
            let (min, max) = (span::format(*bounds.start()), span::format(*bounds.end()));
            Wrong::new(format!("must be between {min} and {max}"))
        })
    }
}

/// A path, relative to the working directory.
pub(super) fn path(value: &DeValue<'_>) -> Result<PathBuf, Wrong> {
    text(value).map(PathBuf::from)
}

/// An IP address and a port.
pub(super) fn address(text: &str) -> Result<SocketAddr, Wrong> {
    text.parse().map_err(|_| {
        // People write a port alone, or a name, since other programs take them.
        let port = text.rsplit(':').next().and_then(|port| port.parse().ok());
        let meant = |port: u16| match text.strip_suffix(&port.to_string()) {
            Some("" | ":" | "*:") => Some(format!("\"0.0.0.0:{port}\"")),
            Some("localhost:") => Some(format!("\"127.0.0.1:{port}\"")),
            _ => None,
        };
        Wrong {
            what: "must be an IP address and a port".into(),
            instead: port.and_then(meant),
        }
    })
}
