//! Single functions, in nanoseconds per call.

use std::{hint::black_box, time::Instant};

use ropeline_core::{
    Bits, Bounds, Claims, FORMAT, LANE_MAIN, Ordinal, Room, RoomId, ServerId, Timestamp, Visitor,
};
use ropeline_server::token::{ISSUER, KeyFile};

use crate::{
    growth::fill,
    report::Table,
    stats::{Samples, count},
};

/// How often each case is timed; the table shows the median and the spread.
const RUNS: usize = 9;

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Timing {
    name: &'static str,
    nanos_per_call: Samples,
}

pub(crate) fn run() -> Table {
    let rows = cases().into_iter().map(|timing| {
        vec![
            timing.name.to_owned(),
            format!("{:.1}", timing.nanos_per_call.median()),
            timing.nanos_per_call.spread(|nanos| format!("{nanos:.1}")),
        ]
    });
    Table {
        title: "Single functions".to_owned(),
        note: format!("Nanoseconds per call, one thread, median of {RUNS} runs."),
        columns: vec!["function", "ns", "min..max"],
        rows: rows.collect(),
    }
}

/// What is timed. The first case is the harness itself, to be taken off in one's head.
fn cases() -> Vec<Timing> {
    let mut timings = vec![bench("an empty call", 50_000_000, || ())];
    for (name, places) in [
        ("view: ahead and behind, 10 thousand places", 10_000),
        ("view: ahead and behind, 1 million places", 1_000_000),
        ("view: ahead and behind, 14 million places", 14_000_000),
    ] {
        timings.push(look_up(name, places));
    }
    timings.extend(tokens());
    timings
}

/// Asks a view for places all over the line, one in ten of which has been given up.
fn look_up(name: &'static str, places: u64) -> Timing {
    let mut gone = Bits::default();
    for ordinal in (0..places).step_by(10) {
        gone.insert(ordinal);
    }
    let room = Room::new(
        fill::still(),
        ServerId("bench".into()),
        Timestamp(0),
        Bounds::default(),
    );
    let mut view = room.view(Timestamp(0));
    (view.header.issued, view.gone) = (Ordinal(places), gone);
    let mut at = 0;
    bench(name, 5_000_000, || {
        // A step that is prime to every length visits all places in no order that a cache could guess.
        at = (at + 7_368_787) % places;
        view.locate(Ordinal(at + 1))
    })
}

/// Our token check beside that of a library.
fn tokens() -> [Timing; 3] {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let keys = KeyFile::open_or_create(directory.path(), Timestamp(1)).expect("new keys");
    let ring = keys.ring().expect("new keys are in order");
    let claims = Claims {
        iss: ISSUER.into(),
        aud: RoomId::main(),
        epoch: Timestamp(1_700_000_000_000),
        sub: Visitor::parse("u:01234567-89ab-4def-8123-456789abcdef").expect("a visitor"),
        ord: Ordinal(1_000_000),
        lane: LANE_MAIN.into(),
        vfd: false,
        ver: FORMAT,
        iat: 1_700_000_000,
        exp: 4_000_000_000,
    };
    let token = ring.sign(&claims);
    let secret = b"0123456789abcdef0123456789abcdef";
    let theirs = jsonwebtoken::encode(
        &jsonwebtoken::Header::default(),
        &claims,
        &jsonwebtoken::EncodingKey::from_secret(secret),
    )
    .expect("claims are plain data");
    let key = jsonwebtoken::DecodingKey::from_secret(secret);
    let mut rules = jsonwebtoken::Validation::default();
    rules.set_audience(&["main"]);
    [
        bench("token: sign", 300_000, || ring.sign(&claims)),
        bench("token: check", 300_000, || {
            ring.verify(&token, Timestamp(1_700_000_000_000))
        }),
        bench("token: check by jsonwebtoken", 100_000, || {
            jsonwebtoken::decode::<Claims>(&theirs, &key, &rules)
        }),
    ]
}

/// Times `iterations` calls as one, several times over. The result of a call is kept from the
/// optimiser, so a case returns what it computed.
pub(crate) fn bench<T>(
    name: &'static str,
    iterations: usize,
    mut call: impl FnMut() -> T,
) -> Timing {
    let nanos_per_call = (0..RUNS).map(|_| {
        let started = Instant::now();
        for _ in 0..iterations {
            black_box(call());
        }
        started.elapsed().as_secs_f64() * 1e9 / count(iterations)
    });
    Timing {
        name,
        nanos_per_call: nanos_per_call.collect(),
    }
}
