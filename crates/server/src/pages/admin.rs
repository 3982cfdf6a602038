//! The operators' page, behind a login with the admin key.

use axum::{
    Extension, Form,
    extract::State,
    response::{IntoResponse, Redirect, Response},
};
use http::{HeaderMap, header::SET_COOKIE};
use minijinja::{Value, context};
use ropeline_web::{Client, RequestId, pages::Page};
use serde::Deserialize;
use serde_json::json;

use crate::{
    admin::note_wrong_key,
    app::App,
    audit::{Api, Entry, Proof},
    error::ApiError,
    moment::Moment,
};

const HERE: &str = "/admin";

pub(crate) async fn admin(State(app): State<App>, page: Page, headers: HeaderMap) -> Response {
    match app.sessions.find(&headers, app.now()).await {
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
    id: Extension<RequestId>,
    Form(Key { key }): Form<Key>,
) -> Response {
    match check(&app, client, &id, key.trim()).await {
        Ok(()) => {
            let (session, cookie) = app.sessions.open(client.address, app.now()).await;
            let details = json!({"session": session});
            app.audit
                .write(session_line(&app, client, &id, "login", details))
                .await;
            ([(SET_COOKIE, cookie)], Redirect::to(HERE)).into_response()
        }
        Err(error) => {
            let kind = error.kind();
            let problem = page.texts().get("problem", kind.code);
            page.render_failure(kind.status, "login.html", HERE, context! { problem })
        }
    }
}

async fn check(app: &App, client: Client, id: &RequestId, key: &str) -> Result<(), ApiError> {
    if let Err(refused) = app.check_admin_key(client, key).map_err(ApiError::from) {
        note_wrong_key(app, client, Some(id), Api::Login, &refused).await;
        return Err(refused);
    }
    Ok(app.count_operator(client, Proof::Key)?)
}

/// A line about the beginning or the end of a session.
fn session_line(
    app: &App,
    client: Client,
    id: &RequestId,
    action: &'static str,
    details: serde_json::Value,
) -> Entry {
    Entry {
        at: Moment(app.now()),
        action: action.into(),
        room: None,
        details,
        outcome: "done".into(),
        by: Some(match action {
            "login" => Proof::Key,
            _ => Proof::Session,
        }),
        address: Some(client.address),
        request_id: Some(id.to_string()),
    }
}

/// What the button that ends a session sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Farewell {
    csrf: String,
}

pub(crate) async fn log_out(
    State(app): State<App>,
    client: Client,
    id: Extension<RequestId>,
    headers: HeaderMap,
    Form(Farewell { csrf }): Form<Farewell>,
) -> Response {
    let session = app.sessions.find(&headers, app.now()).await;
    let back = Redirect::to(HERE);
    let Some(session) = session.filter(|session| session.csrf_matches(&csrf)) else {
        return back.into_response();
    };
    // If the store is away the session is ended on this node at once, and on the others when it is back.
    app.sessions.end(session.id(), app.now()).await.ok();
    let details = json!({"session": session.id()});
    app.audit
        .write(session_line(&app, client, &id, "logout", details))
        .await;
    ([(SET_COOKIE, app.sessions.forget())], back).into_response()
}

fn script_texts(page: Page) -> Value {
    let texts = page.texts().script(&["admin", "state", "span"]);
    Value::from_safe_string(texts)
}
