//! The pages as a browser without scripts sees them.

use std::time::Duration;

use http::StatusCode;
use ropeline_boxoffice::{DateId, Points, Rules, SeatDraft, SeatId};
use serde_json::json;

use crate::{
    given::{Given, NOW, PRICE, at_once, pass},
    http::{
        ask::{Answer, Ask},
        house::{ADMIN_KEY, House, Person, SECRET},
        switch::Way,
    },
};

/// PostgreSQL gives up waiting for a lock after 5 s, by the settings of our connections.
const BEFORE_LOCKS_END: Duration = Duration::from_secs(4);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// What somebody may call themselves.
const HOSTILE: &str = "</script><script>alert(1)</script>\"'&<b>{{7*7}}";

/// A date that lies ahead, with seats at one price and twice that.
async fn date(given: &Given) -> (DateId, Vec<SeatId>) {
    let seats = [PRICE * 2, PRICE].map(|price| Points::amount(price).unwrap());
    let seats: Vec<_> = (1..)
        .zip(seats)
        .map(|(number, price)| SeatDraft { number, price })
        .collect();
    let concert = given.concert().await;
    let date = given
        .office
        .create_date(concert, NOW + DAY, &seats, NOW)
        .await;
    let date = date.unwrap();
    let seats = given.office.seats(date, NOW).await.unwrap();
    (date, seats.iter().map(|seat| seat.id).collect())
}

trait Browser: Sized {
    fn browser(self, person: &Person) -> Self;
    fn speaking(self, language: &str) -> Self;
}

impl Browser for Ask {
    fn browser(self, person: &Person) -> Self {
        self.header("Cookie", &format!("ropeline_login={}", person.login))
    }

    fn speaking(self, language: &str) -> Self {
        self.header("Accept-Language", language)
    }
}

/// The page, which must be one and have this status, with its addresses as a browser reads them.
fn page(answer: &Answer, status: StatusCode) -> String {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8");
    let policy = answer.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'"));
    answer.text.replace("&#x2f;", "/").replace('\u{a0}', " ")
}

fn ok(answer: &Answer) -> String {
    page(answer, StatusCode::OK)
}

/// Where an answer leads, and the cookies that it sets.
fn led(answer: &Answer) -> (&str, Vec<&str>) {
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    let cookies = answer.headers.get_all("set-cookie").iter();
    let location = answer.headers["location"].to_str().unwrap();
    (location, cookies.map(|c| c.to_str().unwrap()).collect())
}

async fn named(house: &House, name: &str) -> Person {
    let made = house.post("/user").json(&json!({"name": name})).await;
    let login = made.body["accessToken"].as_str().unwrap().to_owned();
    let id = ropeline_boxoffice::UserId(made.body["userId"].as_i64().unwrap());
    Person { id, login }
}

async fn bought(given: &Given, house: &House, person: &Person, seat: SeatId) -> i64 {
    let points = Points::amount(PRICE * 3).unwrap();
    let charged = given.office.charge(person.id, points, None, NOW).await;
    charged.unwrap();
    let held = given
        .office
        .reserve(person.id, seat, None, house.now())
        .await;
    let held = held.unwrap().id;
    given.office.pay(person.id, held, None, NOW).await.unwrap();
    held.0
}

#[tokio::test]
async fn the_home_page_shows_each_date_as_it_stands() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let (open, seats) = date(&given).await;
    let home = house.get("/").await;
    assert!(ok(&home).contains("2 seats left"), "{}", home.text);
    assert!(home.text.contains("from 50,000 points"));
    assert!(home.text.contains(&format!("href=\"/tickets/{open}\"")));
    let person = house.person().await;
    let hold = |seat| given.office.reserve(person.id, seat, None, NOW);
    hold(seats[1]).await.unwrap();
    let again = house.get("/").await;
    assert_eq!(home.text, again.text, "it is read once a second at most");
    house.advance(Duration::from_secs(1)).await;
    let home = house.get("/").await;
    assert!(ok(&home).contains("1 seat left"));
    assert!(home.text.contains("from 100,000 points"));
    hold(seats[0]).await.unwrap();
    house.advance(Duration::from_secs(1)).await;
    let home = house.get("/").await;
    assert!(ok(&home).contains("Every seat is held at the moment"));
    bought(&given, &house, &person, seats[0]).await;
    bought(&given, &house, &person, seats[1]).await;
    house.advance(Duration::from_secs(1)).await;
    let home = house.get("/").await;
    assert!(ok(&home).contains("Sold out"));
    assert!(!home.text.contains("href=\"/tickets/"), "nothing to get");
    house.advance(DAY).await;
    assert!(ok(&house.get("/").await).contains("Nothing is on sale"));
}

