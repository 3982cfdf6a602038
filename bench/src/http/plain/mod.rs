//! The plain design: a queue service as the teams of the five seeds wrote it, on axum and the `redis` crate.
//!
//! Every request sends its commands one after the other over one connection manager, as a repository on
//! Spring's `RedisTemplate` or a Node client does. `line.rs` says which seed each command is from. Where the
//! seeds differ, the cheaper way is taken; where that is a matter of size, as with `KEYS`, both are.

mod line;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    routing::{get, post},
};
pub(crate) use line::{Counting, Manner};
use line::{Entered, Line};
use redis::RedisError;
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::child;
use crate::Result;

/// What the process that [`super::OwnServer`] starts is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The Redis that the line is in.
    #[arg(long)]
    redis: String,
    /// How many are let in without waiting.
    #[arg(long)]
    entry_limit: u64,
    /// How a join finds out how many are inside.
    #[arg(long, value_enum)]
    counting: Counting,
    /// How many the scheduler lets in every ten seconds.
    #[arg(long)]
    batch: usize,
}

/// What goes wrong is a 500, as an exception that nobody catches is.
type Answer<T> = std::result::Result<T, Broken>;

pub(crate) fn serve(args: &Args) -> Result<()> {
    Runtime::new()?.block_on(async {
        let line = Line::open(&args.redis, args.entry_limit, args.counting).await?;
        let router = Router::new()
            .route("/api/v1/queue/tokens", post(join))
            .route("/api/v1/queue/status", get(status))
            .route("/api/v1/queue/verify", get(verify))
            .route("/tick/{manner}/{count}", post(tick))
            .with_state(line.clone());
        tokio::select! {
            served = child::serve(router) => served,
            stopped = line.schedule(args.batch) => Ok(stopped?),
        }
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Join {
    user_id: String,
}

/// What seed 000 answers: token, rank, status and when the turn is expected.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Waiting {
    token: String,
    status: &'static str,
    rank: Option<u64>,
    access_in_seconds: u64,
}

impl Waiting {
    fn of(token: String, entered: &Entered) -> Self {
        match *entered {
            Entered::Inside => Self {
                token,
                status: "PROCEEDING",
                rank: None,
                access_in_seconds: 0,
            },
            Entered::Waits { rank, seconds } => Self {
                token,
                status: "WAITING",
                rank: Some(rank),
                access_in_seconds: seconds,
            },
        }
    }
}

/// `POST /api/v1/queue/tokens`, the path of seed 004.
async fn join(
    State(line): State<Line>,
    Json(Join { user_id }): Json<Join>,
) -> Answer<(StatusCode, Json<Waiting>)> {
    let entered = line.join(&user_id).await?;
    Ok((StatusCode::CREATED, Json(Waiting::of(user_id, &entered))))
}

/// `GET /api/v1/queue/status`, the path of seed 004.
async fn status(State(line): State<Line>, headers: HeaderMap) -> Answer<Json<Waiting>> {
    let user = token(&headers)?;
    let entered = line.find(user).await?.ok_or(Broken::NoSuchToken)?;
    Ok(Json(Waiting::of(user.to_owned(), &entered)))
}

/// What stands before each call to the service in seeds 000 and 002.
async fn verify(State(line): State<Line>, headers: HeaderMap) -> Answer<StatusCode> {
    let user = token(&headers)?;
    if line.renew(user).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Broken::NoSuchToken)
    }
}

/// The scheduler's work on demand, so that it can be timed.
async fn tick(
    State(line): State<Line>,
    Path((manner, count)): Path<(Manner, usize)>,
) -> Answer<String> {
    let moved = line.tick(count, manner).await?;
    Ok(moved.to_string())
}

/// The token is the user id, which is the member of the sorted set in seed 003. Signing it, as seed 001
/// does, would only add to the price.
fn token(headers: &HeaderMap) -> Answer<&str> {
    let token = headers.get("x-queue-token");
    let token = token.and_then(|token| token.to_str().ok());
    token.ok_or(Broken::NoSuchToken)
}

#[derive(Debug)]
enum Broken {
    NoSuchToken,
    Redis(RedisError),
}

impl From<RedisError> for Broken {
    fn from(error: RedisError) -> Self {
        Self::Redis(error)
    }
}

impl axum::response::IntoResponse for Broken {
    fn into_response(self) -> axum::response::Response {
        match self {
            Self::NoSuchToken => StatusCode::NOT_FOUND.into_response(),
            Self::Redis(error) => {
                (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response()
            }
        }
    }
}
