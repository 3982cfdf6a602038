//! How long a connection may take for what, and how many there may be.

use std::time::Duration;

use ropeline_web::Limits;
use tokio::time::{Instant, sleep};

use crate::harness::{SHORT, Served, get_request};

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let served = Served::new(Limits {
        first_byte: SHORT,
        ..Limits::default()
    })
    .await;
    let started = Instant::now();
    served.client().await.ends().await;
    let elapsed = started.elapsed();
    assert!((SHORT..SHORT * 5).contains(&elapsed), "{elapsed:?}");
    served.until_open(0).await;
}

#[tokio::test]
async fn a_head_that_trickles_is_408_however_it_goes_on() {
    let served = Served::new(Limits {
        header: SHORT,
        ..Limits::default()
    })
    .await;
    let mut client = served.client().await;
    let started = Instant::now();
    client.send("GET /hello HTTP/1.1\r\nx: ").await;
    while started.elapsed() < SHORT * 3 / 4 {
        client.send("a").await;
        sleep(Duration::from_millis(5)).await;
    }
    client.answer().await.problem(408);
    let elapsed = started.elapsed();
    assert!((SHORT..SHORT * 5).contains(&elapsed), "{elapsed:?}");
}

#[tokio::test]
async fn a_second_head_that_trickles_is_408_too() {
    let served = Served::new(Limits {
        header: SHORT,
        ..Limits::default()
    })
    .await;
    let mut client = served.client().await;
    client.send(get_request("/hello")).await;
    client.answer().await;
    client.send("GET /hello").await;
    client.answer().await.problem(408);
}

#[tokio::test]
async fn an_idle_connection_outlives_the_other_limits() {
    let limits = Limits {
        first_byte: SHORT / 4,
        header: SHORT / 4,
        idle: SHORT * 2,
        body: SHORT / 4,
        write_stall: SHORT / 4,
        ..Limits::default()
    };
    let served = Served::new(limits).await;
    let mut client = served.client().await;
    client.send(get_request("/hello")).await;
    client.answer().await;
    sleep(SHORT).await;
    client.send(get_request("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");

    let started = Instant::now();
    client.ends().await;
    let elapsed = started.elapsed();
    assert!((SHORT..SHORT * 10).contains(&elapsed), "{elapsed:?}");
}

#[tokio::test]
async fn a_connection_that_was_parked_answers_again() {
    let served = Served::new(Limits {
        header: SHORT,
        ..Limits::default()
    })
    .await;
    let mut client = served.client().await;
    for _ in 0..2 {
        client.send(get_request("/hello")).await;
        assert_eq!(client.answer().await.body, "hello");
        sleep(Duration::from_millis(1_100)).await;
    }
    client.send("GET /hello HTTP/1.1\r\n").await;
    client.answer().await.problem(408);
}

#[tokio::test]
async fn a_handler_may_take_longer_than_every_limit() {
    let limits = Limits {
        first_byte: SHORT / 4,
        header: SHORT / 4,
        idle: SHORT / 4,
        body: SHORT / 4,
        write_stall: SHORT / 4,
        ..Limits::default()
    };
    let served = Served::new(limits).await;
    let mut client = served.client().await;
    client.send(get_request("/held")).await;
    served.gate.entered.notified().await;
    sleep(SHORT * 2).await;
    served.gate.leave.notify_one();
    assert_eq!(client.answer().await.body, "let go");
}

#[tokio::test]
async fn a_peer_that_does_not_read_is_cut_off() {
    let served = Served::new(Limits {
        write_stall: SHORT,
        ..Limits::default()
    })
    .await;
    let mut client = served.client().await;
    client.send(get_request("/large")).await;
    served.until_open(1).await;
    let started = Instant::now();
    served.until_open(0).await;
    assert!(started.elapsed() >= SHORT / 2, "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_reset_in_the_middle_of_anything_leaks_no_connection() {
    let served = Served::new(Limits::default()).await;
    for begun in [
        "",
        "GET /hel",
        "POST /order HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx",
        "GET /held HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
    ] {
        let mut client = served.client().await;
        client.send(begun).await;
        served.until_open(1).await;
        sleep(Duration::from_millis(20)).await;
        client.stream.set_zero_linger().unwrap();
        drop(client);
        served.until_open(0).await;
    }
    assert_eq!(served.ask(&get_request("/hello")).await.status, 200);
}

#[tokio::test]
async fn a_rush_finds_room_before_anybody_is_accepted() {
    let listener = ropeline_web::listen(([127, 0, 0, 1], 0).into()).unwrap();
    let address = listener.local_addr().unwrap();
    let moment = Duration::from_millis(500);
    let crowd: Vec<_> = (0..1_000)
        .map(|_| std::net::TcpStream::connect_timeout(&address, moment))
        .collect();
    let waiting = crowd.iter().filter(|connection| connection.is_ok()).count();
    assert_eq!(waiting, 1_000);
}
