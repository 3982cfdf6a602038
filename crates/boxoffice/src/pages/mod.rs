//! Pages for buyers, in Korean and English: the dates, the seats, the receipt.
//!
//! A page shows and leads on; what is bought and paid goes over the API, which the scripts in `assets` call with the
//! login and the pass in their cookies. The home page stands before the line, so that a crowd may load it: what it
//! shows to everybody is asked of the database once a second.

mod board;
mod book;
mod home;
mod left;
mod receipt;
mod tickets;
mod trouble;
mod visitor;
mod when;

use std::sync::Arc;

use axum::{
    Router,
    extract::FromRef,
    routing::{get, post},
};
use ropeline_web::pages::{Book, method_not_allowed, not_found};

use self::board::Board;
pub(crate) use self::book::{BOOK, BOOK_ALONE};
use crate::http::Service;

/// Every page, out of this book.
pub(crate) fn router(service: &Service, book: &'static Book) -> Router {
    let pages = Pages {
        service: service.clone(),
        book,
        board: Arc::default(),
    };
    Router::new()
        .route("/", get(home::home))
        .route(
            "/tickets/{concertDateId}",
            get(tickets::tickets).post(tickets::enter),
        )
        .route("/tickets/{concertDateId}/left", get(left::left))
        .route("/receipt/{reservationId}", get(receipt::receipt))
        .route("/logout", post(visitor::log_out))
        .route("/boxoffice/assets/{digest}/{name}", get(book::asset_file))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(pages)
}

/// What every page shares.
#[derive(Debug, Clone)]
struct Pages {
    service: Service,
    book: &'static Book,
    board: Arc<Board>,
}

impl FromRef<Pages> for &'static Book {
    fn from_ref(pages: &Pages) -> Self {
        pages.book
    }
}
