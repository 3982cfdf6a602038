//! The pages as a client without scripts sees them.

use ropeline_testing::http::{Ask, Reply};

use crate::app::{TestApp, token};

const ROOM: &str = "[rooms.main]\nevery = \"10s\"\nbatch = 1\npresence_ttl = \"0s\"\n";

fn html(reply: &Reply) -> String {
    let kind = reply.header("content-type");
    assert_eq!(kind, Some("text/html; charset=utf-8"));
    String::from_utf8(reply.body.clone()).unwrap()
}

fn get(app: &mut TestApp, path: &str) -> String {
    let reply = app.send(Ask::get(path));
    assert_eq!(reply.status, 200, "{path}");
    html(&reply)
}

fn form(path: &str, fields: &str) -> Ask {
    Ask::post(path).raw("application/x-www-form-urlencoded", fields.as_bytes())
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// The value of the first such attribute, as the browser reads it.
fn attribute(page: &str, name: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!(" {name}=\""))?;
    let value = rest.split('"').next()?;
    Some(value.replace("&#x2f;", "/").replace("&amp;", "&"))
}

#[test]
fn a_hostile_return_leaves_no_trace_in_the_page() {
    let hosts = "return_hosts = ['tickets.example.com', 'shop.example.com:8443']\n";
    let mut app = TestApp::with(&format!("{hosts}{ROOM}"));
    let joined = app.send(Ask::post(crate::app::TOKENS));
    let cookie = format!("rl_main={}", token(&joined));
    let hostile: Vec<String> = include_str!("hostile_returns.txt")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(hostile.len() >= 40);
    let clean = get(&mut app, "/wait/main");
    let same = |page: &str| {
        let key = attribute(page, "value").unwrap_or_default();
        page.replace(&key, "")
    };
    for payload in hostile {
        let path = format!("/wait/main?return={}", encoded(&payload));
        assert_eq!(same(&get(&mut app, &path)), same(&clean), "{payload:?}");
        if payload.bytes().all(|byte| byte.is_ascii_graphic()) {
            let path = format!("/wait/main?return={payload}");
            let page = app.send(Ask::get(&path));
            // What is no address at all may be refused as a whole.
            if page.status == 200 {
                assert_eq!(same(&html(&page)), same(&clean), "{payload:?} as it is");
            }
        }
        let path = format!("/wait/main?nojs=1&return={}", encoded(&payload));
        let inside = app.send(Ask::get(&path).header("Cookie", &cookie));
        assert_eq!(inside.status, 200, "nobody is sent to {payload:?}");
        let page = html(&inside);
        assert!(
            !page.contains("data-return") && !page.contains("return="),
            "{payload:?}"
        );
        let sent = form("/wait/main/join", &format!("return={}", encoded(&payload)));
        let back = app.send(sent.header("Cookie", &cookie));
        assert_eq!(
            back.header("location"),
            Some("/wait/main?nojs=1"),
            "{payload:?}"
        );
    }
}

#[test]
fn an_allowed_return_is_where_the_page_leads() {
    let mut app = TestApp::with(&format!("return_hosts = ['tickets.example.com']\n{ROOM}"));
    for (given, written) in [
        ("/shop?a=1&b", "/shop?a=1&b"),
        (
            "https://tickets.example.com",
            "https://tickets.example.com/",
        ),
    ] {
        for given in [given.to_owned(), encoded(given)] {
            let page = get(&mut app, &format!("/wait/main?return={given}"));
            assert_eq!(attribute(&page, "data-return").as_deref(), Some(written));
        }
    }
}

#[test]
fn without_scripts_the_whole_way_is_forms_and_redirects() {
    let mut app = TestApp::new();
    app.token_of("inside");
    let page = get(&mut app, "/wait/main?return=/shop");
    let key = attribute(&page, "value").unwrap();
    let ask = form("/wait/main/join", &format!("key={key}&return=/shop"));
    let joined = app.send(ask.clone());
    let back = "/wait/main?nojs=1&return=%2Fshop";
    assert_eq!(
        (joined.status, joined.header("location")),
        (303, Some(back))
    );
    assert_eq!(app.send(ask).status, 303, "sent twice");
    let cookie = joined.header("set-cookie").unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let look = |app: &mut TestApp, path| app.send(Ask::get(path).header("Cookie", &cookie));
    let waiting = html(&look(&mut app, back));
    assert!(waiting.contains("<b id=\"ordinal\">2</b>"), "{waiting}");
    assert!(waiting.contains("http-equiv=\"refresh\" content=\"5; url="));
    assert!(!waiting.contains("<script"));
    app.advance(10);
    let admitted = look(&mut app, back);
    assert_eq!(
        (admitted.status, admitted.header("location")),
        (303, Some("/shop"))
    );
    let scripted = look(&mut app, "/wait/main?return=/shop");
    assert_eq!(scripted.status, 200, "a script shows it first");
    let leave = form("/wait/main/leave", "return=/shop").header("Cookie", &cookie);
    let left = app.send(leave);
    assert_eq!(left.status, 303);
    assert!(left.header("set-cookie").unwrap().starts_with("rl_main=; "));
    let over = html(&look(&mut app, back));
    assert!(over.contains("You are done."));
}

