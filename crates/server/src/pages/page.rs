//! What every page has: its language, its frame, its headers.

use std::sync::LazyLock;

use axum::{
    extract::FromRequestParts,
    response::{IntoResponse, Response},
};
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{
        CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, SET_COOKIE, VARY, X_FRAME_OPTIONS,
    },
    request::Parts,
};
use minijinja::{Environment, UndefinedBehavior, Value, context};
use ropeline_web::{Language, Problem, Speaking};

use super::{
    assets,
    text::{Texts, fill_filter, grouped},
};

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

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.add_filter("fill", fill_filter);
    templates.add_filter("grouped", grouped);
    for (name, source) in [
        ("base.html", include_str!("../../templates/base.html")),
        ("home.html", include_str!("../../templates/home.html")),
        ("wait.html", include_str!("../../templates/wait.html")),
        ("problem.html", include_str!("../../templates/problem.html")),
        ("login.html", include_str!("../../templates/login.html")),
        ("admin.html", include_str!("../../templates/admin.html")),
        (
            "join_form.html",
            include_str!("../../templates/join_form.html"),
        ),
        ("no_room.html", include_str!("../../templates/no_room.html")),
    ] {
        let added = templates.add_template(name, source);
        added.expect("the tests render every template");
    }
    templates
});

/// A page in the making: the language of whoever asks for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    speaking: Speaking,
}

impl<S: Sync> FromRequestParts<S> for Page {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let speaking = Speaking::from_request_parts(parts, state).await?;
        Ok(Self { speaking })
    }
}

impl Page {
    /// The texts of its language.
    pub(crate) fn texts(self) -> &'static Texts {
        Texts::of(self.speaking.language)
    }

    /// A page from its template and what the template needs beside the frame. `here` is the page's own
    /// address, to which the language switch adds `lang`.
    pub(crate) fn render(self, template: &str, here: &str, content: Value) -> Response {
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
            assets => assets::base(),
            languages,
        };
        let all = context! { ..content, ..frame };
        let page = TEMPLATES
            .get_template(template)
            .and_then(|template| template.render(all));
        match page {
            Ok(page) => self.answer(page),
            Err(error) => {
                tracing::error!(%error, template, "a page cannot be written");
                Problem::internal().into_response()
            }
        }
    }

    /// The same as an answer to something that was not done.
    pub(crate) fn render_failure(
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
