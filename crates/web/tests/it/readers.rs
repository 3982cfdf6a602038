//! Peers that read slowly, or that only read. The clock of slow peers is the test's.

use std::time::Duration;

use ropeline_web::Limits;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{sleep, timeout},
};

use crate::harness::{Client, SHORT, Served, get_request, post_json};

const MEBIBYTE: usize = 1024 * 1024;
const MINUTE: Duration = Duration::from_secs(60);

/// So long that a socket takes several times what the kernel holds back for it.
fn patient() -> Limits {
    Limits {
        write_stall: MINUTE * 120,
        ..Limits::default()
    }
}

/// Reads up to `bytes`, as far as they have come or come now.
async fn take(client: &mut Client, bytes: usize) -> usize {
    let mut scrap = vec![0; 64 * 1024];
    let mut taken = 0;
    while taken < bytes {
        let most = scrap.len().min(bytes - taken);
        let read = timeout(SHORT, client.stream.read(&mut scrap[..most])).await;
        match read {
            Ok(Ok(read)) if read > 0 => taken += read,
            _ => break,
        }
    }
    taken
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_too_slowly_is_cut_off() {
    let served = Served::new(patient()).await;
    let mut client = served.client().await;
    client.send(get_request("/large")).await;
    for _ in 0..3 {
        take(&mut client, MEBIBYTE).await;
        sleep(MINUTE * 30).await;
        assert_eq!(served.open.get(), 1);
    }
    for _ in 0..8 {
        take(&mut client, MEBIBYTE).await;
        sleep(MINUTE * 30).await;
    }
    assert_eq!(served.open.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_no_slower_than_it_may_has_the_whole_answer() {
    let served = Served::new(patient()).await;
    let mut client = served.client().await;
    client.send(get_request("/large")).await;
    let mut taken = 0;
    for _ in 0..16 {
        taken += take(&mut client, 5 * MEBIBYTE).await;
        sleep(MINUTE * 30).await;
    }
    assert!(taken > 64 * MEBIBYTE, "{taken}");
}

#[tokio::test]
async fn a_half_closed_client_has_its_answer() {
    let served = Served::new(Limits::default()).await;
    for (request, answer) in [
        (get_request("/hello"), "hello"),
        (post_json("/unread", "{}"), "not read"),
        (get_request("/short/later"), "later"),
    ] {
        let mut client = served.client().await;
        client.send(request).await;
        client.stream.shutdown().await.unwrap();
        assert_eq!(client.answer().await.body, answer);
        client.ends().await;
    }
    served.until_open(0).await;
}

#[tokio::test]
async fn a_half_closed_client_has_the_answers_that_take_a_while() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    let (held, hello) = (get_request("/held"), get_request("/hello"));
    client.send(format!("{held}{hello}")).await;
    client.stream.shutdown().await.unwrap();
    served.gate.entered.notified().await;
    sleep(SHORT).await;
    served.gate.leave.notify_one();
    assert_eq!(client.answer().await.body, "let go");
    assert_eq!(client.answer().await.body, "hello");
    client.ends().await;

    let mut client = served.client().await;
    client.send(held).await;
    client.stream.shutdown().await.unwrap();
    served.gate.entered.notified().await;
    sleep(SHORT).await;
    served.gate.leave.notify_one();
    assert_eq!(client.answer().await.body, "let go");
    client.ends().await;
    served.until_open(0).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_of_a_client_that_may_be_gone_is_dropped_after_ten_seconds() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    client.send(get_request("/held")).await;
    served.gate.entered.notified().await;
    drop(client);
    sleep(Duration::from_secs(9)).await;
    assert_eq!(served.open.get(), 1);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(served.open.get(), 0);
}
