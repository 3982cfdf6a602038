//! What the pages of the box office are made of.

use std::sync::LazyLock;

use axum::response::Response;
use http::{HeaderMap, Uri};
use ropeline_web::pages::{Book, Page, PagePath, SCRIPT, STYLE, Sources, asset, or_not_found};

/// The box office's templates, texts and files, next to the rooms.
pub(crate) static BOOK: LazyLock<Book> = LazyLock::new(|| book(Foot::WithRooms));

/// The same without links to the pages of the rooms, which a box office of its own does not serve.
pub(crate) static BOOK_ALONE: LazyLock<Book> = LazyLock::new(|| book(Foot::Alone));

/// Where the foot of each page leads.
#[derive(Debug, Clone, Copy)]
enum Foot {
    WithRooms,
    Alone,
}

fn book(foot: Foot) -> Book {
    let foot = match foot {
        Foot::WithRooms => include_str!("../../templates/foot.html"),
        Foot::Alone => include_str!("../../templates/foot-alone.html"),
    };
    Book::new(&Sources {
        templates: &[
            ("home.html", include_str!("../../templates/home.html")),
            ("name.html", include_str!("../../templates/name.html")),
            (
                "continue.html",
                include_str!("../../templates/continue.html"),
            ),
            ("seats.html", include_str!("../../templates/seats.html")),
            ("receipt.html", include_str!("../../templates/receipt.html")),
            ("trouble.html", include_str!("../../templates/trouble.html")),
            ("account.html", include_str!("../../templates/account.html")),
            ("when.html", include_str!("../../templates/when.html")),
            ("foot.html", foot),
        ],
        texts: [
            include_str!("../../texts/en.toml"),
            include_str!("../../texts/ko.toml"),
        ],
        assets: &[
            asset!("boxoffice.css", STYLE),
            asset!("words.js", SCRIPT),
            asset!("api.js", SCRIPT),
            asset!("keys.js", SCRIPT),
            asset!("map.js", SCRIPT),
            asset!("holds.js", SCRIPT),
            asset!("charge.js", SCRIPT),
            asset!("watch.js", SCRIPT),
            asset!("seats.js", SCRIPT),
            asset!("receipt.js", SCRIPT),
        ],
        assets_at: "/boxoffice/assets",
    })
}

/// One of the files that pages name.
pub(super) async fn asset_file(
    PagePath((digest, name)): PagePath<(String, String)>,
    page: Page,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    or_not_found(BOOK.asset(&digest, &name), page, &uri, &headers)
}

#[cfg(test)]
mod tests {
    use ropeline_gate::kinds as gate;
    use ropeline_web::Language;

    use super::*;
    use crate::http::CATALOGUE;

    #[test]
    fn both_languages_say_the_same_things() {
        assert!(BOOK.untold().is_empty(), "{:?}", BOOK.untold());
    }

    #[test]
    fn every_problem_has_a_sentence_for_people() {
        let shared = [
            &gate::TOKEN_INVALID,
            &gate::TOKEN_EXPIRED,
            &gate::TOKEN_NOT_FOUND,
            &gate::NOT_ADMITTED,
            &gate::ROOM_NOT_FOUND,
            &gate::ROOM_CLOSED,
            &gate::ROOM_FULL,
            &gate::STORE_UNAVAILABLE,
            &ropeline_web::LOGIN_REQUIRED,
            &ropeline_web::LOGIN_INVALID,
            &ropeline_web::RATE_LIMITED,
            &ropeline_web::UNAUTHORIZED,
        ];
        let all = CATALOGUE.iter().chain(&shared);
        for kind in all.chain(&ropeline_web::CATALOGUE) {
            for language in Language::ALL {
                let told = BOOK.texts(language).find("problem", kind.code);
                assert!(told.is_some(), "{} in {language:?}", kind.code);
            }
        }
    }
}
