//! The HTTP of all plain designs: paths of seed 004, answers of seed 000.

use std::time::Duration;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use redis::RedisError;
use serde::{Deserialize, Serialize};

use super::{
    super::child,
    line::{Line, Manner},
};
use crate::Result;

/// How often the scheduler runs (000, 002, 004).
const EVERY: Duration = Duration::from_secs(10);

/// What goes wrong is a 500, as an exception that nobody catches is.
pub(super) type Answer<T> = std::result::Result<T, Broken>;

/// A way to keep a line. Clones share what it is kept in.
pub(super) trait Design: Clone + Send + Sync + 'static {
    fn join(&self, user: &str) -> impl Future<Output = Answer<Entered>> + Send;

    /// Where a user is, if anywhere.
    fn find(&self, user: &str) -> impl Future<Output = Answer<Option<Entered>>> + Send;

    /// The first so many in line go inside.
    fn admit(&self, count: usize) -> impl Future<Output = Answer<()>> + Send;
}

/// Where a visitor is.
#[derive(Debug)]
pub(super) enum Entered {
    Inside,
    Waits { rank: u64, seconds: u64 },
}

impl Entered {
    /// `ceil((rank - 1) / M) * N`: 000.
    pub(super) fn waits(rank: u64, entry_limit: u64) -> Self {
        let ticks = rank.saturating_sub(1).div_ceil(entry_limit.max(1));
        Self::Waits {
            rank,
            seconds: ticks * EVERY.as_secs(),
        }
    }
}

pub(super) async fn serve<D: Design>(design: D, batch: usize) -> Result<()> {
    serve_with(Router::new(), design, batch).await
}

/// As [`serve`], with what only the sorted set is measured with.
pub(super) async fn serve_line(line: Line, batch: usize) -> Result<()> {
    let routes = Router::new()
        .route("/api/v1/queue/verify", get(verify))
        .route("/tick/{manner}/{count}", post(tick));
    serve_with(routes, line, batch).await
}

async fn serve_with<D: Design>(routes: Router<D>, design: D, batch: usize) -> Result<()> {
    let router = routes
        .route("/api/v1/queue/tokens", post(join::<D>))
        .route("/api/v1/queue/status", get(status::<D>))
        .with_state(design.clone());
    tokio::select! {
        served = child::serve(router) => served,
        stopped = schedule(design, batch) => Err(stopped.to_string().into()),
    }
}

/// The scheduler of every seed, for as long as the server runs.
async fn schedule(design: impl Design, batch: usize) -> Broken {
    loop {
        tokio::time::sleep(EVERY).await;
        if let Err(broken) = design.admit(batch).await {
            return broken;
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Join {
    pub(super) user_id: String,
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

async fn join<D: Design>(
    State(design): State<D>,
    Json(Join { user_id }): Json<Join>,
) -> Answer<(StatusCode, Json<Waiting>)> {
    let entered = design.join(&user_id).await?;
    Ok((StatusCode::CREATED, Json(Waiting::of(user_id, &entered))))
}

async fn status<D: Design>(State(design): State<D>, headers: HeaderMap) -> Answer<Json<Waiting>> {
    let user = token(&headers)?;
    let entered = design.find(user).await?.ok_or(Broken::NoSuchToken)?;
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
pub(super) enum Broken {
    NoSuchToken,
    Stopped,
    Redis(RedisError),
    Database(sqlx::Error),
}

impl From<RedisError> for Broken {
    fn from(error: RedisError) -> Self {
        Self::Redis(error)
    }
}

impl From<sqlx::Error> for Broken {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoSuchToken => f.write_str("there is no such token"),
            Self::Stopped => f.write_str("nobody makes the calls any more"),
            Self::Redis(error) => error.fmt(f),
            Self::Database(error) => error.fmt(f),
        }
    }
}

impl IntoResponse for Broken {
    fn into_response(self) -> Response {
        let status = match self {
            Self::NoSuchToken => StatusCode::NOT_FOUND,
            Self::Stopped | Self::Redis(_) | Self::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, self.to_string()).into_response()
    }
}
