//! Opening a database.

use ropeline_boxoffice::{BoxOffice, Database, Error, Rules};

use crate::given::{Given, NOW, at_once};

#[tokio::test]
async fn offices_that_open_a_new_file_at_once_make_its_tables_once() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("new.db").display());
    open_at_once(&url).await;
}

#[tokio::test]
async fn offices_that_open_a_new_database_at_once_make_its_tables_once() {
    let given = Given::on_postgres().await;
    given
        .try_sql("CREATE DATABASE opened_at_once")
        .await
        .unwrap();
    let (_, options) = given.url.split_once('?').unwrap();
    open_at_once(&format!("postgres:///opened_at_once?{options}")).await;
}

async fn open_at_once(url: &str) {
    let openings = (0..4).map(|_| {
        let url = url.to_owned();
        async move { Database::open(&url).await }
    });
    for opened in at_once(openings).await {
        let office = BoxOffice::new(opened.unwrap(), Rules::default());
        assert!(office.create_user("Kim", NOW).await.is_ok());
    }
}

#[tokio::test]
async fn an_address_of_neither_database_is_refused_without_its_password() {
    for address in ["mysql://kim:secret@db/box", "sqlite::memory:"] {
        let refused = Database::open(address).await.unwrap_err();
        assert!(matches!(refused, Error::Address(_)), "{refused:?}");
        assert!(!refused.to_string().contains("secret"));
    }
}

async fn offices_on_one_database_know_each_others_logins(given: &Given) {
    let another = given.another_office(Rules::default()).await;
    let secrets = at_once(
        [given.office.clone(), another.clone()]
            .map(|office| async move { office.login_secret(NOW).await.unwrap() }),
    )
    .await;
    assert_eq!(secrets[0], secrets[1]);
    assert_eq!(given.office.login_secret(NOW).await.unwrap(), secrets[0]);
    assert_ne!(secrets[0], [0; 32]);
}

on_both![offices_on_one_database_know_each_others_logins];
