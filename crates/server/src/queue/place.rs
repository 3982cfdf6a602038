//! What a visitor is told about a place.

use std::{borrow::Cow, time::Duration};

use ropeline_core::{
    Claims, Ending, Estimate, Live, Located, Ordinal, Pass, RoomId, Standing, Timestamp, View,
    forecast, poll_after, poll_after_inside,
};
use ropeline_store::{Seen, StoreError};
use ropeline_web::{JsonText, Plain, WriteJson, write_object};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{app::App, error::ApiError, moment::Moment};

/// Where a live place is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// In line.
    InLine { ahead: u64, behind: u64 },
    /// Served before the line: nobody in line is ahead, but others who are at the door may be; `None` if it is not
    /// known how many.
    AtDoor { before: Option<u64> },
    /// Has a pass.
    Inside(Pass),
    /// May have been inside when the store was last heard of, which counts until then by the node's clock.
    Leased(Timestamp),
}

impl Place {
    /// Where the holder of a token is, who is thereby heard of. In line, this waits for nothing. While the
    /// store is away it is what this node last knew.
    pub(crate) async fn of(app: &App, claims: &Claims, seen: &mut Seen) -> Result<Self, ApiError> {
        match Self::asked(app, claims, seen).await {
            Err(ApiError::Store(error)) => Self::last_known(app, claims, seen, error),
            place => place,
        }
    }

    async fn asked(app: &App, claims: &Claims, seen: &mut Seen) -> Result<Self, ApiError> {
        if let Some(place) = Self::in_line(app, claims, seen) {
            return Ok(place);
        }
        let (room, ordinal) = (&claims.aud, claims.ord);
        if let Located::Ended(ending) = seen.view.locate(ordinal) {
            return Err(ended(&seen.view, ordinal, ending));
        }
        remember_issued(app, claims, &seen.view).await?;
        let standing = app.store.ask(room, claims.holder()).await?;
        *seen = app.seen(room)?;
        let is_news = matches!(standing, Standing::Ended(_)) && seen.view.ending(ordinal).is_none();
        // Why it ended, the picture says once it is settled; without that it is told without a reason.
        if is_news && app.store.settle(room).await.is_ok() {
            *seen = app.seen(room)?;
        }
        let place = Self::standing(standing, &seen.view, ordinal)?;
        place.remember(app, claims, seen);
        Ok(place)
    }

    /// Where a holder who is in line is, about whom the store need not be asked, and who is thereby heard of.
    pub(crate) fn in_line(app: &App, claims: &Claims, seen: &Seen) -> Option<Self> {
        let (view, ordinal) = (&seen.view, claims.ord);
        match view.locate(ordinal) {
            Located::InLine { ahead, behind } if !may_be_lost(view, ordinal) => {
                app.store.mark(&claims.aud, ordinal);
                Some(Self::InLine { ahead, behind })
            }
            _ => None,
        }
    }

    /// Where somebody is about whom the store cannot be asked. In line, the view tells: nobody is admitted
    /// meanwhile. At or below the head it is the pass that this node last saw, or a lease; who has neither
    /// is not told anything that might be wrong.
    fn last_known(
        app: &App,
        claims: &Claims,
        seen: &Seen,
        error: StoreError,
    ) -> Result<Self, ApiError> {
        match with_signed(&seen.view, claims.ord).locate(claims.ord) {
            Located::InLine { ahead, behind } => Ok(Self::InLine { ahead, behind }),
            Located::Ended(ending) => Err(ended(&seen.view, claims.ord, ending)),
            Located::PassedBy | Located::Unknown => {
                let pass = app.seen_pass(claims, seen).map(Self::Inside);
                let lease = || app.lease(claims, seen).map(Self::Leased);
                pass.or_else(lease).ok_or(ApiError::Store(error))
            }
        }
    }

    /// Keeps a pass for the time when the store is away.
    pub(super) fn remember(self, app: &App, claims: &Claims, seen: &Seen) {
        if let (Self::Inside(pass), Some(passes)) = (self, &app.passes) {
            passes.saw(claims, pass, seen.view.now(app.now()));
        }
    }

