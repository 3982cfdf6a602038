//! The home page: what is on sale, and what is one's own.

use axum::{extract::State, response::Response};
use minijinja::{Value, context};
use ropeline_web::pages::{Page, Texts};

use super::{
    Pages,
    trouble::trouble,
    visitor::{Customer, Visitor},
    when::{length, when},
};
use crate::{ConcertDate, Reservation, ReservationState, http::ApiError};

const HERE: &str = "/";

pub(super) async fn home(State(pages): State<Pages>, page: Page, visitor: Visitor) -> Response {
    match content(&pages, page, visitor).await {
        Ok(content) => page.render("home.html", HERE, content),
        Err(error) => trouble(page, HERE, error),
    }
}

async fn content(pages: &Pages, page: Page, visitor: Visitor) -> Result<Value, ApiError> {
    let dates = pages.board.dates(&pages.service).await?;
    let customer = visitor.customer(pages).await?;
    let hold = pages.service.office.rules().hold_ttl.as_secs();
    let texts = page.texts();
    Ok(context! {
        concerts => concerts(texts, &dates),
        account => customer.as_ref().map(Customer::shown),
        tickets => customer.map_or_else(Vec::new, |customer| tickets(texts, &customer, &dates)),
        minutes => length(texts, hold),
    })
}

/// The dates to come, of one concert after the other: first the one that plays first.
fn concerts(texts: &Texts, dates: &[ConcertDate]) -> Vec<Value> {
    let coming: Vec<_> = dates.iter().filter(|date| !date.has_begun).collect();
    let mut concerts = Vec::new();
    for date in &coming {
        if !concerts.contains(&date.concert) {
            concerts.push(date.concert);
        }
    }
    let shown = concerts.into_iter().map(|concert| {
        let own = || coming.iter().filter(|date| date.concert == concert);
        context! {
            id => concert.0,
            title => own().next().map(|date| date.title.as_str()),
            venue => own().next().map(|date| date.venue.as_deref()),
            dates => own().map(|date| card(texts, date)).collect::<Vec<_>>(),
        }
    });
    shown.collect()
}

fn card(texts: &Texts, date: &ConcertDate) -> Value {
    context! {
        id => date.id.0,
        when => when(texts, date.starts_at, &date.zone),
        left => date.seats_left,
        held => date.seats_held,
        from => date.price_from.map(crate::Points::get),
    }
}

/// What somebody holds or has bought, the newest first.
fn tickets(texts: &Texts, customer: &Customer, dates: &[ConcertDate]) -> Vec<Value> {
    let held_or_paid =
        |of: &&Reservation| matches!(of.state, ReservationState::Held | ReservationState::Paid);
    let own = customer.reservations.iter().filter(held_or_paid);
    let shown = own.map(|own| {
        let date = dates.iter().find(|date| date.id == own.date);
        context! {
            reservation => own.id.0,
            date => own.date.0,
            number => own.number,
            paid => own.state == ReservationState::Paid,
            title => date.map(|date| date.title.as_str()).unwrap_or_default(),
            when => date.map(|date| when(texts, date.starts_at, &date.zone)),
        }
    });
    shown.collect()
}
