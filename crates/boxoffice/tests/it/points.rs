//! Users and points.

use ropeline_boxoffice::{IdempotencyKey, Points, Refusal, UserId};

use crate::given::{Given, NOW, at_once, refusal};

on_both![
    a_new_user_has_no_points,
    names_are_short_and_not_empty,
    charged_points_are_there,
    charges_at_once_are_all_counted,
    a_charge_repeated_with_its_key_counts_once,
    charges_at_once_with_one_key_count_once,
    a_key_does_not_serve_for_another_request,
    the_key_of_another_user_is_another_key,
    a_balance_has_a_maximum,
    nobody_can_be_charged_who_does_not_exist,
];

async fn a_new_user_has_no_points(given: &Given) {
    let user = given.user().await;
    assert_eq!(given.office.balance(user).await.unwrap().get(), 0);
    let account = given.office.account(user).await.unwrap();
    assert_eq!((account.user, &*account.name), (user, "Kim"));
    assert_eq!(account.balance.get(), 0);
    let nobody = given.office.account(UserId(99)).await;
    assert_eq!(refusal(nobody), Refusal::UserNotFound);
}

async fn names_are_short_and_not_empty(given: &Given) {
    for bad in ["", "  ", "a\0b", &"가".repeat(101)] {
        let outcome = given.office.create_user(bad, NOW).await;
        assert_eq!(refusal(outcome), Refusal::InvalidName);
    }
    let longest = "가".repeat(100);
    assert!(given.office.create_user(&longest, NOW).await.is_ok());
    assert_eq!(given.count("users").await, 1);
}

async fn charged_points_are_there(given: &Given) {
    let user = given.user_with(700).await;
    let more = Points::amount(300).unwrap();
    let charged = given.office.charge(user, more, None, NOW).await.unwrap();
    assert_eq!((charged.charged.get(), charged.balance.get()), (300, 1_000));
    assert_eq!(given.office.balance(user).await.unwrap().get(), 1_000);
    given.assert_books_right().await;
}

async fn charges_at_once_are_all_counted(given: &Given) {
    let user = given.user().await;
    let amount = Points::amount(1_000).unwrap();
    let charges = (0..100).map(|_| {
        let office = given.office.clone();
        async move { office.charge(user, amount, None, NOW).await.unwrap() }
    });
    at_once(charges).await;
    assert_eq!(given.office.balance(user).await.unwrap().get(), 100_000);
    given.assert_books_right().await;
}

async fn a_charge_repeated_with_its_key_counts_once(given: &Given) {
    let user = given.user().await;
    let (amount, key) = (Points::amount(500).unwrap(), key("k1"));
    let first = given.office.charge(user, amount, Some(&key), NOW).await;
    let other = given.office.charge(user, amount, None, NOW).await;
    let again = given.office.charge(user, amount, Some(&key), NOW).await;
    assert_eq!(first.unwrap(), again.unwrap());
    assert_eq!(other.unwrap().balance.get(), 1_000);
    assert_eq!(given.office.balance(user).await.unwrap().get(), 1_000);
}

async fn charges_at_once_with_one_key_count_once(given: &Given) {
    let user = given.user().await;
    for round in 1..=8 {
        let charges = (0..20).map(|_| {
            let office = given.office.clone();
            let (amount, key) = (Points::amount(500).unwrap(), key(&format!("k{round}")));
            async move { office.charge(user, amount, Some(&key), NOW).await.unwrap() }
        });
        let answers = at_once(charges).await;
        assert!(answers.iter().all(|answer| *answer == answers[0]));
        assert_eq!(answers[0].balance.get(), 500 * round);
    }
}

async fn a_key_does_not_serve_for_another_request(given: &Given) {
    let (user, key) = (given.user().await, key("k1"));
    let charge = |points| {
        let amount = Points::amount(points).unwrap();
        given.office.charge(user, amount, Some(&key), NOW)
    };
    charge(500).await.unwrap();
    assert_eq!(refusal(charge(501).await), Refusal::IdempotencyKeyReused);
    assert_eq!(given.office.balance(user).await.unwrap().get(), 500);
}

async fn the_key_of_another_user_is_another_key(given: &Given) {
    let (one, other, key) = (given.user().await, given.user().await, key("k1"));
    let (few, many) = (Points::amount(5).unwrap(), Points::amount(9).unwrap());
    given
        .office
        .charge(one, few, Some(&key), NOW)
        .await
        .unwrap();
    let charged = given.office.charge(other, many, Some(&key), NOW).await;
    assert_eq!(charged.unwrap().balance.get(), 9);
}

async fn a_balance_has_a_maximum(given: &Given) {
    let user = given.users_with(Points::BALANCE_MAX.get() - 10, 1).await[0];
    let charge = |points| {
        let amount = Points::amount(points).unwrap();
        given.office.charge(user, amount, None, NOW)
    };
    assert_eq!(refusal(charge(11).await), Refusal::InvalidAmount);
    assert_eq!(charge(10).await.unwrap().balance, Points::BALANCE_MAX);
    assert_eq!(refusal(charge(1).await), Refusal::InvalidAmount);
    given.assert_books_right().await;
}

async fn nobody_can_be_charged_who_does_not_exist(given: &Given) {
    for stranger in [UserId(0), UserId(-1), UserId(99), UserId(i64::MAX)] {
        let amount = Points::amount(5).unwrap();
        let charged = given.office.charge(stranger, amount, None, NOW).await;
        assert_eq!(refusal(charged), Refusal::UserNotFound);
        assert_eq!(
            refusal(given.office.balance(stranger).await),
            Refusal::UserNotFound
        );
    }
    assert_eq!(given.count("transfers").await, 0);
}

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}
