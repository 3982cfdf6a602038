//! Every problem names an address that explains it.

use ropeline_server::problems::EXPLAINED;
use ropeline_testing::http::Ask;

use crate::app::{STATUS, TestApp};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[test]
fn the_type_of_a_problem_leads_to_its_explanation() {
    let mut app = TestApp::new();
    let problem = app.send(Ask::get(STATUS)).json();
    let explained = app.send(Ask::get(problem["type"].as_str().unwrap()));
    assert_eq!(explained.status, 200);
    let explained = explained.json();
    for member in ["code", "status", "title"] {
        assert_eq!(explained[member], problem[member]);
    }
    assert_eq!(explained.as_object().unwrap().len(), 5);
}

#[test]
fn every_kind_is_explained_to_programs_and_people() {
    let mut app = TestApp::new();
    for explained in EXPLAINED {
        let path = explained.kind.type_path();
        let data = app.send(Ask::get(&path).header("Accept", "*/*"));
        assert_eq!(data.header("content-type"), Some("application/json"));
        assert_eq!(data.json()["when"], explained.when);
        assert_eq!(data.json()["whatToDo"], explained.what_to_do);
        let page = app.send(Ask::get(&path).header("Accept", BROWSER));
        assert_eq!(
            page.header("content-type"),
            Some("text/html; charset=utf-8")
        );
        let vary: Vec<_> = page
            .headers
            .iter()
            .filter(|(name, _)| name == "vary")
            .collect();
        assert!(vary.iter().any(|(_, value)| value == "accept"), "{vary:?}");
        let text = String::from_utf8(page.body).unwrap();
        let text = text.replace("&#x27;", "'").replace("&#x2f;", "/");
        for part in [explained.kind.code, explained.when, explained.what_to_do] {
            assert!(text.contains(part), "{part}");
        }
    }
}

#[test]
fn a_code_that_no_problem_has_is_not_found() {
    let mut app = TestApp::new();
    for code in ["nothing", "TOKEN_EXPIRED", "token_expired", "%3Cscript%3E"] {
        let reply = app.send(Ask::get(&format!("/problems/{code}")).header("Accept", BROWSER));
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (404, "NOT_FOUND"),
            "{code}"
        );
    }
}
