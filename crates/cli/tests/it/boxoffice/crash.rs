//! A crash between a payment and the end of its pass: the pass is finished all the same, and once.

use std::{sync::mpsc, thread, time::Duration};

use super::{ALL_INSIDE, ONE_INSIDE, SERVICE_KEY, buyer::Buyer};
use crate::{
    process::{Server, Site},
    wait::until,
};

/// The outbox is looked at twice a second, and waits a second for who has just paid.
const FINISHED_MAX: Duration = Duration::from_secs(15);
/// Long enough for a second visitor to be let in, if anybody let them.
const A_WHILE: Duration = Duration::from_secs(2);
/// How often the server that does both is killed.
const KILLS: u64 = 15;
/// How many reserve at once when it is.
const CROWD: u64 = 12;

struct Apart {
    room: Site,
    office: Site,
}

impl Apart {
    fn new() -> Self {
        let site = || Site::new(ONE_INSIDE).with_flag("--service-key", SERVICE_KEY);
        Self {
            room: site(),
            office: site(),
        }
    }

    fn sell(&self) -> Server {
        let gate = format!("boxoffice --gate http://{}", self.room.address());
        self.office.start_as(&gate)
    }
}

/// The room is down while the payment is made, so the pass is still to be finished when the box office dies.
#[test]
fn a_pass_is_finished_after_a_crash_between_payment_and_finish() {
    let site = Apart::new();
    let room = site.room.start();
    let office = site.sell();
    let [first, second, third] = [(); 3].map(|()| Buyer::arrive(office.address()));
    let reservation = first.hold(first.free_seat());
    room.kill();
    first.pay(reservation);
    office.kill();
    let room = site.room.start();
    assert_eq!(
        first.standing(room.address()),
        "ACTIVE",
        "nobody has told the room"
    );

    let _office = site.sell();
    until(FINISHED_MAX, "the next is let in", || {
        (second.standing(room.address()) == "ACTIVE").then_some(())
    });
    assert_eq!(first.standing(room.address()), "TOKEN_EXPIRED");
    assert_eq!(first.reservations(), ["PAID"]);
    assert_eq!(first.balance(), 0);
    thread::sleep(A_WHILE);
    assert_eq!(
        third.standing(room.address()),
        "WAITING",
        "one pass was finished, once"
    );
}

/// The room finishes the pass, but the box office dies before it hears so: it says it again to the same pass, and not to
/// the next one of the same buyer.
#[test]
fn finishing_again_after_a_crash_ends_nobody_elses_pass() {
    let site = Apart::new();
    let room = site.room.start();
    let office = site.sell();
    let first = Buyer::arrive(office.address());
    let reservation = first.hold(first.free_seat());
    room.freeze();
    first.pay(reservation);
    office.kill();
    room.thaw();
    // Whoever has paid leaves by themselves and comes again, before the outbox is worked off.
    let mut client = room.client();
    assert_eq!(
        client.send(&crate::visitor::leave(&first.token)).status,
        204
    );
    let office = site.sell();
    let again = first.place();
    assert_eq!(again["status"], "ACTIVE", "{again}");
    thread::sleep(A_WHILE);
    assert_eq!(
        first.place()["ordinal"],
        again["ordinal"],
        "the new place stays"
    );
    assert_eq!(first.place()["status"], "ACTIVE");
    drop(office);
}

/// Room and box office in one process, killed at any moment of a payment: what is paid has no pass afterwards, what is
/// not paid still holds its seat and its pass.
#[test]
fn a_server_that_does_both_may_die_at_any_moment_of_a_payment() {
    let site = Site::new(ONE_INSIDE);
    let mut paid = 0;
    for kill in 0..KILLS {
        let server = site.start();
        let buyer = Buyer::arrive(server.address());
        until(FINISHED_MAX, "whoever came before is done", || {
            (buyer.standing(server.address()) == "ACTIVE").then_some(())
        });
        let reservation = buyer.hold(buyer.free_seat());
        let payment = buyer.payment(reservation);
        let mut client = server.client();
        let answer = thread::scope(|scope| {
            let answer = scope.spawn(move || client.try_send(&payment).ok());
            thread::sleep(Duration::from_micros(400 * kill));
            server.kill();
            answer.join().expect("asking does not panic")
        });
        let server = site.start();
        let states = buyer.reservations();
        if answer.is_some_and(|answer| answer.status == 200) {
            assert_eq!(states, ["PAID"], "what was answered is there");
        }
        if states == ["PAID"] {
            paid += 1;
            assert_eq!(buyer.balance(), 0);
            until(FINISHED_MAX, "the pass of who has paid is finished", || {
                (buyer.standing(server.address()) == "TOKEN_EXPIRED").then_some(())
            });
        } else {
            assert_eq!(states, ["HELD"]);
            assert_eq!(buyer.standing(server.address()), "ACTIVE");
            buyer.pay(reservation);
        }
        server.kill();
    }
    assert!(paid > 0, "some of the kills came after the payment");
}

/// Reservations that are in line together share a commit, and none is answered before it: whoever was answered has the
/// seat after a crash at any moment.
#[test]
fn a_seat_that_was_answered_outlives_a_crash_among_many_reservations() {
    let site = Site::new(ALL_INSIDE);
    let mut held = 0;
    for kill in 0..5 {
        let server = site.start();
        let buyers: Vec<_> = (0..CROWD)
            .map(|_| Buyer::arrive(server.address()))
            .collect();
        let (tell, first) = mpsc::channel();
        let answers: Vec<_> = thread::scope(|scope| {
            let asking = (1..).zip(&buyers).map(|(number, buyer)| {
                let (mut client, ask) = (server.client(), buyer.reservation(kill * CROWD + number));
                let tell = tell.clone();
                scope.spawn(move || {
                    let answer = client.try_send(&ask).ok();
                    tell.send(()).expect("somebody waits for the first");
                    answer
                })
            });
            let asking: Vec<_> = asking.collect();
            first.recv().expect("all of them tell");
            thread::sleep(Duration::from_micros(600 * kill));
            server.kill();
            let answers = asking.into_iter().map(std::thread::ScopedJoinHandle::join);
            answers
                .map(|one| one.expect("asking does not panic"))
                .collect()
        });
        let server = site.start();
        for (buyer, answer) in buyers.iter().zip(answers) {
            if answer.is_some_and(|answer| answer.status == 201) {
                assert_eq!(buyer.reservations(), ["HELD"], "what was answered is there");
                held += 1;
            }
        }
        server.kill();
    }
    assert!(held > 0, "some were answered before the end");
}