    /// The place of somebody who stands so, as the view shows it.
    pub(crate) fn standing(standing: Standing, view: &View, at: Ordinal) -> Result<Self, ApiError> {
        match standing {
            Standing::Live(Live::Inside(pass)) => Ok(Self::Inside(pass)),
            Standing::Live(Live::AtDoor { before }) => Ok(Self::AtDoor {
                before: Some(before),
            }),
            Standing::Live(Live::Aside(_)) => Ok(Self::AtDoor { before: None }),
            Standing::Ended(ending) => Err(ended(view, at, ending)),
            Standing::Live(Live::InLine) => match view.locate(at) {
                Located::InLine { ahead, behind } => Ok(Self::InLine { ahead, behind }),
                // Admitted or set aside since: the next poll tells.
                _ => Ok(Self::AtDoor { before: None }),
            },
            Standing::Lost | Standing::Unknown => Err(ApiError::TokenInvalid),
        }
    }

    /// How many are in front.
    fn ahead(self) -> u64 {
        match self {
            Self::InLine { ahead, .. } => ahead,
            Self::AtDoor { before } => before.unwrap_or_default(),
            Self::Inside(_) | Self::Leased(_) => 0,
        }
    }

    /// As many as are in front, and no more than the client was shown last: a node that was cut off may have shown it
    /// departures and admissions that no other node knows, and whoever comes back after a missed turn finds others at
    /// the door.
    fn ahead_at_most(self, shown: Option<u64>) -> u64 {
        self.ahead().min(shown.unwrap_or(u64::MAX))
    }

    /// What the API calls position, for a client that was shown so many ahead: one more than those ahead, and 0 inside.
    pub(crate) fn position(self, shown: Option<u64>) -> u64 {
        match self {
            Self::Inside(_) | Self::Leased(_) => 0,
            waiting => waiting.ahead_at_most(shown) + 1,
        }
    }

    /// Whether nobody goes in before this place.
    fn is_next(self, view: &View) -> bool {
        match self {
            Self::InLine { ahead, .. } => ahead == 0 && view.door == 0,
            Self::AtDoor { before } => before == Some(0),
            Self::Inside(_) | Self::Leased(_) => false,
        }
    }

    /// The number of the turn, counted from 1; `None` inside.
    fn turn(self, view: &View) -> Option<u64> {
        match self {
            Self::InLine { ahead, .. } => Some(view.turn(ahead)),
            Self::AtDoor { .. } => Some(self.ahead() + 1),
            Self::Inside(_) | Self::Leased(_) => None,
        }
    }

    /// What is expected of somebody who waits; `None` inside.
    pub(crate) fn outlook(self, view: &View, now: Timestamp) -> Option<Outlook> {
        let turn = self.turn(view)?;
        Some(Outlook {
            turn,
            forecast: forecast(view, turn, now),
        })
    }

    /// The expected wait; `None` inside, or while the room is paused.
    pub(crate) fn wait(self, view: &View, now: Timestamp) -> Option<Estimate> {
        self.outlook(view, now)
            .and_then(|outlook| outlook.wait(view))
    }
}

/// What is expected of somebody who waits, if the room admits from now on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outlook {
    turn: u64,
    forecast: Estimate,
}

impl Outlook {
    /// The expected wait, as visitors are shown it: while the room is paused nobody can say.
    fn wait(self, view: &View) -> Option<Estimate> {
        (!view.header.paused).then_some(self.forecast)
    }
}

/// When somebody is to ask again.
pub(crate) fn poll_after_ms(
    outlook: Option<Outlook>,
    view: &View,
    now: Timestamp,
    ordinal: Ordinal,
) -> u64 {
    let salt = ordinal.0 ^ view.header.version.rotate_left(32);
    millis(match outlook {
        Some(Outlook { turn, forecast }) => poll_after(view, turn, forecast, now, salt),
        None => poll_after_inside(view, salt),
    })
}

/// How a place ended, and why, as far as the view knows.
fn ended(view: &View, ordinal: Ordinal, ending: Ending) -> ApiError {
    let reason = view.reason(ordinal);
    ApiError::TokenEnded(ending, reason.filter(|reason| reason.ending() == ending))
}

/// A place whose join the store may have forgotten is confirmed by asking for it.
fn may_be_lost(view: &View, ordinal: Ordinal) -> bool {
    view.header.lost.is_some_and(|lost| ordinal > lost.after)
}

