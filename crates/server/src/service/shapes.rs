//! What services send and are answered.

use std::time::Duration;

use ropeline_core::{Claims, Ordinal, UserId, Visitor};
use serde::{Deserialize, Serialize};
use utoipa::{
    ToSchema,
    openapi::{RefOr, Schema},
};

use crate::queue::{user_id, user_id_schema};

/// Somebody who may go on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entering<'a> {
    /// `false` while the store is away and `on_store_error = "open"` lets everybody through. The rest is `null` then,
    /// unless the token is genuine.
    checked: bool,
    /// `v:` or `u:` and the user id, or `a:` and a random name: with `ordinal`, what keep and finish take.
    #[schema(value_type = Option<String>, example = "v:42")]
    visitor: Option<&'a Visitor>,
    /// `null` for an anonymous visitor.
    user_id: Option<&'a str>,
    /// The place that the pass came from.
    #[schema(value_type = Option<u64>, example = 7)]
    ordinal: Option<Ordinal>,
    /// Whether a verified login or a service vouches for the user id.
    verified: Option<bool>,
    /// How long the pass lasts if it is not used again.
    remaining_ms: Option<u64>,
}

impl<'a> Entering<'a> {
    pub(super) fn inside(claims: &'a Claims, left: Duration) -> Self {
        let left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        Self {
            checked: true,
            remaining_ms: Some(left),
            ..Self::unchecked(Some(claims))
        }
    }

    pub(super) fn unchecked(claims: Option<&'a Claims>) -> Self {
        Self {
            checked: false,
            visitor: claims.map(|claims| &claims.sub),
            user_id: claims.and_then(|claims| claims.sub.user_id()),
            ordinal: claims.map(|claims| claims.ord),
            verified: claims.map(|claims| claims.vfd),
            remaining_ms: None,
        }
    }
}

/// Whom a service lets join.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ServiceJoin {
    /// A user whose login the service has verified: 1 to 128 printable ASCII characters without space; an integer is
    /// taken as its decimal text. Left out for somebody without a name.
    #[schema(schema_with = user_id_schema)]
    #[serde(default, deserialize_with = "user_id")]
    pub(super) user_id: Option<UserId>,
}

/// Business inside, for which a pass is kept.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keep {
    /// As verify says it.
    #[schema(value_type = String, pattern = "^[uva]:[!-~]{1,128}$", example = "v:42")]
    pub(super) visitor: Visitor,
    /// As verify says it.
    #[schema(value_type = u64, example = 7)]
    pub(super) ordinal: Ordinal,
    /// How long the business lasts from now; 0 when it is over.
    #[schema(maximum = 86_400_000, example = 300_000)]
    pub(super) milliseconds: u64,
}

/// Whose business is done.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Finish {
    /// As verify says it.
    #[schema(value_type = String, pattern = "^[uva]:[!-~]{1,128}$", example = "v:42")]
    pub(super) visitor: Visitor,
    /// As verify says it.
    #[schema(value_type = u64, example = 7)]
    pub(super) ordinal: Ordinal,
}

/// What is left to sell.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stock {
    /// `null` if that is no longer told.
    #[schema(required, maximum = 9_007_199_254_740_991_i64, example = 120)]
    #[serde(deserialize_with = "Option::deserialize")]
    pub(super) left: Option<u64>,
}

/// All of them, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    vec![
        named::<Entering<'_>>(),
        named::<ServiceJoin>(),
        named::<Keep>(),
        named::<Finish>(),
        named::<Stock>(),
    ]
}

fn named<T: ToSchema>() -> (String, RefOr<Schema>) {
    (T::name().into_owned(), T::schema())
}
