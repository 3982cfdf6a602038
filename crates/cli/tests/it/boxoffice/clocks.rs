//! Box offices on one PostgreSQL, with clocks that disagree.

use std::{fs, path::PathBuf};

use ropeline_testing::{
    TestPostgres,
    http::{Ask, Client},
};

use super::{ALL_INSIDE, SERVICE_KEY, buyer::Buyer};
use crate::process::{Server, Site};

#[test]
fn box_offices_ten_minutes_apart_keep_each_others_holds() {
    for offset in ["+10m", "-10m"] {
        let database = TestPostgres::start();
        let site = || Site::new(ALL_INSIDE).with_flag("--service-key", SERVICE_KEY);
        let (rooms, url) = (site(), database.url("postgres"));
        let room = rooms.start();
        let line = format!("boxoffice --gate http://{}", room.address());
        let right = site().with_flag("--database", &url);
        let wrong = with_clock(site().with_flag("--database", &url), offset);
        let (right, wrong) = (right.start_as(&line), wrong.start_as(&line));
        assert_ne!(minute(&right), minute(&wrong), "the clock is not off");
        for (holding, other) in [(&right, &wrong), (&wrong, &right)] {
            let (kim, lee) = (
                Buyer::arrive(holding.address()),
                Buyer::arrive(other.address()),
            );
            let seat = kim.free_seat();
            let held = kim.hold(seat);
            let refused = other.client().send(&lee.reservation(seat));
            assert_eq!((refused.status, refused.code()), (409, "SEAT_TAKEN".into()));
            assert_ne!(lee.free_seat(), seat);
            kim.pay(held);
        }
    }
}

/// With servers whose time of day is off.
fn with_clock(site: Site, offset: &str) -> Site {
    let library = library().display().to_string();
    site.with_variable("LD_PRELOAD", &library)
        .with_variable("FAKETIME", offset)
        .with_variable("FAKETIME_DONT_FAKE_MONOTONIC", "1")
}

/// The library of `faketime`, where Debian has it.
fn library() -> PathBuf {
    let places = fs::read_dir("/usr/lib").expect("a directory of every Linux");
    let places = places.flatten().map(|place| place.path());
    let mut libraries = places.map(|place| place.join("faketime/libfaketimeMT.so.1"));
    let found = libraries.find(|library| library.exists());
    found.expect("faketime is installed")
}

/// The time of day of a server, to the minute.
fn minute(server: &Server) -> String {
    let mut client = Client::connect(server.address()).expect("it is ready");
    let reply = client.send(&Ask::get("/healthz"));
    let date = reply.header("date").expect("every answer has one");
    date.rsplit_once(':').expect("a time of day").0.to_owned()
}
