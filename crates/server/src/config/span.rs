//! Spans of time as people write them: `250ms`, `90s`, `5m`, `12h`, `7d`.

use std::time::Duration;

/// The units, longest first, with their length in milliseconds.
const UNITS: [(&str, u64); 5] = [
    ("d", 24 * 3_600_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// Takes a number and a unit, such as `90s`; `None` for everything else, bare numbers included.
pub fn parse(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit_at);
    let (_, unit_ms) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let millis = number.parse::<u64>().ok()?.checked_mul(*unit_ms)?;
    Some(Duration::from_millis(millis))
}

/// Writes a span in the longest unit that leaves no rest; what is below a millisecond is dropped.
pub fn format(span: Duration) -> String {
    let millis = span.as_millis();
    if millis == 0 {
        return "0s".into();
    }
    UNITS
        .iter()
        .map(|&(name, unit_ms)| (name, u128::from(unit_ms)))
        .find(|(_, unit_ms)| millis.is_multiple_of(*unit_ms))
        .map(|(name, unit_ms)| format!("{}{name}", millis / unit_ms))
        .expect("every whole number of milliseconds is a multiple of one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_a_unit_is_a_span_and_is_written_the_same_way() {
        for (text, millis) in [
            ("0s", 0),
            ("250ms", 250),
            ("90s", 90_000),
            ("5m", 300_000),
            ("36h", 36 * 3_600_000),
            ("7d", 7 * 86_400_000),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(millis)), "{text}");
            assert_eq!(format(Duration::from_millis(millis)), text);
        }
        assert_eq!(format(Duration::from_secs(300)), "5m");
    }

    #[test]
    fn nothing_else_is_a_span() {
        for text in [
            "",
            "5",
            "s",
            "-5s",
            "5 s",
            "1.5s",
            "5min",
            "1h30m",
            "5S",
            "٥s",
            "99999999999999999999s",
            "18446744073709551615d",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
