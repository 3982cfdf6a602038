//! What the pages of the waiting room are made of.

use std::sync::LazyLock;

use axum::{extract::FromRef, response::Response};
use http::{HeaderMap, Uri};
use ropeline_web::pages::{Book, Page, PagePath, SCRIPT, STYLE, Sources, asset, or_not_found};

use crate::app::App;

/// The room's templates, texts and files.
pub(crate) static BOOK: LazyLock<Book> = LazyLock::new(|| {
    Book::new(&Sources {
        templates: &[
            ("home.html", include_str!("../../templates/home.html")),
            ("wait.html", include_str!("../../templates/wait.html")),
            ("login.html", include_str!("../../templates/login.html")),
            ("admin.html", include_str!("../../templates/admin.html")),
            (
                "join_form.html",
                include_str!("../../templates/join_form.html"),
            ),
            ("no_room.html", include_str!("../../templates/no_room.html")),
        ],
        texts: [
            include_str!("../../texts/en.toml"),
            include_str!("../../texts/ko.toml"),
        ],
        assets: &[
            asset!("admin.css", STYLE),
            asset!("home.js", SCRIPT),
            asset!("wait.js", SCRIPT),
            asset!("source.js", SCRIPT),
            asset!("line.js", SCRIPT),
            asset!("memory.js", SCRIPT),
            asset!("words.js", SCRIPT),
            asset!("admin.js", SCRIPT),
            asset!("plot.js", SCRIPT),
        ],
        assets_at: "/assets",
    })
});

impl FromRef<App> for &'static Book {
    fn from_ref(_: &App) -> Self {
        &BOOK
    }
}

/// One of the files that pages name.
pub(crate) async fn asset_file(
    PagePath((digest, name)): PagePath<(String, String)>,
    page: Page,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    or_not_found(BOOK.asset(&digest, &name), page, &uri, &headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_say_the_same_things() {
        assert!(BOOK.untold().is_empty(), "{:?}", BOOK.untold());
    }
}