#[tokio::test]
async fn every_page_is_told_in_both_languages() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let (open, seats) = date(&given).await;
    let person = house.person().await;
    let paid = bought(&given, &house, &person, seats[0]).await;
    for (language, home, name, go_on, hall, receipt) in [
        (
            "ko",
            "예매하기",
            "이름을 알려 주세요",
            "Kim님, 예매를 계속할까요?",
            "좌석 선택",
            "영수증",
        ),
        (
            "en",
            "Get tickets",
            "Your name, please",
            "Continue as Kim?",
            "Choose your seat",
            "Receipt",
        ),
    ] {
        let tickets = format!("/tickets/{open}");
        let asked = house.get(&tickets).speaking(language).await;
        assert!(ok(&asked).contains(name));
        let linked = house.get(&tickets).browser(&person).speaking(language);
        let linked = linked.header("Sec-Fetch-Site", "cross-site").await;
        assert!(ok(&linked).contains(go_on), "{}", linked.text);
        for (path, said) in [
            ("/".to_owned(), home),
            (tickets, hall),
            (format!("/receipt/{paid}"), receipt),
        ] {
            let shown = house.get(path).browser(&person).speaking(language).await;
            assert!(ok(&shown).contains(said), "{said}");
            assert!(shown.text.contains(&format!("<html lang=\"{language}\">")));
        }
    }
}

#[tokio::test]
async fn every_page_tells_the_time_at_the_venue_and_names_the_zone() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let (open, seats) = date(&given).await;
    let person = house.person().await;
    let paid = bought(&given, &house, &person, seats[0]).await;
    let place = "UPDATE concerts SET time_zone = 'America/Los_Angeles', venue = 'The Bowl <1>'";
    given.try_sql(place).await.unwrap();
    let tickets = format!("/tickets/{open}");
    let named = house.get(&tickets).await;
    let label = house.get("/").await;
    let mut told = vec![named];
    for path in ["/".to_owned(), tickets, format!("/receipt/{paid}")] {
        told.push(house.get(path).browser(&person).await);
    }
    for answer in told {
        let page = ok(&answer);
        assert!(page.contains("The Bowl &lt;1&gt;"), "{page}");
        assert!(
            page.contains("12:00 AM (Los Angeles time, UTC-8)"),
            "{page}"
        );
        assert!(
            page.contains("datetime=\"2027-01-16T00:00:00-08:00\""),
            "{page}"
        );
        assert!(
            !page.contains("when.js"),
            "nothing tells it by other clocks"
        );
    }
    let label = ok(&label);
    let wanted =
        "aria-label=\"Get tickets for Sat, 16 Jan 2027, 12:00 AM (Los Angeles time, UTC-8)\"";
    assert!(label.contains(wanted), "{label}");
}

#[tokio::test]
async fn a_newcomer_gives_a_name_and_is_let_in() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let (open, _) = date(&given).await;
    let path = format!("/tickets/{open}");
    let entered = house.post(&path).form("name=Kim+%EC%A7%80%EC%98%81").await;
    let (location, cookies) = led(&entered);
    assert_eq!(location, path);
    let [room, login] = &cookies[..] else {
        panic!("{cookies:?}");
    };
    assert!(room.starts_with("rl_main=") && room.contains("HttpOnly"));
    assert!(login.starts_with("ropeline_login=") && login.contains("HttpOnly; SameSite=Lax"));
    let login = login.split(';').next().unwrap();
    let hall = house.get(&path).header("Cookie", login).await;
    assert!(ok(&hall).contains("data-late-ms=\"60000\" data-inside=\"yes\""));
    assert!(hall.text.contains("Kim 지영"));
    assert!(hall.text.contains("Choosing a seat needs JavaScript"));
}

