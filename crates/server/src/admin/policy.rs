//! A policy as JSON, its spans written as in `ropeline.toml`.

use std::time::Duration;

use ropeline_core::{FieldError, Identity, Policy, Preset};
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

use crate::{
    config::{parse_span, span_text},
    error::ApiError,
};

/// A policy as it is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicyView {
    /// Length of a tick, 100ms to 30d.
    every: Span,
    /// At most this many are let in per tick; `null` is no such limit.
    batch: Option<u64>,
    /// At most this many are inside; `null` is no such limit.
    active_max: Option<u64>,
    /// A pass lasts this long after its last use.
    pass_ttl: Span,
    /// And at most this long in all; `0s` is no bound.
    pass_max: Span,
    /// Who is absent for longer is stepped over; `0s` is never.
    presence_ttl: Span,
    /// How long a missed turn is kept.
    missed_turn_ttl: Span,
    /// Joins beyond this many in line are refused.
    waiting_max: u64,
    /// Whose word is taken for who a visitor is.
    #[schema(value_type = String, example = "open")]
    identity: Identity,
}

impl From<&Policy> for PolicyView {
    fn from(policy: &Policy) -> Self {
        Self {
            every: Span(policy.every),
            batch: policy.batch,
            active_max: policy.active_max,
            pass_ttl: Span(policy.pass_ttl),
            pass_max: Span(policy.pass_max),
            presence_ttl: Span(policy.presence_ttl),
            missed_turn_ttl: Span(policy.missed_turn_ttl),
            waiting_max: policy.waiting_max,
            identity: policy.identity,
        }
    }
}

/// What is to be different: a key left out stays, `null` for a limit takes it away.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct PolicyChange {
    /// Length of a tick, 100ms to 30d.
    #[serde(skip_serializing_if = "Option::is_none")]
    every: Option<Span>,
    /// At most this many are let in per tick; `null` is no such limit.
    #[serde(skip_serializing_if = "LimitChange::is_none")]
    #[schema(value_type = Option<u64>)]
    batch: LimitChange,
    /// At most this many are inside; `null` is no such limit.
    #[serde(skip_serializing_if = "LimitChange::is_none")]
    #[schema(value_type = Option<u64>)]
    active_max: LimitChange,
    /// A pass lasts this long after its last use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_ttl: Option<Span>,
    /// And at most this long in all; `0s` is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_max: Option<Span>,
    /// Who is absent for longer is stepped over; `0s` is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_ttl: Option<Span>,
    /// How long a missed turn is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    missed_turn_ttl: Option<Span>,
    /// Joins beyond this many in line are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_max: Option<u64>,
    /// Whose word is taken for who a visitor is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    identity: Option<Identity>,
}

impl PolicyChange {
    /// The policy with the change made, if that makes sense.
    pub(super) fn over(&self, base: &Policy) -> Result<Policy, ApiError> {
        let span = |new: Option<Span>, old| new.map_or(old, |Span(new)| new);
        let policy = Policy {
            every: span(self.every, base.every),
            batch: self.batch.over(base.batch),
            active_max: self.active_max.over(base.active_max),
            pass_ttl: span(self.pass_ttl, base.pass_ttl),
            pass_max: span(self.pass_max, base.pass_max),
            presence_ttl: span(self.presence_ttl, base.presence_ttl),
            missed_turn_ttl: span(self.missed_turn_ttl, base.missed_turn_ttl),
            waiting_max: self.waiting_max.unwrap_or(base.waiting_max),
            identity: self.identity.unwrap_or(base.identity),
        };
        policy.validated().map_err(ApiError::Policy)
    }
}

/// The policy of a new room: as a section of `ropeline.toml`, limits that are left out are none, and
/// everything else is as shipped.
pub(super) fn new_policy(
    preset: Option<&str>,
    change: &PolicyChange,
    shipped: &Policy,
) -> Result<Policy, ApiError> {
    let base = Policy {
        batch: None,
        active_max: None,
        ..shipped.clone()
    };
    let base = match preset.map(Preset::named) {
        None => base,
        Some(Ok(preset)) => preset.over(&base),
        Some(Err(FieldError { message, .. })) => {
            let field = "preset";
            return Err(ApiError::Field { field, message });
        }
    };
    change.over(&base)
}

/// A length of time such as `"90s"`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span(pub(super) Duration);

impl ToSchema for Span {}

impl PartialSchema for Span {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("A whole number with a unit: ms, s, m, h or d."))
            .pattern(Some("^[0-9]{1,9}(ms|s|m|h|d)$"))
            .examples([serde_json::json!("90s")]);
        RefOr::T(text.into())
    }
}

impl Serialize for Span {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&span_text(self.0))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong =
            || de::Error::custom("must be a whole number with a unit, such as \"90s\" or \"5m\"");
        parse_span(&text).map(Self).ok_or_else(wrong)
    }
}

/// What is to become of a limit.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize)]
#[serde(from = "Option<u64>", into = "Option<u64>")]
enum LimitChange {
    /// The key was left out.
    #[default]
    Keep,
    /// This many, or no limit.
    Set(Option<u64>),
}

impl LimitChange {
    fn over(self, old: Option<u64>) -> Option<u64> {
        match self {
            Self::Keep => old,
            Self::Set(new) => new,
        }
    }

    fn is_none(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl From<Option<u64>> for LimitChange {
    fn from(limit: Option<u64>) -> Self {
        Self::Set(limit)
    }
}

impl From<LimitChange> for Option<u64> {
    fn from(change: LimitChange) -> Self {
        change.over(None)
    }
}
