//! What a box office answers that is served alone.

use http::StatusCode;
use ropeline_boxoffice::http::{CATALOGUE, EXPLAINED};
use ropeline_server::problems;

use super::house::House;
use crate::given::Given;

#[tokio::test]
async fn every_code_that_it_answers_with_is_explained_to_people_and_programs() {
    let given = Given::on_sqlite().await;
    let (house, _alone, _work) = House::wide(&given).await.served_alone();
    let codes = EXPLAINED.iter().chain(problems::EXPLAINED);
    for explained in codes {
        let path = explained.kind.type_path();
        let program = house.get(&path).await;
        assert_eq!(program.status, StatusCode::OK, "{path}");
        assert_eq!(program.body["code"], explained.kind.code);
        let person = house.get(&path).header("Accept", "text/html").await;
        assert!(person.text.contains(explained.kind.code), "{path}");
        let styles = person.text.replace("&#x2f;", "/");
        let styles = styles.split("href=\"/boxoffice/assets/").nth(1).unwrap();
        let name = styles.split('"').next().unwrap();
        let file = house.get(format!("/boxoffice/assets/{name}")).await;
        assert_eq!(file.status, StatusCode::OK, "{name}");
    }
    assert_eq!(EXPLAINED.len(), CATALOGUE.len());
    let unknown = house.get("/problems/nothing-of-ours").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn no_page_links_to_the_rooms_which_are_elsewhere() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let linked = |text: &str| {
        ["&#x2f;rooms", "&#x2f;admin", "/rooms", "/admin"]
            .map(|path| text.contains(&format!("href=\"{path}\"")))
    };
    let together = house.get("/").await;
    assert!(linked(&together.text).contains(&true), "{}", together.text);
    let (house, _alone, _work) = house.served_alone();
    for path in ["/", "/tickets/999", "/nothing", "/problems/not-found"] {
        let page = house.get(path).header("Accept", "text/html").await;
        assert!(page.text.contains("</html>"), "{path}");
        assert!(!linked(&page.text).contains(&true), "{path}: {}", page.text);
    }
}

#[tokio::test]
async fn a_box_office_that_stops_is_not_ready() {
    let given = Given::on_sqlite().await;
    let (house, alone, work) = House::wide(&given).await.served_alone();
    while house.get("/readyz").await.status != StatusCode::OK {
        tokio::task::yield_now().await;
    }
    alone.start_draining();
    let stopping = house.get("/readyz").await;
    assert_eq!(stopping.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(stopping.body["status"], "draining");
    assert_eq!(house.get("/healthz").await.status, StatusCode::OK);
    drop(work);
}
