//! A database that is away, and a mistake of ours.

use ropeline_testing::http::{Ask, Client};
use ropeline_web::{Limits, Server, Tasks};

use super::{ask::problem, house::House};
use crate::given::Given;

on_both![
    a_database_that_is_away_is_503_and_says_when_to_come_back,
    a_database_that_lacks_a_table_is_a_mistake_of_ours,
];

async fn a_database_that_is_away_is_503_and_says_when_to_come_back(given: &Given) {
    let house = House::wide(given).await;
    let kim = house.person().await;
    let token = house.token(&kim).await;
    given.database.close().await;
    let asks = [
        house.get(format!("/user/{}/point", kim.id)).login(&kim),
        house.pay(&kim, 1),
        house.get("/concert/dates").token(&token),
    ];
    for ask in asks {
        assert_eq!(ask.await.problem(), problem(503, "STORE_UNAVAILABLE"));
    }
    assert_eq!(house.token(&kim).await, token, "the line goes on");
    let path = format!("/user/{}/point", kim.id);
    let ask = Ask::get(&path).header("Authorization", &format!("Bearer {}", kim.login));
    let reply = over_a_socket(&house, ask).await;
    let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((2..=5).contains(&wait));
    assert!(
        !String::from_utf8_lossy(&reply.body).contains("pool"),
        "the cause stays here"
    );
}

async fn a_database_that_lacks_a_table_is_a_mistake_of_ours(given: &Given) {
    let house = House::wide(given).await;
    let kim = house.person().await;
    given
        .try_sql("ALTER TABLE accounts RENAME TO lost")
        .await
        .unwrap();
    let answer = house
        .get(format!("/user/{}/point", kim.id))
        .login(&kim)
        .await;
    assert_eq!(answer.problem(), problem(500, "INTERNAL"));
    assert!(
        !answer.body.to_string().contains("accounts"),
        "the cause stays here"
    );
}

async fn over_a_socket(house: &House, ask: Ask) -> ropeline_testing::http::Reply {
    let listener = ropeline_web::listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new(house.router(), Limits::default());
    let serving =
        Tasks::new().spawn(async move { server.serve(listener, std::future::pending()).await });
    let send = move || Client::connect(address).unwrap().send(&ask);
    let reply = tokio::task::spawn_blocking(send).await.unwrap();
    serving.abort();
    reply
}
