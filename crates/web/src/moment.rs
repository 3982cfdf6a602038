//! Times of day as people and programs read them.

use jiff::fmt::temporal::DateTimePrinter;
use ropeline_core::Timestamp;
use serde::{Serialize, Serializer};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type},
};

/// A moment as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy)]
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
