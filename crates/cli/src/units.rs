//! Names, spans, ranges and shares as they are written on the command line.

use std::time::Duration;

use ropeline_core::{RoomId, plan::Decimal};
use ropeline_server::config::{parse_span, span_text};

/// A range of time, such as `2s..6s`; a single span is a range of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spans {
    pub(crate) shortest: Duration,
    pub(crate) longest: Duration,
}

pub(crate) fn room(text: &str) -> Result<RoomId, String> {
    RoomId::parse(text).map_err(|error| error.to_string())
}

pub(crate) fn span(text: &str) -> Result<Duration, String> {
    parse_span(text).ok_or_else(|| "write a number with a unit: 250ms, 90s, 5m, 12h".to_owned())
}

pub(crate) fn spans(text: &str) -> Result<Spans, String> {
    let (shortest, longest) = text.split_once("..").unwrap_or((text, text));
    let (shortest, longest) = (span(shortest)?, span(longest)?);
    if shortest > longest {
        return Err("the shorter span comes first: 2s..6s".to_owned());
    }
    Ok(Spans { shortest, longest })
}

/// Per cent, with or without the sign.
pub(crate) fn percent(text: &str) -> Result<Decimal, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    number.parse().map_err(|error| format!("{error}"))
}

/// A part of a whole, from 0% to 100%, as a probability.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let share: f64 = number.parse().unwrap_or(f64::NAN);
    if (0.0..=100.0).contains(&share) {
        Ok(share / 100.0)
    } else {
        Err("write a share from 0% to 100%".to_owned())
    }
}

/// A span in at most two units, such as `2m 40s`, for people.
pub(crate) fn spoken(span: Duration) -> String {
    let seconds = span.as_secs();
    if seconds < 60 {
        return if span.subsec_millis() > 0 {
            span_text(span)
        } else {
            format!("{seconds}s")
        };
    }
    let (large, small) = if seconds < 3_600 {
        ((seconds / 60, "m"), (seconds % 60, "s"))
    } else if seconds < 86_400 {
        ((seconds / 3_600, "h"), (seconds % 3_600 / 60, "m"))
    } else {
        ((seconds / 86_400, "d"), (seconds % 86_400 / 3_600, "h"))
    };
    match small {
        (0, _) => format!("{}{}", large.0, large.1),
        (count, unit) => format!("{}{} {count}{unit}", large.0, large.1),
    }
}

/// A count with its thousands set apart: `1,208`.
pub(crate) fn grouped(count: impl std::fmt::Display) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_spoken_in_two_units_at_most() {
        for (seconds, text) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (160, "2m 40s"),
            (3_600, "1h"),
            (5_430, "1h 30m"),
            (100_000, "1d 3h"),
        ] {
            assert_eq!(spoken(Duration::from_secs(seconds)), text);
        }
        assert_eq!(spoken(Duration::from_millis(250)), "250ms");
    }

    #[test]
    fn ranges_go_from_short_to_long() {
        let seconds = |shortest, longest| Spans {
            shortest: Duration::from_secs(shortest),
            longest: Duration::from_secs(longest),
        };
        assert_eq!(spans("2s..6s"), Ok(seconds(2, 6)));
        assert_eq!(spans("1m"), Ok(seconds(60, 60)));
        for text in ["6s..2s", "2..6", "..", "2s...6s", ""] {
            assert!(spans(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_lie_between_nothing_and_all() {
        assert_eq!(share("3%"), Ok(0.03));
        assert_eq!(share("100"), Ok(1.0));
        for text in ["101%", "-1", "half", "", "NaN"] {
            assert!(share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_208), "1,208");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }
}
