//! Servers whose connections are served by event loops of their own.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    thread::{self, available_parallelism},
};

use ropeline_web::{EventLoops, Report};

use crate::harness::{Client, Served, get_request};

fn loops() -> Arc<EventLoops> {
    Arc::new(EventLoops::start().unwrap())
}

/// Where the connection of a client is served.
async fn thread_of(client: &mut Client) -> String {
    client.send(get_request("/thread")).await;
    client.answer().await.body
}

#[tokio::test]
async fn connections_are_spread_evenly_and_stay_where_they_are() {
    let loops = loops();
    let served = Served::by(&loops).await;
    let count = available_parallelism().unwrap().get();
    let mut clients = Vec::new();
    for _ in 0..3 * count {
        clients.push(served.client().await);
    }
    let mut threads = BTreeMap::<_, usize>::new();
    for client in &mut clients {
        let mut seen = BTreeSet::new();
        for _ in 0..3 {
            seen.insert(thread_of(client).await);
        }
        assert_eq!(seen.len(), 1, "{seen:?}");
        *threads.entry(seen.pop_first().unwrap()).or_default() += 1;
    }
    assert_eq!(threads.len(), count);
    assert!(threads.values().all(|connections| *connections == 3));
    assert!(!threads.contains_key(&format!("{:?}", thread::current().id())));
}

#[tokio::test]
async fn a_connection_goes_where_others_have_left() {
    let loops = loops();
    let served = Served::by(&loops).await;
    let count = available_parallelism().unwrap().get();
    let mut clients = Vec::new();
    for _ in 0..3 * count {
        let mut client = served.client().await;
        clients.push((thread_of(&mut client).await, client));
    }
    let left = clients[0].0.clone();
    clients.retain(|(thread, _)| *thread != left);
    served.until_open(3 * count - 3).await;
    for _ in 0..3 {
        let mut client = served.client().await;
        assert_eq!(thread_of(&mut client).await, left);
        clients.push((left.clone(), client));
    }
}

#[tokio::test]
async fn what_is_in_progress_on_them_is_finished_before_the_end() {
    let loops = loops();
    let served = Served::by(&loops).await;
    let mut client = served.client().await;
    client.send(get_request("/held")).await;
    served.gate.entered.notified().await;
    served.begin_stop();
    served.gate.leave.notify_one();
    assert_eq!(client.answer().await.body, "let go");
    client.ends().await;
    assert_eq!(served.stopped().await, Report { cut: 0 });
}

#[tokio::test]
async fn what_still_runs_on_them_ends_with_them() {
    let loops = loops();
    let served = Served::by(&loops).await;
    let mut client = served.client().await;
    client.send(get_request("/held")).await;
    served.gate.entered.notified().await;
    served.abandon().await;
    drop(loops);
    client.ends().await;
}
