//! Those who join and are never heard of again.

use std::{sync::Arc, thread, time::Duration};

use reqwest::{Client, RequestBuilder};
use ropeline_core::{Identity, Policy};
use ropeline_testing::{
    history::{At, History, Op, Outcome, Question, Record, Recorder},
    http::Reply,
};
use serde_json::json;
use tokio::{runtime::Runtime, task::JoinSet};

use super::{
    cluster::{ADMIN_KEY, Cluster},
    crowd::Crowd,
    run::audit,
    visitor::{TOKENS, is_final},
};

/// So often somebody comes.
const EVERY: Duration = Duration::from_millis(50);
/// Whoever could not join by then gives up.
const JOIN_MAX: Duration = Duration::from_secs(20);
/// Whoever is asked for is found within this, or not at all.
const FIND_MAX: Duration = Duration::from_secs(20);
const REPEAT_AFTER: Duration = Duration::from_millis(100);
/// So many are asked for at once.
const FINDS_MAX: usize = 16;
/// Before the figures are looked at, nothing has moved for so long.
const CALM: Duration = Duration::from_millis(1_200);

/// Who asks at the end what became of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// An operator, who brings nobody back.
    Operator,
    /// Its holder, with the token.
    Holder,
    /// First an operator, then its holder.
    Both,
}

/// Somebody who has a place.
#[derive(Debug, Clone)]
struct Seat {
    number: usize,
    user: String,
    ordinal: Option<u64>,
    token: String,
}

/// One is let in; nothing ends anybody else's place within the time of a test.
pub(crate) fn policy() -> Policy {
    let long = Duration::from_secs(3_600);
    Policy {
        every: long,
        batch: Some(1),
        active_max: None,
        pass_ttl: long,
        pass_max: Duration::ZERO,
        presence_ttl: long,
        missed_turn_ttl: long,
        waiting_max: 100_000,
        identity: Identity::Open,
    }
}

/// While `trouble` lasts somebody comes to each room again and again; then all who have a place are asked for.
pub(crate) fn come(
    cluster: &Cluster,
    rooms: &[String],
    asker: Asker,
    trouble: impl FnOnce(Vec<&Recorder>) + Send,
) -> Vec<History> {
    let crowd = |_| Crowd::new(cluster.recorder(&policy()), cluster.addresses(), At::MAX);
    let crowds: Vec<_> = rooms.iter().map(crowd).map(Arc::new).collect();
    let runtime = Runtime::new().expect("a runtime");
    let drained = thread::scope(|scope| {
        let recorders = crowds.iter().map(|crowd| &crowd.recorder).collect();
        let trouble = scope.spawn(|| trouble(recorders));
        let is_over = || trouble.is_finished();
        let seats = runtime.block_on(join_until(&crowds, rooms, &is_over));
        trouble.join().expect("trouble goes as planned");
        let drained: Vec<_> = crowds.iter().map(|crowd| crowd.recorder.now()).collect();
        runtime.block_on(find_all(&crowds, rooms, seats, asker));
        drained
    });
    drop(runtime);
    let histories = crowds.into_iter().zip(drained).map(|(crowd, at)| {
        let crowd = Arc::into_inner(crowd).expect("everybody has gone");
        crowd.recorder.finish(Some(at))
    });
    histories.collect()
}

async fn join_until(
    crowds: &[Arc<Crowd>],
    rooms: &[String],
    is_over: &dyn Fn() -> bool,
) -> Vec<Vec<Seat>> {
    let mut joins: Vec<JoinSet<Option<Seat>>> = rooms.iter().map(|_| JoinSet::new()).collect();
    let mut number = 0;
    while !is_over() {
        for (at, joins) in joins.iter_mut().enumerate() {
            joins.spawn(join(Arc::clone(&crowds[at]), rooms[at].clone(), number));
        }
        number += 1;
        tokio::time::sleep(EVERY).await;
    }
    let mut seats = Vec::new();
    for joins in joins {
        seats.push(joins.join_all().await.into_iter().flatten().collect());
    }
    seats
}

async fn find_all(crowds: &[Arc<Crowd>], rooms: &[String], seats: Vec<Vec<Seat>>, asker: Asker) {
    for ((crowd, room), seats) in crowds.iter().zip(rooms).zip(seats) {
        for seats in seats.chunks(FINDS_MAX) {
            let finds: JoinSet<_> = seats
                .iter()
                .map(|seat| find(Arc::clone(crowd), room.clone(), seat.clone(), asker))
                .collect();
            finds.join_all().await;
        }
        for _ in 0..3 {
            tokio::time::sleep(CALM).await;
            audit(crowd, room).await;
        }
    }
}

async fn join(crowd: Arc<Crowd>, room: String, number: usize) -> Option<Seat> {
    let user = format!("silent-{number}");
    let seat = Seat {
        number,
        user: user.clone(),
        ordinal: None,
        token: String::new(),
    };
    let request = |client: &Client, base: String| {
        client
            .post(format!("{base}{TOKENS}"))
            .header("Idempotency-Key", &user)
            .json(&json!({"userId": user, "room": room}))
    };
    let (record, reply) = insist(&crowd, &seat, Op::Join, JOIN_MAX, request).await?;
    let token = reply.json()["token"].as_str()?.to_owned();
    let ordinal = record.ordinal();
    Some(Seat {
        ordinal,
        token,
        ..seat
    })
}

async fn find(crowd: Arc<Crowd>, room: String, seat: Seat, asker: Asker) {
    let (user, token) = (&seat.user, &seat.token);
    if asker != Asker::Holder {
        let request = |client: &Client, base: String| {
            let rooms = format!("{base}/api/v1/admin/rooms");
            let request = client.get(format!("{rooms}/{room}/visitors/{user}"));
            request.bearer_auth(ADMIN_KEY)
        };
        insist(&crowd, &seat, Op::Find, FIND_MAX, request).await;
    }
    if asker != Asker::Operator {
        let request = |client: &Client, base: String| {
            let request = client.get(format!("{base}/api/v1/queue/status"));
            request.header("X-Queue-Token", token)
        };
        insist(&crowd, &seat, Op::Poll, FIND_MAX, request).await;
    }
}

/// Asks until somebody answers.
async fn insist(
    crowd: &Crowd,
    seat: &Seat,
    op: Op,
    limit: Duration,
    request: impl Fn(&Client, String) -> RequestBuilder,
) -> Option<(Record, Reply)> {
    let until = crowd.recorder.now() + limit;
    while crowd.recorder.now() < until {
        let question = Question {
            client: seat.number,
            node: crowd.pick(),
            op,
            user: seat.user.clone(),
            holds: seat.ordinal,
            returned: None,
        };
        match crowd.ask(question, &request).await {
            Some((record, reply)) if record.outcome == Outcome::Ok || is_final(&reply) => {
                return Some((record, reply));
            }
            _ => tokio::time::sleep(REPEAT_AFTER).await,
        }
    }
    None
}
