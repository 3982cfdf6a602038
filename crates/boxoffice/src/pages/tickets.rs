//! The way to the seats: a name, the line, the seats.

use axum::{
    Form,
    extract::State,
    response::{AppendHeaders, IntoResponse, Redirect, Response},
};
use http::{HeaderMap, HeaderValue, header::SET_COOKIE};
use minijinja::{Value, context};
use ropeline_core::RoomId;
use ropeline_gate::{Decision, GateError};
use ropeline_web::{
    Client, is_get_from_another_site,
    pages::{Page, PagePath},
};
use serde::Deserialize;

use super::{
    Pages,
    trouble::{missing, trouble},
    visitor::{Customer, Visitor},
    when::{length, when},
};
use crate::{
    ConcertDate, DateId, Error, Refusal, UserId,
    http::{ApiError, DATE_NOT_FOUND, login_cookie, verified_user},
};

/// What is offered when points are charged: from the price of a cheap seat to that of a handful.
const AMOUNTS: [i64; 4] = [50_000, 100_000, 200_000, 500_000];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DatePath {
    pub(super) concert_date_id: DateId,
}

/// What the form sends; without a name if somebody has logged in.
#[derive(Debug, Deserialize)]
pub(super) struct Entering {
    name: Option<String>,
}

/// The seats, for somebody inside; the line for somebody who is not; the form for somebody without a name.
pub(super) async fn tickets(
    State(pages): State<Pages>,
    page: Page,
    visitor: Visitor,
    client: Client,
    headers: HeaderMap,
    PagePath(DatePath { concert_date_id }): PagePath<DatePath>,
) -> Response {
    let here = here(concert_date_id);
    let shown = async {
        let Some(date) = find(&pages, concert_date_id).await? else {
            return Ok(no_date(page));
        };
        match visitor.customer(&pages).await? {
            None => Ok(ask_name(page, &date)),
            Some(customer) => lead(&pages, page, &headers, client, &date, &customer).await,
        }
    };
    shown
        .await
        .unwrap_or_else(|error| trouble(page, &here, error))
}

/// Takes a name, unless somebody has logged in, and leads into the line.
pub(super) async fn enter(
    State(pages): State<Pages>,
    page: Page,
    visitor: Visitor,
    client: Client,
    PagePath(DatePath { concert_date_id }): PagePath<DatePath>,
    Form(Entering { name }): Form<Entering>,
) -> Response {
    let here = here(concert_date_id);
    let entered = async {
        pages.service.count_join(client)?;
        let Some(date) = find(&pages, concert_date_id).await? else {
            return Ok(no_date(page));
        };
        if let Some(customer) = visitor.customer(&pages).await? {
            return line_up(&pages, customer.account.user, &here).await;
        }
        let name = name.unwrap_or_default();
        match pages.service.log_in(&name).await {
            Ok((user, login)) => {
                let joined = line_up(&pages, user, &here).await;
                let answer = joined.unwrap_or_else(|error| trouble(page, &here, error));
                let cookie = login_cookie(&login, pages.service.cookies);
                Ok(with_cookie(answer, Some(cookie)))
            }
            Err(Error::Refused(Refusal::InvalidName)) => Ok(name_refused(page, &date, &name)),
            Err(error) => Err(error.into()),
        }
    };
    entered
        .await
        .unwrap_or_else(|error| trouble(page, &here, error))
}

/// Gives the user a place, and sends them where it leads: to the seats, or into the line.
async fn line_up(pages: &Pages, user: UserId, here: &str) -> Result<Response, ApiError> {
    let ticket = pages.service.line_up(user).await?;
    let next = if ticket.inside {
        here.to_owned()
    } else {
        wait(&pages.service.room, here)
    };
    Ok(with_cookie(
        Redirect::to(&next).into_response(),
        ticket.cookie,
    ))
}

/// Shows the seats to a customer inside. Customers who are not inside join the line, unless a page of another site
/// sent them here. Those who hold seats see them in any case, since paying for them needs no pass.
async fn lead(
    pages: &Pages,
    page: Page,
    headers: &HeaderMap,
    client: Client,
    date: &ConcertDate,
    customer: &Customer,
) -> Result<Response, ApiError> {
    let shown = |whereabouts| seats(pages, page, date, customer, whereabouts);
    let holds = customer.holds().next().is_some();
    match find_place(pages, headers, client, customer.account.user).await {
        Ok(Place::Inside(cookie)) => Ok(with_cookie(shown(Whereabouts::Inside), cookie)),
        Ok(Place::InLine(cookie)) if holds => Ok(with_cookie(shown(Whereabouts::Outside), cookie)),
        Ok(Place::NotJoined) | Err(_) if holds => Ok(shown(Whereabouts::Outside)),
        Ok(Place::InLine(cookie)) => {
            let next = wait(&pages.service.room, &here(date.id));
            Ok(with_cookie(Redirect::to(&next).into_response(), cookie))
        }
        Ok(Place::NotJoined) => Ok(ask_to_continue(page, date, customer)),
        Err(error) => Err(error),
    }
}

