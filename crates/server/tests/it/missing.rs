//! Addresses where there is nothing: a page for people, a problem for programs.

use ropeline_testing::http::{Ask, Reply};

use crate::app::{STATUS, TestApp};

const ACCEPT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const NOWHERE: [&str; 7] = [
    "/nothing",
    "/wp-login.php",
    "/wait/",
    "/wait/%ff",
    "/problems",
    "/assets/0/nothing.css",
    "//evil.example/x",
];

/// As a browser asks that tells nothing but what it accepts, as all do over plain http.
fn opened(app: &mut TestApp, path: &str) -> Reply {
    app.send(Ask::get(path).header("Accept", ACCEPT))
}

fn page(reply: &Reply) -> String {
    let kind = reply.header("content-type");
    assert_eq!(kind, Some("text/html; charset=utf-8"), "{}", reply.status);
    String::from_utf8(reply.body.clone()).unwrap()
}

#[test]
fn people_read_a_page_and_programs_a_problem() {
    let mut app = TestApp::new();
    for path in NOWHERE {
        let reply = opened(&mut app, path);
        assert_eq!(reply.status, 404, "{path}");
        let text = page(&reply);
        assert!(text.contains("There is nothing at this address"), "{path}");
        let program = app.send(Ask::get(path));
        let (status, code) = (program.status, program.code());
        assert_eq!((status, code.as_str()), (404, "NOT_FOUND"), "{path}");
        let kind = program.header("content-type");
        assert_eq!(kind, Some("application/problem+json"), "{path}");
    }
}

#[test]
fn a_script_of_a_page_reads_a_problem() {
    let mut app = TestApp::new();
    let script = Ask::get("/nothing").header("Accept", ACCEPT);
    let reply = app.send(script.header("Sec-Fetch-Mode", "cors"));
    assert_eq!(reply.code(), "NOT_FOUND");
    let opened = app.send(Ask::get("/nothing").header("Sec-Fetch-Mode", "navigate"));
    page(&opened);
    let vary: Vec<_> = opened
        .headers
        .iter()
        .filter_map(|(name, value)| (name == "vary").then_some(value.as_str()))
        .collect();
    assert!(vary.contains(&"Accept, Sec-Fetch-Mode"), "{vary:?}");
}

#[test]
fn the_api_answers_with_problems_whoever_opens_it() {
    let mut app = TestApp::new();
    for path in ["/api/v1/nothing", "/api/v1/admin/rooms/main/nothing"] {
        let reply = opened(&mut app, path);
        assert_eq!(reply.code(), "NOT_FOUND", "{path}");
    }
    assert_eq!(opened(&mut app, STATUS).code(), "TOKEN_INVALID");
}

#[test]
fn the_page_is_in_the_language_of_its_reader_and_leads_to_no_other_site() {
    let mut app = TestApp::new();
    let reply = opened(&mut app, "//evil.example/x?lang=ko");
    let text = page(&reply).replace("&#x2f;", "/");
    assert!(text.contains("페이지를 찾을 수 없어요"), "{text}");
    assert!(text.contains("href=\"?lang=en\""), "{text}");
    assert!(!text.contains("evil"), "{text}");
}

#[test]
fn an_address_that_only_forms_send_to_says_so_when_it_is_opened() {
    let mut app = TestApp::new();
    let reply = opened(&mut app, "/wait/main/join");
    assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")));
    assert!(page(&reply).contains("cannot be opened like this"));
    let program = app.send(Ask::get("/wait/main/join"));
    assert_eq!(program.code(), "METHOD_NOT_ALLOWED");
    assert_eq!(program.header("allow"), Some("POST"));
}
