//! Operators' actions, with what came of them.

use std::borrow::Cow;

use ropeline_core::RoomId;
use serde_json::Value;

use super::operator::Operator;
use crate::{app::App, audit::Entry, error::ApiError, moment::Moment};

/// What somebody is about to do to a room.
#[derive(Debug)]
pub(super) struct Action<'a> {
    pub(super) name: &'static str,
    pub(super) room: &'a RoomId,
    pub(super) details: Value,
}

/// Does what an operator asks and notes who asked, what for, and what came of it.
pub(super) async fn audited<T>(
    app: &App,
    operator: &Operator,
    action: Action<'_>,
    work: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let result = work.await;
    let outcome = outcome(&result);
    tracing::info!(room.id = %action.room, action = action.name, outcome, "an operator acted");
    let entry = Entry {
        room: Some(action.room.clone()),
        details: action.details,
        ..entry(app, operator, action.name.into(), outcome.into())
    };
    app.audit.write(entry).await;
    result
}

/// `done`, or the code of the problem.
pub(super) fn outcome<T>(result: &Result<T, ApiError>) -> &'static str {
    match result {
        Ok(_) => "done",
        Err(error) => error.kind().code,
    }
}

/// A line about an operator, without a room or details.
pub(super) fn entry(
    app: &App,
    operator: &Operator,
    action: Cow<'static, str>,
    outcome: Cow<'static, str>,
) -> Entry {
    Entry {
        at: Moment(app.now()),
        action,
        room: None,
        details: Value::Object(serde_json::Map::new()),
        outcome,
        by: Some(operator.proof),
        address: Some(operator.address),
        request_id: operator.request_id.as_ref().map(ToString::to_string),
    }
}
