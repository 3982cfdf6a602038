//! An operator's words to a room: pause, resume, open, close, drain, reset, admit.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use ropeline_core::RoomId;
use ropeline_store::Operation;
use ropeline_web::{Json, Path};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    audit::{Action, audited},
    operator::Operator,
    rooms::now,
};
use crate::{app::App, error::ApiError};

/// More at once than this is a slip of the finger.
const ADMIT_MAX: u64 = 1_000_000;

pub(crate) async fn pause(o: Operator, app: State<App>, room: Path<RoomId>) -> Answer {
    carry_out(o, app, room, "pause", Operation::Pause).await
}

pub(crate) async fn resume(o: Operator, app: State<App>, room: Path<RoomId>) -> Answer {
    carry_out(o, app, room, "resume", Operation::Resume).await
}

pub(crate) async fn open(o: Operator, app: State<App>, room: Path<RoomId>) -> Answer {
    carry_out(o, app, room, "open", Operation::Open).await
}

pub(crate) async fn close(o: Operator, app: State<App>, room: Path<RoomId>) -> Answer {
    carry_out(o, app, room, "close", Operation::Close).await
}

pub(crate) async fn drain(o: Operator, app: State<App>, room: Path<RoomId>) -> Answer {
    carry_out(o, app, room, "drain", Operation::Drain).await
}

pub(crate) async fn reset(o: Operator, app: State<App>, room: Path<RoomId>) -> Answer {
    carry_out(o, app, room, "reset", Operation::Reset).await
}

/// How many more than the batch are let in during the tick that runs.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Admit {
    #[schema(minimum = 1, maximum = 1_000_000, example = 100)]
    count: u64,
}

pub(crate) async fn admit(
    operator: Operator,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Json(Admit { count }): Json<Admit>,
) -> Answer {
    if !(1..=ADMIT_MAX).contains(&count) {
        let message = format!("must be between 1 and {ADMIT_MAX}");
        let field = "count";
        return Err(ApiError::Field { field, message });
    }
    let details = json!({"count": count});
    answer(
        &app,
        &operator,
        &room,
        ("admit", details),
        Operation::Admit(count),
    )
    .await
}

type Answer = Result<Response, ApiError>;

async fn carry_out(
    operator: Operator,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    name: &'static str,
    operation: Operation,
) -> Answer {
    answer(&app, &operator, &room, (name, json!({})), operation).await
}

async fn answer(
    app: &App,
    operator: &Operator,
    room: &RoomId,
    (name, details): (&'static str, Value),
    operation: Operation,
) -> Answer {
    let action = Action {
        name,
        room,
        details,
    };
    audited(app, operator, action, async {
        Ok(app.store.operate(room, operation).await?)
    })
    .await?;
    Ok(now(app, room)?.into_response())
}
