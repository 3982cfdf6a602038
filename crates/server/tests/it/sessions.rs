//! Sessions of the operators' page: opened, listed and ended.

use ropeline_testing::http::{Ask, Reply};
use serde_json::{Value, json};

use crate::app::{ADMIN_KEY, TestApp};

const ROOMS: &str = "/api/v1/admin/rooms";
const SESSIONS: &str = "/api/v1/admin/sessions";

/// A browser that has logged in.
struct Browser {
    cookie: String,
    csrf: String,
}

impl Browser {
    fn log_in(app: &mut TestApp) -> Self {
        let opened = app.send(form("/admin/login", &format!("key={ADMIN_KEY}")));
        let cookie = opened.header("set-cookie").unwrap().split(';').next();
        let cookie = cookie.unwrap().to_owned();
        let page = app.send(Ask::get("/admin").header("Cookie", &cookie));
        let page = String::from_utf8(page.body).unwrap();
        let (_, csrf) = page.split_once("name=\"csrf\" value=\"").unwrap();
        let csrf = csrf.split('"').next().unwrap().to_owned();
        Self { cookie, csrf }
    }

    fn send(&self, app: &mut TestApp, ask: Ask) -> Reply {
        let ask = ask.header("Cookie", &self.cookie);
        app.send(ask.header("X-CSRF-Token", &self.csrf))
    }

    fn is_in(&self, app: &mut TestApp) -> bool {
        let status = self.send(app, Ask::get(ROOMS)).status;
        assert!(status == 200 || status == 401, "{status}");
        let changed = self
            .send(app, Ask::post(&format!("{ROOMS}/main/resume")))
            .status;
        assert_eq!(changed, status, "it may change what it may see");
        status == 200
    }
}

fn form(path: &str, fields: &str) -> Ask {
    Ask::post(path).raw("application/x-www-form-urlencoded", fields.as_bytes())
}

fn with_key(ask: Ask) -> Ask {
    ask.header("Authorization", &format!("Bearer {ADMIN_KEY}"))
}

fn list(app: &mut TestApp) -> Vec<Value> {
    let reply = app.send(with_key(Ask::get(SESSIONS)));
    assert_eq!(reply.status, 200, "{}", reply.json());
    reply.json()["sessions"].as_array().unwrap().clone()
}

#[test]
fn a_logout_ends_the_session_and_not_only_its_cookie() {
    let mut app = TestApp::new();
    let [browser, other] = [(); 2].map(|()| Browser::log_in(&mut app));
    let logout = |csrf: &str| form("/admin/logout", &format!("csrf={csrf}"));
    browser.send(&mut app, logout(&other.csrf));
    assert!(browser.is_in(&mut app), "another site cannot log it out");
    let left = browser.send(&mut app, logout(&browser.csrf));
    assert_eq!(left.status, 303);
    assert!(
        !browser.is_in(&mut app),
        "whoever has copied the cookie is out"
    );
    let page = browser.send(&mut app, Ask::get("/admin"));
    assert!(
        String::from_utf8(page.body)
            .unwrap()
            .contains("name=\"key\"")
    );
    assert!(other.is_in(&mut app));
}

#[test]
fn sessions_are_listed_and_ended_one_by_one_and_all_at_once() {
    let mut app = TestApp::new();
    assert!(list(&mut app).is_empty());
    let browsers: Vec<_> = (0..3).map(|_| Browser::log_in(&mut app)).collect();
    app.advance(120);
    assert!(browsers[0].is_in(&mut app));
    let sessions = list(&mut app);
    assert_eq!(sessions.len(), 3);
    assert_ne!(sessions[0]["lastUsedAt"], sessions[0]["openedAt"]);
    assert_eq!(sessions[1]["lastUsedAt"], sessions[1]["openedAt"]);
    assert_eq!(sessions[0]["address"], "127.0.0.1");
    let own = browsers[1].send(&mut app, Ask::get(SESSIONS)).json();
    let current: Vec<_> = own["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["current"])
        .collect();
    assert_eq!(json!(current), json!([false, true, false]));

    let first = format!("{SESSIONS}/{}", sessions[0]["id"].as_str().unwrap());
    assert_eq!(app.send(with_key(Ask::delete(&first))).status, 204);
    assert!(!browsers[0].is_in(&mut app));
    assert!(browsers[1].is_in(&mut app) && browsers[2].is_in(&mut app));
    let again = app.send(with_key(Ask::delete(&first)));
    assert_eq!((again.status, &*again.code()), (404, "SESSION_NOT_FOUND"));

    let ended = browsers[2].send(&mut app, Ask::delete(SESSIONS));
    assert_eq!(ended.json(), json!({"ended": 2}));
    assert!(!browsers[1].is_in(&mut app) && !browsers[2].is_in(&mut app));
    assert!(list(&mut app).is_empty());
}

#[test]
fn nobody_else_sees_or_ends_sessions() {
    let mut app = TestApp::new();
    let browser = Browser::log_in(&mut app);
    let id = list(&mut app)[0]["id"].as_str().unwrap().to_owned();
    for ask in [
        Ask::get(SESSIONS),
        Ask::delete(SESSIONS),
        Ask::delete(&format!("{SESSIONS}/{id}")),
    ] {
        assert_eq!(app.send(ask.clone()).code(), "UNAUTHORIZED");
        let forged = ask.clone().header("X-CSRF-Token", &browser.csrf);
        assert_eq!(app.send(forged).code(), "UNAUTHORIZED");
    }
    let foreign = Ask::delete(SESSIONS).header("Cookie", &browser.cookie);
    assert_eq!(
        app.send(foreign).code(),
        "UNAUTHORIZED",
        "a change needs more than the cookie"
    );
    assert!(browser.is_in(&mut app));
}

#[test]
fn open_sessions_outlive_a_restart_and_ended_ones_do_not() {
    let mut app = TestApp::new();
    let [open, ended] = [(); 2].map(|()| Browser::log_in(&mut app));
    let logout = form("/admin/logout", &format!("csrf={}", ended.csrf));
    ended.send(&mut app, logout);
    let mut app = app.restarted();
    assert!(open.is_in(&mut app));
    assert!(!ended.is_in(&mut app));
    app.advance(12 * 3_600);
    assert!(!open.is_in(&mut app), "a night is over");
}