#[test]
fn a_refused_join_is_a_page_that_says_why() {
    let mut app = TestApp::with(&format!("{ROOM}waiting_max = 1\n"));
    for user in ["inside", "waiting"] {
        app.token_of(user);
    }
    let refused = app.send(form("/wait/main/join", "key=k").header("Accept-Language", "ko"));
    assert_eq!(refused.status, 503);
    let page = html(&refused);
    assert!(page.contains("대기 인원이 가득 찼어요"), "{page}");
    assert!(page.contains("ROOM_FULL"));
}

#[test]
fn a_page_cannot_be_framed_kept_or_made_to_run_foreign_scripts() {
    let mut app = TestApp::new();
    for path in ["/", "/wait/main", "/wait/nowhere", "/wait/NOT!"] {
        let reply = app.send(Ask::get(path));
        assert_eq!(
            reply.header("content-security-policy"),
            Some(
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                 connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            )
        );
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("referrer-policy", "same-origin"),
            ("vary", "Accept-Language, Cookie"),
        ] {
            assert_eq!(reply.header(name), Some(value), "{path} {name}");
        }
        let page = html(&reply);
        assert!(!page.contains(" style="), "{path}");
        let handler = |rest: &str| {
            let name = rest.split('=').next().unwrap_or_default();
            name.bytes().all(|byte| byte.is_ascii_alphabetic())
        };
        assert!(!page.split(" on").skip(1).any(handler), "{path}");
    }
}

#[test]
fn an_unknown_room_is_a_page_that_leads_home() {
    let mut app = TestApp::new();
    for path in ["/wait/nowhere", "/wait/%3Cscript%3E"] {
        let reply = app.send(Ask::get(path).header("Accept-Language", "ko"));
        assert_eq!(reply.status, 404);
        let page = html(&reply);
        assert!(page.contains("이런 대기실은 없어요") && page.contains("href=\"/\""));
        assert!(!page.contains("<script>"));
    }
    assert_eq!(app.send(form("/wait/nowhere/join", "")).status, 404);
}

#[test]
fn assets_are_kept_for_good_under_the_name_of_their_content() {
    let mut app = TestApp::new();
    let page = get(&mut app, "/wait/main");
    let style = attribute(&page, "href")
        .unwrap()
        .replace("icon.svg", "page.css");
    let reply = app.send(Ask::get(&style));
    assert_eq!(reply.status, 200);
    assert_eq!(
        reply.header("content-type"),
        Some("text/css; charset=utf-8")
    );
    assert_eq!(
        reply.header("cache-control"),
        Some("public, max-age=31536000, immutable")
    );
    let older = app.send(Ask::get("/assets/000000000000/wait.js"));
    assert_eq!(older.status, 200, "asked for by a page of another version");
    assert_eq!(older.header("cache-control"), Some("no-store"));
    assert_eq!(
        older.header("content-type"),
        Some("text/javascript; charset=utf-8")
    );
    for (path, status) in [
        ("/assets/x/none.js", 404),
        ("/assets/x", 404),
        ("/assets/x/..%2fwait.js", 400),
    ] {
        assert_eq!(app.send(Ask::get(path)).status, status, "{path}");
    }
}

#[test]
fn the_home_page_shows_every_room_in_the_language_of_whoever_asks() {
    let mut app = TestApp::with(&format!("{ROOM}[rooms.album]\nactive_max = 3\n"));
    app.token_of("inside");
    app.token_of("waiting");
    let page = get(&mut app, "/");
    for text in [
        "/wait/main#join",
        "/wait/album#join",
        "Join the line",
        "/docs",
        "/admin",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.contains("curl -X POST http:&#x2f;&#x2f;localhost/api"));
    let korean = app.send(Ask::get("/?lang=ko"));
    assert!(html(&korean).contains("<html lang=\"ko\">"));
    let cookie = korean.header("set-cookie").unwrap();
    assert!(cookie.starts_with("ropeline_lang=ko; "));
    let later = Ask::get("/").header("Cookie", "ropeline_lang=ko");
    assert!(html(&app.send(later)).contains("줄 서기"));
}

#[test]
fn the_public_url_is_the_address_that_the_home_page_shows() {
    let mut app = TestApp::with(&format!("public_url = 'https://wait.example'\n{ROOM}"));
    assert!(get(&mut app, "/").contains("wait.example"));
}
