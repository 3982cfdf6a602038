//! When a place was given, in the forms that queue tables and their dumps have.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde_json::{Number, Value};

/// Numbers from here on are milliseconds: as seconds they would be after the year 5138.
const MILLIS_FROM: f64 = 1e11;
/// No number from here on is a time: as milliseconds it would be after the year 5138.
const NUMBERS_BELOW: f64 = 1e14;

const EXPECTED: &str = "issuedAt is RFC 3339 (2024-07-01T09:00:00Z), the text of a database \
     (2024-07-01 09:00:00.123456, taken as UTC), or seconds or milliseconds since 1970";

/// The moment that a value stands for. A text without an offset is UTC.
pub(super) fn parse(value: &Value) -> Result<Timestamp, &'static str> {
    let moment = match value {
        Value::String(text) => of_text(text.trim()),
        Value::Number(number) => of_number(number),
        _ => None,
    };
    moment.ok_or(EXPECTED)
}

fn of_text(text: &str) -> Option<Timestamp> {
    if let Ok(number) = text.parse::<Number>() {
        return of_number(&number);
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let moment = text.parse::<DateTime>().ok()?;
    Some(moment.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

fn of_number(number: &Number) -> Option<Timestamp> {
    let float = number.as_f64()?;
    if !(0.0..NUMBERS_BELOW).contains(&float) {
        return None;
    }
    if float >= MILLIS_FROM {
        return Timestamp::from_microsecond(rounded(float * 1e3)).ok();
    }
    Timestamp::from_microsecond(rounded(float * 1e6)).ok()
}

/// A double holds the microseconds of our century exactly enough, and no database counts finer ones.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the number was checked to be far smaller"
)]
fn rounded(micros: f64) -> i64 {
    micros.round() as i64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_of_one_moment_is_the_same_moment() {
        for form in [
            json!("2024-07-01T09:00:00.5Z"),
            json!("2024-07-01T18:00:00.500+09:00"),
            json!("2024-07-01 18:00:00.5+09"),
            json!("2024-07-01 09:00:00.500000"),
            json!("2024-07-01T09:00:00.5"),
            json!(1_719_824_400.5),
            json!("1719824400.5"),
            json!(1_719_824_400_500_u64),
            json!("1719824400500"),
        ] {
            let moment = parse(&form).map(|moment| moment.to_string());
            assert_eq!(moment.as_deref(), Ok("2024-07-01T09:00:00.5Z"), "{form}");
        }
        assert_eq!(
            parse(&json!("2024-07-01 09:00:00")),
            parse(&json!(1_719_824_400))
        );
    }

    #[test]
    fn a_microsecond_decides_who_is_first() {
        let earlier = parse(&json!("2024-07-01 09:00:00.000001")).unwrap();
        let later = parse(&json!("2024-07-01 09:00:00.000002")).unwrap();
        assert!(earlier < later);
    }

    #[test]
    fn nothing_else_is_a_moment() {
        for form in [
            json!(null),
            json!(true),
            json!(""),
            json!("yesterday"),
            json!("0000-00-00 00:00:00"),
            json!("2024-02-30 00:00:00"),
            json!(-1),
            json!(1e15),
            json!("NaN"),
            json!(["2024-07-01T09:00:00Z"]),
        ] {
            assert_eq!(parse(&form), Err(EXPECTED), "{form}");
        }
    }
}