/// If the room has not given this ordinal, it is made to count as given, since we have signed it: the room's files are older
/// than the token, as after a backup was put back.
pub(super) async fn remember_issued(
    app: &App,
    claims: &Claims,
    view: &View,
) -> Result<(), ApiError> {
    if view.locate(claims.ord) == Located::Unknown {
        let memory = with_signed(view, claims.ord).into_owned();
        app.store.merge(&claims.aud, memory.into()).await?;
    }
    Ok(())
}

/// The picture in which an ordinal that we have signed counts as given.
fn with_signed(view: &View, ordinal: Ordinal) -> Cow<'_, View> {
    let mut known = Cow::Borrowed(view);
    if ordinal > view.header.issued {
        known.to_mut().header.issued = ordinal;
    }
    known
}

/// Room for a view with a usual token, so that it is written without growing.
const JSON_BYTES: usize = 1_024;

/// The answer of join and status: every key always there, `null` where empty.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlaceView<'a> {
    /// Proof of the place. Keep it, and tell nobody.
    token: &'a str,
    #[schema(value_type = String, example = "main")]
    room: &'a RoomId,
    /// `null` for an anonymous visitor.
    user_id: Option<&'a str>,
    /// The place's number in the room. It never changes.
    #[schema(value_type = u64, example = 1208)]
    ordinal: Ordinal,
    /// `WAITING` or `ACTIVE`.
    #[schema(example = "WAITING")]
    status: &'static str,
    /// One more than `ahead`, and 0 inside.
    position: u64,
    /// How many are in front: in line, those in line; for those who go in before the line, the others who do. It never
    /// rises for a client that returns it, and `version`.
    ahead: u64,
    /// How many are behind; `null` inside.
    behind: Option<u64>,
    /// Whether nobody goes in before this visitor. With 0 ahead it may still be `false`: some go in before the line.
    next: bool,
    /// Whether this visitor goes in before the line: one who missed a turn and is back, for instance.
    before_line: bool,
    /// The expected wait; `null` while the room is paused.
    eta_seconds: Option<u64>,
    /// The band in which the wait most likely ends.
    eta_range: Option<EtaRange>,
    /// When the turn is expected, or when it came; `null` inside if that is not known while the store is away.
    admit_at: Option<Moment>,
    issued_at: Moment,
    /// When the pass runs out unless it is used.
    expires_at: Option<Moment>,
    /// The expected wait while waiting, the pass's life inside.
    remaining_seconds: Option<u64>,
    /// When to ask again.
    poll_after_ms: u64,
    /// Return the highest one seen in `X-Queue-Version`, and the last `ahead` in `X-Queue-Ahead`, as
    /// `7;ordinal=1208`.
    version: u64,
    /// Up to when these figures are known to hold.
    as_of: Moment,
    /// `OPEN`, `SOLD_OUT` (open, and `seatsLeft` is 0), `PAUSED`, `CLOSED` or `DRAINING`.
    #[schema(example = "OPEN")]
    room_state: &'static str,
    /// How many seats the service behind the room has left; `null` if it does not tell. The line goes on at 0: seats
    /// may come back.
    seats_left: Option<u64>,
    message: Option<&'a str>,
}

/// Seconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EtaRange {
    low: u64,
    high: u64,
}

impl<'a> PlaceView<'a> {
    /// The view of a place at `now`, the time of day.
    ///
    /// A client that returns how many ahead it was shown is not shown more.
    pub(crate) fn of(
        token: &'a str,
        claims: &'a Claims,
        place: Place,
        shown: Option<u64>,
        seen: &Seen,
        now: Timestamp,
    ) -> Self {
        let view = &*seen.view;
        let room_now = view.now(now);
        let outlook = place.outlook(view, room_now);
        let wait = outlook.and_then(|outlook| outlook.wait(view));
        let base = Self {
            token,
            room: &claims.aud,
            user_id: claims.sub.user_id(),
            ordinal: claims.ord,
            status: "WAITING",
            position: place.position(shown),
            ahead: place.ahead_at_most(shown),
            behind: None,
            next: place.is_next(view),
            before_line: matches!(place, Place::AtDoor { .. }),
            eta_seconds: None,
            eta_range: None,
            admit_at: None,
            issued_at: Moment(Timestamp(claims.iat * 1_000)),
            expires_at: None,
            remaining_seconds: None,
            poll_after_ms: poll_after_ms(outlook, view, room_now, claims.ord),
            version: view.header.version,
            as_of: Moment(seen.fresh_at),
            room_state: view.word_for_visitors(),
            seats_left: view.header.stock,
            message: None,
        };
        match place {
            Place::Inside(pass) => base.inside(pass, room_now, now),
            Place::Leased(until) => base.leased(until, now),
            Place::InLine { behind, .. } => base.waiting(behind, wait, now),
            Place::AtDoor { before } => {
                let at_door = view.door.saturating_sub(before.unwrap_or_default() + 1);
                base.waiting(view.waiting() + at_door, wait, now)
            }
        }
    }

