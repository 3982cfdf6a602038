//! The operators' page, behind a login with the admin key.

use axum::{
    Form,
    extract::State,
    response::{IntoResponse, Redirect, Response},
};
use http::{HeaderMap, header::SET_COOKIE};
use minijinja::{Value, context};
use ropeline_web::{Client, pages::Page};
use serde::Deserialize;

use crate::{app::App, error::ApiError};

const HERE: &str = "/admin";

pub(crate) async fn admin(State(app): State<App>, page: Page, headers: HeaderMap) -> Response {
    match app.sessions.find(&headers, app.now()) {
        None => page.render("login.html", HERE, context! { problem => () }),
        Some(session) => {
            let content = context! {
                csrf => session.csrf(),
                script_texts => script_texts(page),
            };
            page.render("admin.html", HERE, content)
        }
    }
}

/// What the form of the login sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Key {
    key: String,
}

pub(crate) async fn log_in(
    State(app): State<App>,
    page: Page,
    client: Client,
    Form(Key { key }): Form<Key>,
) -> Response {
    match check(&app, client, key.trim()) {
        Ok(()) => {
            let cookie = [(SET_COOKIE, app.sessions.open(app.now()))];
            (cookie, Redirect::to(HERE)).into_response()
        }
        Err(error) => {
            let kind = error.kind();
            let problem = page.texts().get("problem", kind.code);
            page.render_failure(kind.status, "login.html", HERE, context! { problem })
        }
    }
}

fn check(app: &App, client: Client, key: &str) -> Result<(), ApiError> {
    app.check_admin_key(client, key)?;
    Ok(app.count_operator(client)?)
}

/// What the button that ends a session sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Farewell {
    csrf: String,
}

pub(crate) async fn log_out(
    State(app): State<App>,
    headers: HeaderMap,
    Form(Farewell { csrf }): Form<Farewell>,
) -> Response {
    let session = app.sessions.find(&headers, app.now());
    let back = Redirect::to(HERE);
    if session.is_some_and(|session| session.csrf_matches(&csrf)) {
        return ([(SET_COOKIE, app.sessions.close())], back).into_response();
    }
    back.into_response()
}

fn script_texts(page: Page) -> Value {
    let texts = page.texts().script(&["admin", "state", "span"]);
    Value::from_safe_string(texts)
}
