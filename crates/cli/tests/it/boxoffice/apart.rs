//! The box office as a service of its own, which asks the room over HTTP.

use super::{ONE_INSIDE, SERVICE_KEY, buyer::Buyer};
use crate::process::Site;

#[test]
fn a_box_office_of_its_own_sells_behind_a_room_elsewhere() {
    let site = || Site::new(ONE_INSIDE).with_flag("--service-key", SERVICE_KEY);
    let (rooms, books) = (site(), site());
    let room = rooms.start();
    let office = books.start_as(&format!("boxoffice --gate http://{}", room.address()));
    let first = Buyer::arrive(office.address());
    let second = Buyer::arrive(office.address());
    assert_eq!(first.place()["position"], 0);
    assert_eq!(second.place()["position"], 1);
    first.pay(first.hold(first.free_seat()));
    assert_eq!(
        second.place()["position"],
        0,
        "the next is let in by the payment"
    );
    assert_eq!(first.standing(room.address()), "TOKEN_EXPIRED");
}

#[test]
fn a_box_office_with_another_key_than_the_room_does_not_start() {
    let room = Site::new(ONE_INSIDE).with_flag("--service-key", SERVICE_KEY);
    let server = room.start();
    let office =
        Site::new(ONE_INSIDE).with_flag("--service-key", "another-key-of-the-same-length-12345678");
    let said = office.ropeline(&format!("boxoffice --gate http://{}", server.address()));
    assert_ne!(said.code, Some(0));
    assert!(said.stderr.contains("service key"), "{}", said.stderr);
}