    /// The view as JSON.
    pub(crate) fn json(&self) -> JsonText {
        let mut text = Vec::with_capacity(JSON_BYTES);
        self.write_json(&mut text);
        JsonText(text)
    }

    /// The same as [`PlaceView::json`], for who goes on working with it.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.json().0).expect("a place view is an object")
    }

    pub(crate) fn is_active(&self) -> bool {
        self.expires_at.is_some()
    }

    pub(crate) fn ahead(&self) -> u64 {
        self.ahead
    }

    pub(crate) fn is_next(&self) -> bool {
        self.next
    }

    pub(crate) fn poll_after_ms(&self) -> u64 {
        self.poll_after_ms
    }

    pub(crate) fn room_state(&self) -> &'static str {
        self.room_state
    }

    /// The seconds between which the wait most likely ends, if it can be told.
    pub(crate) fn eta_band(&self) -> Option<(u64, u64)> {
        self.eta_range.as_ref().map(|range| (range.low, range.high))
    }

    fn inside(self, pass: Pass, room_now: Timestamp, now: Timestamp) -> Self {
        let left = room_now.until(pass.expires_at);
        Self {
            status: "ACTIVE",
            eta_seconds: Some(0),
            admit_at: Some(Moment(now - room_now.since(pass.since))),
            expires_at: Some(Moment(now + left)),
            remaining_seconds: Some(seconds_up(left)),
            ..self
        }
    }

    /// When somebody with a lease was admitted is not known here.
    fn leased(self, until: Timestamp, now: Timestamp) -> Self {
        Self {
            status: "ACTIVE",
            eta_seconds: Some(0),
            expires_at: Some(Moment(until)),
            remaining_seconds: Some(seconds_up(now.until(until))),
            ..self
        }
    }

    fn waiting(self, behind: u64, wait: Option<Estimate>, now: Timestamp) -> Self {
        let Some(Estimate { wait, low, high }) = wait else {
            return Self {
                behind: Some(behind),
                ..self
            };
        };
        Self {
            behind: Some(behind),
            eta_seconds: Some(seconds_up(wait)),
            eta_range: Some(EtaRange {
                low: low.as_secs(),
                high: seconds_up(high),
            }),
            admit_at: Some(Moment(now + wait)),
            remaining_seconds: Some(seconds_up(wait)),
            ..self
        }
    }
}

/// In the order of the fields, and as their names are derived: a test holds the two together.
impl WriteJson for PlaceView<'_> {
    fn write_json(&self, text: &mut Vec<u8>) {
        write_object!(text,
            "token": Plain(self.token),
            "room": Plain(self.room.as_str()),
            "userId": self.user_id,
            "ordinal": self.ordinal.0,
            "status": Plain(self.status),
            "position": self.position,
            "ahead": self.ahead,
            "behind": self.behind,
            "next": self.next,
            "beforeLine": self.before_line,
            "etaSeconds": self.eta_seconds,
            "etaRange": self.eta_range,
            "admitAt": self.admit_at,
            "issuedAt": self.issued_at,
            "expiresAt": self.expires_at,
            "remainingSeconds": self.remaining_seconds,
            "pollAfterMs": self.poll_after_ms,
            "version": self.version,
            "asOf": self.as_of,
            "roomState": Plain(self.room_state),
            "seatsLeft": self.seats_left,
            "message": self.message,
        );
    }
}

impl WriteJson for EtaRange {
    fn write_json(&self, text: &mut Vec<u8>) {
        write_object!(text, "low": self.low, "high": self.high);
    }
}

fn seconds_up(span: Duration) -> u64 {
    span.as_secs() + u64::from(span.subsec_nanos() > 0)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
