//! Times of day as people and programs read them.

use jiff::fmt::temporal::DateTimePrinter;
use ropeline_core::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type},
};

/// A moment as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(pub Timestamp);

/// With milliseconds, always.
static PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

impl Moment {
    fn text(self) -> String {
        let ms = i64::try_from(self.0.0).unwrap_or(i64::MAX);
        let moment = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX);
        PRINTER.timestamp_to_string(&moment)
    }
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
        f.write_str(&self.text())
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
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