/// Where a customer who opens the seats stands, with the cookie of a place that they were given.
enum Place {
    Inside(Option<HeaderValue>),
    InLine(Option<HeaderValue>),
    /// A page of another site sent them, which must not join anybody.
    NotJoined,
}

/// The place of a customer. Without a pass in this browser they join, which counts for their address.
async fn find_place(
    pages: &Pages,
    headers: &HeaderMap,
    client: Client,
    user: UserId,
) -> Result<Place, ApiError> {
    if is_inside(pages, headers, user).await? {
        return Ok(Place::Inside(None));
    }
    if is_get_from_another_site(headers) {
        return Ok(Place::NotJoined);
    }
    pages.service.count_join(client)?;
    let ticket = pages.service.line_up(user).await?;
    Ok(if ticket.inside {
        Place::Inside(ticket.cookie)
    } else {
        Place::InLine(ticket.cookie)
    })
}

/// Whether this browser's own queue token is a live pass of this user. Asking joins nobody.
async fn is_inside(pages: &Pages, headers: &HeaderMap, user: UserId) -> Result<bool, GateError> {
    let service = &pages.service;
    let Some(token) = service.gate.token(headers) else {
        return Ok(false);
    };
    let decision = service.gatekeeper.verify(&service.room, token).await?;
    Ok(matches!(decision, Decision::Enter(admitted) if verified_user(&admitted) == Some(user)))
}

/// Whether somebody may choose seats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whereabouts {
    Inside,
    Outside,
}

fn seats(
    pages: &Pages,
    page: Page,
    date: &ConcertDate,
    customer: &Customer,
    whereabouts: Whereabouts,
) -> Response {
    let texts = page.texts();
    let rules = pages.service.office.rules();
    let script_texts = texts.script(&["seats", "holds", "charge", "problem"]);
    let content = context! {
        date => shown(page, date),
        account => customer.shown(),
        inside => whereabouts == Whereabouts::Inside,
        minutes => length(texts, rules.hold_ttl.as_secs()),
        late_ms => u64::try_from(rules.late_payment.as_millis()).unwrap_or(u64::MAX),
        amounts => AMOUNTS,
        script_texts => Value::from_safe_string(script_texts),
    };
    page.render("seats.html", &here(date.id), content)
}

fn ask_name(page: Page, date: &ConcertDate) -> Response {
    let content = context! { date => shown(page, date), problem => (), name => "" };
    page.render("name.html", &here(date.id), content)
}

/// A page with one button: a link on another site shows it and joins nobody.
fn ask_to_continue(page: Page, date: &ConcertDate, customer: &Customer) -> Response {
    let content = context! { date => shown(page, date), account => customer.shown() };
    page.render("continue.html", &here(date.id), content)
}

fn name_refused(page: Page, date: &ConcertDate, name: &str) -> Response {
    let problem = page.texts().get("login", "invalid");
    let content = context! { date => shown(page, date), problem, name };
    let status = ApiError::from(Refusal::InvalidName).kind().status;
    page.render_failure(status, "name.html", &here(date.id), content)
}

fn no_date(page: Page) -> Response {
    let said = ["no_date", "no_date_note"].map(|name| page.texts().get("trouble", name));
    missing(page, "/", &DATE_NOT_FOUND, said)
}

fn shown(page: Page, date: &ConcertDate) -> Value {
    context! {
        id => date.id.0,
        title => date.title.as_str(),
        venue => date.venue.as_deref(),
        when => when(page.texts(), date.starts_at, &date.zone),
    }
}

async fn find(pages: &Pages, id: DateId) -> Result<Option<ConcertDate>, ApiError> {
    let dates = pages.board.dates(&pages.service).await?;
    Ok(dates.iter().find(|date| date.id == id).cloned())
}

fn here(date: DateId) -> String {
    format!("/tickets/{date}")
}

/// The waiting page, which leads back here.
fn wait(room: &RoomId, here: &str) -> String {
    format!("/wait/{room}?return={}", here.replace('/', "%2F"))
}

fn with_cookie(answer: Response, cookie: Option<HeaderValue>) -> Response {
    let cookie = AppendHeaders(cookie.map(|cookie| (SET_COOKIE, cookie)));
    (cookie, answer).into_response()
}
