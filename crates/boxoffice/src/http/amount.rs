//! Amounts as callers send them.

use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

use crate::{Points, Refusal};

/// Whatever stood where an amount belongs.
///
/// It is kept as text and never becomes a float: a fraction, a power of ten, a number that fits nowhere and a text are
/// all refused as amounts, and in the same words.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Amount(Box<RawValue>);

impl Amount {
    pub(crate) fn points(&self) -> Result<Points, Refusal> {
        let whole = self.0.get().parse();
        whole
            .map_err(|_| Refusal::InvalidAmount)
            .and_then(Points::amount)
    }
}

impl ToSchema for Amount {}

impl PartialSchema for Amount {
    fn schema() -> RefOr<Schema> {
        let points = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(Points::AMOUNT_MAX.get()))
            .description(Some("Whole points."));
        RefOr::T(points.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_points_in_range_are_an_amount() {
        let huge = "9".repeat(400);
        for bad in [
            "0",
            "-0",
            "-1",
            "1.0",
            "1e3",
            "0.5",
            "\"100\"",
            "null",
            "true",
            "[1]",
            "{}",
            "100000001",
            "9223372036854775808",
            "1e999",
            huge.as_str(),
        ] {
            let amount: Amount = serde_json::from_str(bad).unwrap();
            assert_eq!(amount.points(), Err(Refusal::InvalidAmount), "{bad}");
        }
        let amount: Amount = serde_json::from_str("100000000").unwrap();
        assert_eq!(amount.points(), Ok(Points::AMOUNT_MAX));
    }
}