#[tokio::test]
async fn a_name_that_is_none_is_asked_for_again() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let (open, _) = date(&given).await;
    for name in ["", "name=", "name=++", &format!("name={}", "x".repeat(101))] {
        let asked = house.post(format!("/tickets/{open}")).form(name).await;
        let asked = page(&asked, StatusCode::BAD_REQUEST);
        assert!(asked.contains("1 to 100 characters"), "{name}");
    }
    assert_eq!(given.count("users").await, 0);
}

#[tokio::test]
async fn whoever_is_not_inside_is_led_into_the_line_and_back() {
    let given = Given::on_sqlite().await;
    let house = House::for_so_many(&given, 1).await;
    let (open, _) = date(&given).await;
    let first = house.person().await;
    house.token(&first).await;
    let path = format!("/tickets/{open}");
    let line = format!("/wait/main?return=%2Ftickets%2F{open}");
    let entered = house.post(&path).form("name=Lee").await;
    let (location, cookies) = led(&entered);
    assert_eq!(location, line);
    assert_eq!(cookies.len(), 2);
    let login = cookies[1].split(';').next().unwrap();
    let again = house.get(&path).header("Cookie", login).await;
    assert_eq!(led(&again).0, line);
    let once_more = house.post(&path).form("").header("Cookie", login).await;
    assert_eq!(led(&once_more).0, line);
    assert_eq!(given.count("users").await, 2, "nobody is made twice");
}

#[tokio::test]
async fn everybody_may_know_how_many_seats_of_a_date_are_left() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let (open, seats) = date(&given).await;
    // Another date, whose seats do not count.
    given.seats(5).await;
    let left = async || {
        house.advance(Duration::from_secs(1)).await;
        let answer = house.get(format!("/tickets/{open}/left")).await;
        assert_eq!(answer.status, StatusCode::OK);
        serde_json::from_str::<serde_json::Value>(&answer.text).unwrap()
    };
    let of_date = |seats| json!({"concertDateId": open, "seatsLeft": seats});
    assert_eq!(left().await, of_date(2));
    let kim = house.person_with_price_of(1).await;
    let held = house.held(&kim, seats[1]).await;
    assert_eq!(left().await, of_date(2), "a held seat may be free again");
    assert_eq!(house.pay(&kim, held).await.status, StatusCode::OK);
    assert_eq!(left().await, of_date(1));
    let unknown = house.get("/tickets/999/left").await;
    assert_eq!(unknown.problem(), (404, "DATE_NOT_FOUND".into()));
}

#[tokio::test]
async fn a_database_that_does_not_answer_makes_no_crowd_wait() {
    let given = Given::on_postgres().await;
    let house = House::wide(&given).await;
    let (open, _) = date(&given).await;
    let crowd = async |house: &House| {
        let asks = (0..50).map(|_| house.get(format!("/tickets/{open}/left")).into_future());
        let answers = tokio::time::timeout(BEFORE_LOCKS_END, at_once(asks)).await;
        let mut answers: Vec<_> = answers.expect("one waits for the database, and no other");
        answers.dedup_by_key(|answer| answer.status);
        assert_eq!(answers.len(), 1, "all are told the same");
        answers.remove(0)
    };
    house.get("/").await;
    // No look at the concerts ends before this transaction does.
    given.try_sql("BEGIN").await.unwrap();
    let lock = "LOCK TABLE concerts IN ACCESS EXCLUSIVE MODE";
    given.try_sql(lock).await.unwrap();
    house.advance(Duration::from_secs(1)).await;
    let older = crowd(&house).await;
    assert_eq!(
        older.text,
        format!("{{\"concertDateId\":{open},\"seatsLeft\":2}}")
    );
    let newly_started = house.restarted(&given);
    let none = crowd(&newly_started).await;
    assert_eq!(none.problem(), (503, "STORE_UNAVAILABLE".into()));
    given.try_sql("ROLLBACK").await.unwrap();
    newly_started.advance(Duration::from_secs(1)).await;
    let again = crowd(&newly_started).await;
    assert_eq!(again.status, StatusCode::OK);
}

