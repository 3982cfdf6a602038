//! Times of day as people and programs read them.

use ropeline_core::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type},
};

/// A moment as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(pub Timestamp);

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// The last millisecond that four digits can say the year of; what is later is shown as this.
const LAST_MS: u64 = 253_402_300_799_999;

impl Moment {
    /// With milliseconds, always. Every answer has several moments, and a general formatter takes three times as long.
    pub(crate) fn text(self) -> [u8; 24] {
        let ms = self.0.0.min(LAST_MS);
        let (year, month, day) = date_of(ms / DAY_MS);
        let in_day = ms % DAY_MS;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        write_pair(&mut text, 0, year / 100);
        write_pair(&mut text, 2, year % 100);
        write_pair(&mut text, 5, month);
        write_pair(&mut text, 8, day);
        write_pair(&mut text, 11, in_day / 3_600_000);
        write_pair(&mut text, 14, in_day / 60_000 % 60);
        write_pair(&mut text, 17, in_day / 1_000 % 60);
        write_pair(&mut text, 20, in_day % 1_000 / 10);
        text[22] = b'0' + (ms % 10) as u8;
        text
    }
}

/// Year, month and day of a day since 1970. Years begin in March here, so that a leap day is the last of its year;
/// 400 of them have 146,097 days.
fn date_of(day: u64) -> (u64, u64, u64) {
    const TO_1970: u64 = 719_468;
    let day = day + TO_1970;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + next_year, month, of_month)
}

/// The numbers below a hundred, two digits each.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number: u8 = 0;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

fn write_pair(text: &mut [u8; 24], at: usize, number: u64) {
    let pair = PAIRS[usize::try_from(number % 100).unwrap_or(0)];
    text[at..at + 2].copy_from_slice(&pair);
}

fn as_str(text: &[u8; 24]) -> &str {
    str::from_utf8(text).unwrap_or_default()
}

impl ToSchema for Moment {}

impl PartialSchema for Moment {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)));
        RefOr::T(text.into())
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(as_str(&self.text()))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(as_str(&self.text()))
    }
}

/// Any offset from UTC is taken; what lies before 1970 is not, since no timestamp can say it.
impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const WANTED: &str = "a time as RFC 3339 writes it, like 2027-05-01T10:00:00Z";
        let text = String::deserialize(deserializer)?;
        let moment: jiff::Timestamp = text.parse().map_err(|_| de::Error::custom(WANTED))?;
        let ms = u64::try_from(moment.as_millisecond()).map_err(|_| de::Error::custom(WANTED))?;
        Ok(Self(Timestamp(ms)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn a_moment_is_read_as_it_is_written() {
        let moment = Moment(Timestamp(1_809_165_600_123));
        assert_eq!(to_value(moment).unwrap(), "2027-05-01T10:00:00.123Z");
        for same in ["2027-05-01T10:00:00.123Z", "2027-05-01T19:00:00.123+09:00"] {
            assert_eq!(from_value::<Moment>(json!(same)).unwrap(), moment, "{same}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_moment_is_written_as_jiff_writes_it(ms in 0..=LAST_MS) {
            let known = jiff::Timestamp::from_millisecond(i64::try_from(ms).unwrap()).unwrap();
            proptest::prop_assert_eq!(Moment(Timestamp(ms)).to_string(), format!("{known:.3}"));
        }
    }

    #[test]
    fn leap_days_and_the_ends_of_time_are_written_right() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (LAST_MS, "9999-12-31T23:59:59.999Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Moment(Timestamp(ms)).to_string(), text);
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for bad in [
            "",
            "2027-05-01",
            "10:00",
            "1969-12-31T23:59:59Z",
            "+1",
            "tomorrow",
        ] {
            assert!(from_value::<Moment>(json!(bad)).is_err(), "{bad}");
        }
        assert!(from_value::<Moment>(json!(1_809_165_600_123_u64)).is_err());
    }
}
