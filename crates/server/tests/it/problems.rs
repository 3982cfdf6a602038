//! Every problem names an address that explains it.

use ropeline_server::problems::EXPLAINED;
use ropeline_testing::http::Ask;
use ropeline_web::Language;

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
        let by_reader = |(_, value): &&(String, String)| value.starts_with("Accept,");
        assert!(vary.iter().any(by_reader), "{vary:?}");
        let text = String::from_utf8(page.body).unwrap();
        let text = text.replace("&#x27;", "'").replace("&#x2f;", "/");
        for part in [explained.kind.code, explained.when, explained.what_to_do] {
            assert!(text.contains(part), "{part}");
        }
    }
}

#[test]
fn people_read_the_explanation_in_their_language() {
    let mut app = TestApp::new();
    for explained in EXPLAINED {
        let path = format!("{}?lang=ko", explained.kind.type_path());
        let page = read(&mut app, &path).replace("&#x2f;", "/");
        let korean = explained.words(Language::Korean);
        let korean =
            korean.unwrap_or_else(|| panic!("{} is not in problems.ko.toml", explained.kind.code));
        for part in [korean.title, korean.when, korean.what_to_do] {
            assert!(part.chars().any(|c| ('가'..='힣').contains(&c)), "{part}");
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains(explained.kind.title), "{page}");
        assert!(
            page.contains("<html lang=\"ko\">") && !page.contains("<section class=\"panel\" lang")
        );
    }
}

#[test]
fn the_code_itself_is_the_same_address() {
    let mut app = TestApp::new();
    let as_shown = read(&mut app, "/problems/ROOM_FULL");
    assert_eq!(as_shown, read(&mut app, "/problems/room-full"));
    let data = app.send(Ask::get("/problems/ROOM_FULL")).json();
    assert_eq!(data["code"], "ROOM_FULL");
}

#[test]
fn a_code_that_no_problem_has_is_not_found() {
    let mut app = TestApp::new();
    for code in ["nothing", "token--expired", "%3Cscript%3E", "%ff"] {
        let path = format!("/problems/{code}");
        let data = app.send(Ask::get(&path));
        assert_eq!(data.code(), "NOT_FOUND", "{code}");
        let page = app.send(Ask::get(&path).header("Accept", BROWSER));
        assert_eq!(page.status, 404, "{code}");
        let text = String::from_utf8(page.body).unwrap();
        assert!(text.contains("There is nothing at this address"), "{text}");
        assert!(!text.contains("script>"), "{text}");
    }
}

fn read(app: &mut TestApp, path: &str) -> String {
    let page = app.send(Ask::get(path).header("Accept", BROWSER));
    assert_eq!(page.status, 200, "{path}");
    let kind = page.header("content-type");
    assert_eq!(kind, Some("text/html; charset=utf-8"));
    String::from_utf8(page.body).unwrap()
}