#[tokio::test]
async fn whoever_holds_a_seat_can_pay_for_it_without_a_pass() {
    let given = Given::on_sqlite().await;
    let house = House::for_so_many(&given, 1).await;
    let (open, seats) = date(&given).await;
    let inside = house.token(&house.person().await).await;
    let holder = house.person().await;
    let pass = pass(1);
    let held = given.office.reserve(holder.id, seats[0], Some(&pass), NOW);
    held.await.unwrap();
    let path = format!("/tickets/{open}");
    let hall = house.get(&path).browser(&holder).await;
    assert!(ok(&hall).contains("data-inside=\"no\""));
    assert!(hall.text.contains("what you hold can still be paid for"));
    house.room.turn(Way::Gone);
    let hall = house.get(&path).browser(&holder).await;
    assert!(
        ok(&hall).contains("data-inside=\"no\""),
        "nor without a room"
    );
    house.room.turn(Way::Open);
    for _ in 0..2 {
        house.advance(Rules::default().hold_ttl / 2).await;
        assert_eq!(house.gate(&inside).await, "inside");
    }
    let later = house.get(&path).browser(&holder).await;
    assert!(led(&later).0.starts_with("/wait/main?"));
}

#[tokio::test]
async fn a_receipt_is_its_buyers_alone() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let (_, seats) = date(&given).await;
    let [buyer, other] = [house.person().await, house.person().await];
    let paid = bought(&given, &house, &buyer, seats[0]).await;
    let path = format!("/receipt/{paid}");
    let shown = house.get(&path).browser(&buyer).await;
    assert!(ok(&shown).contains("100,000 points"), "the price");
    assert!(shown.text.contains("50,000 points"), "what is left");
    let none = house.get("/receipt/999").browser(&buyer).await;
    let none = page(&none, StatusCode::NOT_FOUND).replace("/999", &format!("/{paid}"));
    for answer in [
        house.get(&path).browser(&other).await,
        house.get(&path).await,
    ] {
        let hidden = page(&answer, StatusCode::NOT_FOUND);
        assert_eq!(hidden, none, "as if there were none");
    }
    let held = given.office.reserve(other.id, seats[1], None, NOW).await;
    let unpaid = format!("/receipt/{}", held.unwrap().id);
    let unpaid = house.get(unpaid).browser(&other).await;
    page(&unpaid, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_name_is_text_wherever_it_is_shown() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let (open, seats) = date(&given).await;
    let person = named(&house, HOSTILE).await;
    let paid = bought(&given, &house, &person, seats[0]).await;
    for path in [
        "/".to_owned(),
        format!("/tickets/{open}"),
        format!("/receipt/{paid}"),
    ] {
        let shown = house.get(&path).browser(&person).await;
        let shown = ok(&shown);
        assert!(shown.contains("&lt;b&gt;{{7*7}}"), "{path}: {shown}");
        assert!(!shown.contains("alert(1)</script>"), "{path}");
        assert!(!shown.contains("<b>{{"), "{path}");
    }
    let long = format!("name={}", "%3Cb%3E".repeat(50));
    let refused = house.post(format!("/tickets/{open}")).form(&long).await;
    let refused = page(&refused, StatusCode::BAD_REQUEST);
    assert!(refused.contains("&lt;b&gt;") && !refused.contains("<b><b>"));
}

#[tokio::test]
async fn no_page_holds_a_secret() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let (open, seats) = date(&given).await;
    let person = house.person().await;
    let token = house.token(&person).await;
    let paid = bought(&given, &house, &person, seats[0]).await;
    let secret = String::from_utf8(SECRET.to_vec()).unwrap();
    for path in [
        "/".to_owned(),
        format!("/tickets/{open}"),
        format!("/receipt/{paid}"),
    ] {
        let shown = house.get(&path).browser(&person).await;
        for kept in [&*person.login, &token, ADMIN_KEY, &secret] {
            assert!(!ok(&shown).contains(kept), "{path}");
        }
    }
}

