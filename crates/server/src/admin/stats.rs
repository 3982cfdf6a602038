//! How a room has been lately: rates, waits, and how good the estimates were.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use ropeline_core::{
    Counters, Estimate, Grade, History, Look, Rates, RoomId, Timestamp, View, Waits, estimate,
};
use ropeline_store::Store;
use ropeline_web::{Json, Path, Query};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{operator::Operator, policy::Span};
use crate::{app::App, error::ApiError, moment::Moment};

const RATE_WINDOW: Duration = Duration::from_secs(60);
/// How far back is looked where nobody says otherwise.
pub(crate) const WINDOW: Duration = Duration::from_secs(15 * 60);
/// As much as is remembered.
const WINDOW_MAX: Duration = Duration::from_secs(12 * 3_600);
/// Points of a series; a chart has no more pixels.
const POINTS_MAX: usize = 300;

/// What this node remembers of each room.
#[derive(Debug, Default)]
pub(crate) struct Histories(Mutex<BTreeMap<RoomId, History>>);

impl Histories {
    /// Takes a look at every room, and forgets those that are gone.
    pub(crate) fn observe(&self, store: &dyn Store) {
        let mut histories = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rooms = store.rooms();
        histories.retain(|room, _| rooms.binary_search(room).is_ok());
        for room in rooms {
            if let Some(seen) = store.view(&room) {
                histories.entry(room).or_default().observe(&seen.view);
            }
        }
    }

    /// What is remembered of a room.
    pub(crate) fn of(&self, room: &RoomId) -> History {
        let histories = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        histories.get(room).cloned().unwrap_or_default()
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct StatsQuery {
    /// How far back to look.
    window: Option<Span>,
}

pub(crate) async fn stats(
    _: Operator,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Query(query): Query<StatsQuery>,
) -> Result<Response, ApiError> {
    let window = query.window.map_or(WINDOW, |Span(window)| window);
    if !(RATE_WINDOW..=WINDOW_MAX).contains(&window) {
        let message = "must be between 60s and 12h".to_owned();
        let field = "window";
        return Err(ApiError::Field { field, message });
    }
    app.histories.observe(&*app.store);
    let seen = app.seen(&room)?;
    let history = app.histories.of(&room);
    let stats = StatsView::of(&room, &seen.view, &history, window, app.now());
    Ok(Json(stats).into_response())
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatsView<'a> {
    #[schema(value_type = String, example = "main")]
    room: &'a RoomId,
    state: &'static str,
    as_of: Moment,
    /// Since when this node has been looking.
    since: Option<Moment>,
    waiting: u64,
    active: u64,
    aside: u64,
    door: u64,
    /// What somebody would be told who joined now.
    estimate: Option<EstimateView>,
    totals: Totals,
    per_minute: PerMinute,
    waits: WaitsView,
    estimates: GradeView,
    series: Vec<Point>,
}

impl<'a> StatsView<'a> {
    fn of(
        room: &'a RoomId,
        view: &View,
        history: &History,
        window: Duration,
        now: Timestamp,
    ) -> Self {
        let room_now = view.now(now);
        let moment = |at: Timestamp| Moment(now - room_now.since(at));
        let from = room_now - window;
        let looks: Vec<&Look> = history.looks().filter(|look| look.at >= from).collect();
        let step = looks.len().div_ceil(POINTS_MAX).max(1);
        Self {
            room,
            state: view.state_word(),
            as_of: Moment(now),
            since: history.looks().next().map(|look| moment(look.at)),
            waiting: view.waiting(),
            active: view.inside,
            aside: view.aside,
            door: view.door,
            estimate: estimate(view, view.waiting(), room_now).map(EstimateView::from),
            totals: Totals::of(view),
            per_minute: history.rates(RATE_WINDOW).into(),
            waits: history.waits(window).into(),
            estimates: history.grade(window).into(),
            // From the newest backwards, so that what is now is always there.
            series: looks
                .iter()
                .rev()
                .step_by(step)
                .rev()
                .map(|look| Point::of(look, moment(look.at)))
                .collect(),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EstimateView {
    seconds: u64,
    low: u64,
    high: u64,
}

impl From<Estimate> for EstimateView {
    fn from(estimate: Estimate) -> Self {
        Self {
            seconds: estimate.wait.as_secs(),
            low: estimate.low.as_secs(),
            high: estimate.high.as_secs(),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Totals {
    joined: u64,
    admitted: u64,
    departed: u64,
    expired: u64,
    finished: u64,
    left: u64,
    revoked: u64,
    stepped_over: u64,
    missed: u64,
    restored: u64,
}

impl Totals {
    fn of(view: &View) -> Self {
        let Counters {
            admitted,
            departed,
            expired,
            finished,
            left,
            revoked,
            stepped_over,
            missed,
            restored,
            stayed_ms: _,
        } = view.header.counters;
        Self {
            joined: view.header.issued.0,
            admitted,
            departed,
            expired,
            finished,
            left,
            revoked,
            stepped_over,
            missed,
            restored,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PerMinute {
    joined: f64,
    admitted: f64,
    departed: f64,
    left: f64,
}

impl From<Rates> for PerMinute {
    fn from(rates: Rates) -> Self {
        Self {
            joined: rounded(rates.joined),
            admitted: rounded(rates.admitted),
            departed: rounded(rates.departed),
            left: rounded(rates.left),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitsView {
    count: u64,
    /// Null, as the others, where `count` is 0.
    p50_seconds: Option<f64>,
    p90_seconds: Option<f64>,
    p99_seconds: Option<f64>,
    max_seconds: Option<f64>,
}

impl From<Waits> for WaitsView {
    fn from(waits: Waits) -> Self {
        let seconds = |wait: Duration| figure_of(waits.count, wait.as_secs_f64());
        Self {
            count: waits.count,
            p50_seconds: seconds(waits.p50),
            p90_seconds: seconds(waits.p90),
            p99_seconds: seconds(waits.p99),
            max_seconds: seconds(waits.max),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GradeView {
    count: u64,
    /// Null, as the others, where `count` is 0.
    mean_error_seconds: Option<f64>,
    mean_abs_error_seconds: Option<f64>,
    within_band: Option<f64>,
}

impl From<Grade> for GradeView {
    fn from(grade: Grade) -> Self {
        Self {
            count: grade.count,
            mean_error_seconds: figure_of(grade.count, grade.mean_error_s),
            mean_abs_error_seconds: figure_of(grade.count, grade.mean_abs_error_s),
            within_band: figure_of(grade.count, grade.within_band),
        }
    }
}

/// One point of a chart; joined and admitted are totals, so that a chart can take differences.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Point {
    at: Moment,
    waiting: u64,
    active: u64,
    joined: u64,
    admitted: u64,
}

impl Point {
    fn of(look: &Look, at: Moment) -> Self {
        Self {
            at,
            waiting: look.waiting,
            active: look.inside,
            joined: look.issued,
            admitted: look.counters.admitted,
        }
    }
}

/// A figure that sums up `count` visitors, and is none where there were none: zero would be untrue.
fn figure_of(count: u64, figure: f64) -> Option<f64> {
    (count > 0).then(|| rounded(figure))
}

/// To hundredths: more is noise.
fn rounded(figure: f64) -> f64 {
    (figure * 100.0).round() / 100.0
}
