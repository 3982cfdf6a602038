//! What every page has: its language, its frame, its headers.

use axum::{
    extract::{FromRef, FromRequestParts},
    response::{IntoResponse, Response},
};
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{
        CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, SET_COOKIE, VARY, X_FRAME_OPTIONS,
    },
    request::Parts,
};
use minijinja::{Value, context};

use super::{Book, Texts};
use crate::{Language, Problem, Speaking};

const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    ),
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
             connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
    ),
    (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (VARY, HeaderValue::from_static("Accept-Language, Cookie")),
];

/// A page in the making: out of the service's book, in the language of whoever asks for it.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    speaking: Speaking,
    book: &'static Book,
}

impl<S: Sync> FromRequestParts<S> for Page
where
    &'static Book: FromRef<S>,
{
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let speaking = Speaking::from_request_parts(parts, state).await?;
        let book = FromRef::from_ref(state);
        Ok(Self { speaking, book })
    }
}

impl Page {
    /// The texts of its language.
    pub fn texts(self) -> &'static Texts {
        self.book.texts(self.speaking.language)
    }

    /// Its language.
    pub fn language(self) -> Language {
        self.speaking.language
    }

    /// A page from its template and what the template needs beside the frame. `here` is the page's own
    /// address, to which the language switch adds `lang`.
    pub fn render(self, template: &str, here: &str, content: Value) -> Response {
        let language = self.speaking.language;
        let mark = if here.contains('?') { '&' } else { '?' };
        let languages = Language::ALL.map(|other| {
            context! {
                tag => other.tag(),
                name => other.name(),
                here => other == language,
                link => format!("{here}{mark}lang={}", other.tag()),
            }
        });
        let frame = context! {
            lang => language.tag(),
            t => self.texts().value.clone(),
            assets => self.book.assets_base(),
            languages,
        };
        let all = context! { ..content, ..frame };
        match self.book.render(template, all) {
            Ok(page) => self.answer(page),
            Err(error) => {
                tracing::error!(%error, template, "a page cannot be written");
                Problem::internal().into_response()
            }
        }
    }

    /// The same as an answer to something that was not done.
    pub fn render_failure(
        self,
        status: StatusCode,
        template: &str,
        here: &str,
        content: Value,
    ) -> Response {
        let mut response = self.render(template, here, content);
        if response.status().is_success() {
            *response.status_mut() = status;
        }
        response
    }

    fn answer(self, page: String) -> Response {
        let mut response = (HEADERS, page).into_response();
        if let Some(cookie) = self.speaking.cookie() {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        response
    }
}