#[tokio::test]
async fn a_login_that_is_forged_or_of_nobody_is_none() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let (open, _) = date(&given).await;
    let nobody = Person::known_as(ropeline_boxoffice::UserId(99));
    let forged = Person {
        login: format!("{}x", nobody.login),
        ..nobody.clone()
    };
    for person in [nobody, forged] {
        let asked = house.get(format!("/tickets/{open}")).browser(&person).await;
        assert!(ok(&asked).contains("Your name, please"));
        assert!(!ok(&house.get("/").browser(&person).await).contains("Hello, "));
    }
}

#[tokio::test]
async fn what_does_not_work_is_said_kindly() {
    let given = Given::on_sqlite().await;
    let full = "[rooms.main]\nactive_max = 1\nwaiting_max = 1\n";
    let house = House::with(&given, full).await;
    let (open, _) = date(&given).await;
    let unknown = house.get("/tickets/999").await;
    assert!(page(&unknown, StatusCode::NOT_FOUND).contains("There is no such date"));
    for _ in 0..2 {
        house.token(&house.person().await).await;
    }
    let path = format!("/tickets/{open}");
    let entered = house.post(&path).form("name=Kim").speaking("ko").await;
    let said = page(&entered, StatusCode::SERVICE_UNAVAILABLE);
    assert!(said.contains("대기 인원이 가득 찼어요"), "{said}");
    assert!(
        said.contains(&format!("href=\"{path}\"")),
        "and how to go on"
    );
    let cookie = entered.headers["set-cookie"].to_str().unwrap();
    assert!(
        cookie.starts_with("ropeline_login="),
        "the name was taken all the same"
    );
}

#[tokio::test]
async fn logging_out_takes_the_login_away() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let out = house.post("/logout").await;
    let (location, cookies) = led(&out);
    assert_eq!(location, "/");
    assert!(cookies[0].starts_with("ropeline_login=; Path=/; Max-Age=0;"));
}

#[tokio::test]
async fn every_file_that_a_page_names_is_there() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    let (open, seats) = date(&given).await;
    let person = house.person().await;
    let paid = bought(&given, &house, &person, seats[0]).await;
    let mut files = 0;
    for path in [
        "/".to_owned(),
        format!("/tickets/{open}"),
        format!("/receipt/{paid}"),
    ] {
        let shown = house.get(&path).browser(&person).await;
        for part in ok(&shown).split("\"/boxoffice/assets/").skip(1) {
            let name = part.split('"').next().unwrap();
            let file = house.get(format!("/boxoffice/assets/{name}")).await;
            assert_eq!(file.status, StatusCode::OK, "{name}");
            assert!(!file.text.is_empty(), "{name}");
            for import in file.text.split("from \"./").skip(1) {
                let import = import.split('"').next().unwrap();
                let beside = name.rsplit_once('/').unwrap().0;
                let file = house
                    .get(format!("/boxoffice/assets/{beside}/{import}"))
                    .await;
                assert_eq!(file.status, StatusCode::OK, "{import}");
            }
            files += 1;
        }
    }
    assert!(files >= 12, "{files}");
}

#[tokio::test]
async fn an_address_of_nothing_is_a_page_for_people_and_a_problem_for_programs() {
    let given = Given::on_sqlite().await;
    let house = House::wide(&given).await;
    for path in [
        "/nothing",
        "/receipt/abc",
        "/tickets/abc",
        "/boxoffice/assets/0/nothing.js",
    ] {
        let opened = house
            .get(path)
            .header("Accept", "text/html,*/*;q=0.8")
            .await;
        let said = page(&opened, StatusCode::NOT_FOUND);
        assert!(said.contains("There is nothing at this address"), "{path}");
        let program = house.get(path).await;
        assert_eq!(program.status, StatusCode::NOT_FOUND, "{path}");
        let kind = program.headers.get("content-type");
        assert!(
            kind.is_none_or(|kind| kind != "text/html; charset=utf-8"),
            "{path}"
        );
    }
}
