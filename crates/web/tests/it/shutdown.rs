//! How a server ends.

use std::time::Duration;

use ropeline_web::{Limits, Report};
use tokio::{net::TcpStream, time::Instant};

use crate::harness::{SHORT, Served, get_request};

#[tokio::test]
async fn a_request_in_progress_is_answered_and_told_to_close() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    client.send(get_request("/held")).await;
    served.gate.entered.notified().await;
    served.begin_stop();
    served.gate.leave.notify_one();
    let answer = client.answer().await;
    assert_eq!(answer.body, "let go");
    assert_eq!(answer.header("connection"), Some("close"));
    client.ends().await;
    assert_eq!(served.stopped().await, Report { cut: 0 });
}

#[tokio::test]
async fn idle_connections_do_not_hold_up_the_end() {
    let served = Served::new(Limits::default()).await;
    let mut idle = served.client().await;
    idle.send(get_request("/hello")).await;
    idle.answer().await;
    let mut parked = served.client().await;
    parked.send(get_request("/hello")).await;
    parked.answer().await;
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    idle.send(get_request("/hello")).await;
    idle.answer().await;
    let mut silent = served.client().await;
    served.until_open(3).await;

    let started = Instant::now();
    assert_eq!(served.stopped().await, Report { cut: 0 });
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    for client in [&mut idle, &mut parked, &mut silent] {
        client.ends().await;
    }
}

#[tokio::test]
async fn a_request_that_outlasts_the_drain_is_cut_and_reported() {
    let served = Served::new(Limits {
        drain: SHORT,
        ..Limits::default()
    })
    .await;
    let mut client = served.client().await;
    client.send(get_request("/held")).await;
    served.gate.entered.notified().await;
    let open = served.open.clone();
    let started = Instant::now();
    assert_eq!(served.stopped().await, Report { cut: 1 });
    assert!(
        (SHORT..SHORT * 5).contains(&started.elapsed()),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(open.get(), 0);
    client.ends().await;
}

#[tokio::test]
async fn nobody_is_accepted_after_the_end() {
    let served = Served::new(Limits::default()).await;
    let address = served.address;
    assert_eq!(served.ask(&get_request("/hello")).await.status, 200);
    served.stopped().await;
    assert!(TcpStream::connect(address).await.is_err());
}
