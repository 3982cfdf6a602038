//! The receipt of a payment, for its buyer.

use axum::{extract::State, response::Response};
use http::{HeaderMap, header::HOST};
use minijinja::{Value, context};
use ropeline_web::pages::{Page, PagePath};
use serde::Deserialize;

use super::{
    Pages,
    trouble::{missing, trouble},
    visitor::{Customer, Visitor},
    when::when,
};
use crate::{
    Error, Receipt, Refusal, ReservationId,
    http::{ApiError, RESERVATION_NOT_FOUND},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReceiptPath {
    reservation_id: ReservationId,
}

pub(super) async fn receipt(
    State(pages): State<Pages>,
    page: Page,
    visitor: Visitor,
    PagePath(ReceiptPath { reservation_id }): PagePath<ReceiptPath>,
    headers: HeaderMap,
) -> Response {
    let here = format!("/receipt/{reservation_id}");
    match find(&pages, visitor, reservation_id).await {
        Ok(Some((customer, receipt))) => {
            let content = context! {
                receipt => shown(page, &receipt),
                issuer => issuer(&pages, &headers),
                account => customer.shown(),
                more => more(&customer),
            };
            page.render("receipt.html", &here, content)
        }
        Ok(None) => {
            let said = ["missing", "missing_note"].map(|name| page.texts().get("receipt", name));
            missing(page, &here, &RESERVATION_NOT_FOUND, said)
        }
        Err(error) => trouble(page, &here, error),
    }
}

/// The receipt, if it is this visitor's own.
async fn find(
    pages: &Pages,
    visitor: Visitor,
    reservation: ReservationId,
) -> Result<Option<(Customer, Receipt)>, ApiError> {
    let Some(customer) = visitor.customer(pages).await? else {
        return Ok(None);
    };
    let office = &pages.service.office;
    match office.receipt(customer.account.user, reservation).await {
        Ok(receipt) => Ok(Some((customer, receipt))),
        Err(Error::Refused(Refusal::ReservationNotFound)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Where the ticket was sold: as the operator has said, else as the browser calls it.
fn issuer(pages: &Pages, headers: &HeaderMap) -> Option<String> {
    let called = || headers.get(HOST)?.to_str().ok().map(str::to_owned);
    pages.service.host.clone().or_else(called)
}

fn shown(page: Page, receipt: &Receipt) -> Value {
    let texts = page.texts();
    context! {
        payment => receipt.payment.0,
        title => receipt.title.as_str(),
        venue => receipt.venue.as_deref(),
        when => when(texts, receipt.starts_at, &receipt.zone),
        seat => receipt.number,
        price => receipt.amount.get(),
        balance => receipt.balance.get(),
        paid => when(texts, receipt.paid_at, &receipt.zone),
    }
}

/// What the buyer holds beside it, which would run out unnoticed.
fn more(customer: &Customer) -> Option<Value> {
    let first = customer.holds().last()?;
    Some(context! { count => customer.holds().count(), date => first.date.0 })
}
