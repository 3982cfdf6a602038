//! The way to the seats: a name, the line, the seats.

use axum::{
    Form,
    extract::State,
    response::{AppendHeaders, IntoResponse, Redirect, Response},
};
use http::{HeaderValue, header::SET_COOKIE};
use minijinja::{Value, context};
use ropeline_core::RoomId;
use ropeline_gate::Ticket;
use ropeline_web::{
    Client,
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
    http::{ApiError, DATE_NOT_FOUND, login_cookie},
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
    PagePath(DatePath { concert_date_id }): PagePath<DatePath>,
) -> Response {
    let here = here(concert_date_id);
    let shown = async {
        let Some(date) = find(&pages, concert_date_id).await? else {
            return Ok(no_date(page));
        };
        match visitor.customer(&pages).await? {
            None => Ok(ask_name(page, &date)),
            Some(customer) => lead(&pages, page, &date, &customer).await,
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

/// Shows the seats to somebody inside. Whoever is not, but holds seats, is shown those, since they can be paid for
/// without a pass; everybody else is led into the line.
async fn lead(
    pages: &Pages,
    page: Page,
    date: &ConcertDate,
    customer: &Customer,
) -> Result<Response, ApiError> {
    let here = here(date.id);
    let holds = customer.holds().next().is_some();
    match pages.service.line_up(customer.account.user).await {
        Ok(Ticket {
            inside: true,
            cookie,
            ..
        }) => {
            let seats = seats(pages, page, date, customer, Whereabouts::Inside);
            Ok(with_cookie(seats, cookie))
        }
        Ok(Ticket { cookie, .. }) if holds => {
            let seats = seats(pages, page, date, customer, Whereabouts::Outside);
            Ok(with_cookie(seats, cookie))
        }
        Ok(Ticket { cookie, .. }) => {
            let next = wait(&pages.service.room, &here);
            Ok(with_cookie(Redirect::to(&next).into_response(), cookie))
        }
        Err(_) if holds => Ok(seats(pages, page, date, customer, Whereabouts::Outside)),
        Err(error) => Err(error.into()),
    }
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
