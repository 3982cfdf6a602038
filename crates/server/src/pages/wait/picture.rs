//! What the waiting page shows.

use std::time::Duration;

use axum::response::Response;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use http::StatusCode;
use minijinja::{Value, context, value::Serde};
use ropeline_core::{Ending, Timestamp};
use ropeline_web::{
    Problem, RequestId,
    pages::{Page, Texts, fill, grouped},
};

use super::here::{Here, Mode};
use crate::{
    error::ApiError,
    moment::Moment,
    pages::{return_to::ReturnTo, span},
    queue::PlaceView,
    token::random,
};

/// A picture older than this is said to be.
const STALE: Duration = Duration::from_secs(5);
/// Without scripts the page is loaded as a whole each time, so not too often.
const REFRESH_MIN_S: u64 = 5;

/// The waiting page in one of its states.
#[derive(Debug)]
pub(super) struct Picture {
    state: &'static str,
    status: Option<StatusCode>,
    title: String,
    place: Value,
    ahead: u64,
    wait: String,
    notice: String,
    reason: String,
    /// Whether it is not the wait that has ended but the visit.
    visit_ended: bool,
    reference: String,
    refresh_s: Option<u64>,
}

impl Picture {
    fn new(state: &'static str, title: &str) -> Self {
        Self {
            state,
            status: None,
            title: title.to_owned(),
            place: context! { ahead => 0, next => true, behind => 0, ordinal => 0, seatsLeft => () },
            ahead: 0,
            wait: String::new(),
            notice: String::new(),
            reason: String::new(),
            visit_ended: false,
            reference: String::new(),
            refresh_s: None,
        }
    }

    /// Somebody with a live place.
    pub(super) fn of_place(
        texts: &Texts,
        view: &PlaceView<'_>,
        fresh_at: Timestamp,
        now: Timestamp,
    ) -> Self {
        let refresh_s = Some(view.poll_after_ms().div_ceil(1_000).max(REFRESH_MIN_S));
        let place = Value::from(Serde(view));
        if view.is_active() {
            return Self {
                refresh_s,
                place: context! { behind => 0, ..place },
                ..Self::new("admitted", texts.get("wait", "title_admitted"))
            };
        }
        let title = match view.ahead() {
            0 if view.is_next() => texts.get("wait", "title_next").to_owned(),
            0 => texts.get("wait", "title_soon").to_owned(),
            ahead => fill(texts.get("wait", "title_ahead"), &[("n", &grouped(ahead))]),
        };
        let wait = match view.eta_band() {
            Some((low, high)) => span::band(texts, low, high),
            None => texts.get("wait", "unknown_wait").to_owned(),
        };
        Self {
            place,
            ahead: view.ahead(),
            wait,
            notice: notice(texts, view.room_state(), fresh_at, now),
            refresh_s,
            ..Self::new("waiting", &title)
        }
    }

    /// Somebody without a live place, or whose place cannot be told.
    pub(super) fn of_error(error: ApiError, page: Page, here: &Here, id: &RequestId) -> Self {
        let texts = page.texts();
        let visit_ended = matches!(error, ApiError::TokenEnded(Ending::Done, _));
        let why = match error {
            ApiError::TokenInvalid if here.left => "left",
            ApiError::TokenInvalid => {
                return Self::new("joining", texts.get("wait", "title"));
            }
            ApiError::TokenEnded(_, Some(reason)) => reason.as_str(),
            ApiError::TokenEnded(Ending::Gone, None) => "unknown",
            ApiError::TokenEnded(Ending::Done, None) => "unknown_visit",
            error => return Self::refused(error, page, id),
        };
        let reason = texts.get("wait", &format!("ended_{why}")).to_owned();
        let title = if visit_ended {
            "visit_ended"
        } else {
            "title_ended"
        };
        Self {
            reason,
            visit_ended,
            ..Self::new("ended", texts.get("wait", title))
        }
    }

    /// Something that was not done.
    pub(super) fn refused(error: ApiError, page: Page, id: &RequestId) -> Self {
        let (problem, texts) = (Problem::from(error), page.texts());
        let code = problem.kind().code;
        let reason = texts.find("problem", code);
        let reference = [("code", code), ("id", id.as_str())];
        Self {
            status: Some(problem.status_code()),
            reason: reason
                .unwrap_or_else(|| texts.get("problem", "other"))
                .to_owned(),
            reference: fill(texts.get("wait", "reference"), &reference),
            ..Self::new("refused", texts.get("wait", "refused"))
        }
    }

    /// Where somebody without scripts is sent, if this is the moment. With scripts the page goes there by
    /// itself, after it has said so.
    pub(super) fn destination<'a>(&self, here: &'a Here) -> Option<&'a ReturnTo> {
        let now = here.mode == Mode::Plain && self.state == "admitted";
        here.return_to.as_ref().filter(|_| now)
    }

    pub(super) fn render(self, page: Page, here: &Here) -> Response {
        let from = here.from.max(self.ahead);
        let plain = Here {
            mode: Mode::Plain,
            from,
            left: false,
            ..here.clone()
        };
        let script_texts = page.texts().script(&["wait", "span", "problem"]);
        let content = context! {
            room => here.room.as_str(),
            state => self.state,
            title => self.title,
            // What is known here is how many seats of all dates are left.
            place => match here.date() {
                Some(_) => context! { seatsLeft => (), ..self.place },
                None => self.place,
            },
            wait => self.wait,
            // Being next is all of the way.
            done => from - self.ahead + 1,
            steps => from + 1,
            notice => self.notice,
            reason => self.reason,
            visit_ended => self.visit_ended,
            reference => self.reference,
            refresh_s => self.refresh_s,
            plain => here.mode == Mode::Plain,
            plain_link => plain.link(),
            date => here.date(),
            return_to => here.return_to.as_ref().map(ReturnTo::as_str),
            key => BASE64.encode(random::<16>()),
            script_texts => Value::from_safe_string(script_texts),
        };
        let link = here.link();
        match self.status {
            Some(status) => page.render_failure(status, "wait.html", &link, content),
            None => page.render("wait.html", &link, content),
        }
    }
}

/// What somebody in line has to know beside the numbers.
fn notice(texts: &Texts, state: &str, fresh_at: Timestamp, now: Timestamp) -> String {
    if fresh_at.until(now) > STALE {
        let moment = Moment(fresh_at).to_string();
        let time = moment.get(11..19).unwrap_or_default();
        return fill(
            texts.get("wait", "stale"),
            &[("time", &format!("{time} UTC"))],
        );
    }
    match state {
        "SOLD_OUT" => texts.get("wait", "sold_out").to_owned(),
        "PAUSED" => texts.get("wait", "paused").to_owned(),
        "CLOSED" => texts.get("wait", "closed").to_owned(),
        "DRAINING" => texts.get("wait", "draining").to_owned(),
        _ => String::new(),
    }
}
