//! Whose business inside lasts how long.

use std::time::Duration;

use ropeline_boxoffice::{Business, Reservation};

use crate::given::{Given, NOW, PRICE, pass};

on_both![
    business_lasts_until_the_last_hold_ends,
    live_holds_follow_the_newest_pass,
    a_hold_says_what_business_there_is,
    who_reserved_without_a_pass_has_no_business,
    what_is_left_to_sell_is_not_paid_and_still_to_come,
];

const MINUTE: Duration = Duration::from_secs(60);

async fn business_lasts_until_the_last_hold_ends(given: &Given) {
    let (user, seats) = (given.user_with(PRICE).await, given.seats(2).await);
    let office = &given.office;
    assert_eq!(office.business(user, NOW).await.unwrap(), None);
    let pass = Some(pass(7));
    let first = office
        .reserve(user, seats[0], pass.as_ref(), NOW)
        .await
        .unwrap();
    let second = office
        .reserve(user, seats[1], pass.as_ref(), NOW + MINUTE)
        .await
        .unwrap();
    let until = async |now| {
        let business = office.business(user, now).await.unwrap().unwrap();
        assert_eq!(Some(&business.pass), pass.as_ref());
        business.left.map(|left| now + left)
    };
    assert_eq!(until(NOW).await, Some(second.hold_until));
    assert_eq!(office.holders(NOW).await.unwrap(), [user]);
    office.give_up(user, second.id, NOW).await.unwrap();
    assert_eq!(until(NOW).await, Some(first.hold_until));
    assert_eq!(until(first.hold_until).await, None);
    assert_eq!(office.holders(first.hold_until).await.unwrap(), []);
    office.pay(user, first.id, None, NOW).await.unwrap();
    assert_eq!(until(NOW).await, None);
}

async fn live_holds_follow_the_newest_pass(given: &Given) {
    let (user, seats) = (given.user_with(PRICE * 2).await, given.seats(2).await);
    let office = &given.office;
    let old = office
        .reserve(user, seats[0], Some(&pass(7)), NOW)
        .await
        .unwrap();
    // Inside again, and only looking at the seat that is held already.
    let same = office
        .reserve(user, seats[0], Some(&pass(12)), NOW + MINUTE)
        .await
        .unwrap();
    let hold_left = MINUTE * 4;
    assert_eq!(same, Reservation { hold_left, ..old });
    let expected = Business {
        pass: pass(12),
        left: Some(MINUTE * 5),
    };
    assert_eq!(office.business(user, NOW).await.unwrap(), Some(expected));
    let paid = office.pay(user, old.id, None, NOW).await.unwrap();
    assert_eq!(paid.finish.unwrap().pass, pass(12));
}

async fn a_hold_says_what_business_there_is(given: &Given) {
    let (user, seats) = (given.user().await, given.seats(3).await);
    let office = &given.office;
    // The clock goes back once, and one seat is asked for twice.
    let steps = [
        (seats[0], pass(7), NOW + MINUTE),
        (seats[1], pass(7), NOW),
        (seats[1], pass(9), NOW + MINUTE),
        (seats[2], pass(12), NOW + MINUTE * 2),
    ];
    for (seat, pass, now) in steps {
        let held = office.hold(user, seat, Some(&pass), now).await.unwrap();
        assert_eq!(held.business, office.business(user, now).await.unwrap());
        assert_eq!(held.business.unwrap().pass, pass);
    }
    let other = given.user().await;
    let seat = given.seat().await;
    let held = office.hold(other, seat, None, NOW).await.unwrap();
    assert_eq!(held.business, None);
}

async fn who_reserved_without_a_pass_has_no_business(given: &Given) {
    let (user, seat) = (given.user().await, given.seat().await);
    given.office.reserve(user, seat, None, NOW).await.unwrap();
    assert_eq!(given.office.business(user, NOW).await.unwrap(), None);
    assert_eq!(given.office.holders(NOW).await.unwrap(), []);
}

async fn what_is_left_to_sell_is_not_paid_and_still_to_come(given: &Given) {
    let office = &given.office;
    assert_eq!(office.stock(NOW).await.unwrap(), None);
    let (user, seats) = (given.user_with(PRICE).await, given.seats(3).await);
    let before = NOW - MINUTE;
    assert_eq!(office.stock(before).await.unwrap(), Some(3));
    let held = office.reserve(user, seats[0], None, before).await.unwrap();
    assert_eq!(
        office.stock(before).await.unwrap(),
        Some(3),
        "a hold may come back"
    );
    office.pay(user, held.id, None, before).await.unwrap();
    assert_eq!(office.stock(before).await.unwrap(), Some(2));
    assert_eq!(office.stock(NOW).await.unwrap(), None, "the date has begun");
}
