//! Who gives way when nearly all connections are taken. Only 127.0.0.1 counts as this machine here, so
//! that other loopback addresses are peers like any other.

use std::{net::SocketAddr, time::Duration};

use ropeline_web::{Limits, Server, Tasks, TrustedProxies};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Instant, sleep, timeout},
};

use crate::harness::{Client, PATIENCE, SHORT, Served, connect, get_request, post_json};

const MANY: u8 = 2;
const FEW: u8 = 3;
const NEWCOMER: u8 = 4;
const THIS_MACHINE: u8 = 1;

fn networks(hosts: &[u8]) -> TrustedProxies {
    let network = |host| format!("127.0.0.{host}/32").parse().unwrap();
    TrustedProxies::new(hosts.iter().map(network).collect())
}

fn up_to(connections_max: usize) -> Limits {
    Limits {
        connections_max,
        ..Limits::default()
    }
}

async fn serve(limits: Limits) -> Served {
    let here = |server: Server| server.this_machine(networks(&[THIS_MACHINE]));
    Served::set_up(limits, here).await
}

/// Connections that have asked once and keep silent since.
async fn idle(served: &Served, host: u8, count: usize) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..count {
        let mut client = served.client_at(host).await;
        client.send(get_request("/hello")).await;
        client.answer().await;
        clients.push(client);
    }
    clients
}

/// A connection whose request is in progress.
async fn busy(served: &Served, host: u8) -> Client {
    let mut client = served.client_at(host).await;
    client.send(get_request("/held")).await;
    served.gate.entered.notified().await;
    client
}

/// Connections that send nothing.
async fn strangers(served: &Served, count: usize) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..count {
        clients.push(served.client_at(MANY).await);
    }
    clients
}

async fn count_served(clients: &mut [Client]) -> usize {
    let mut count = 0;
    for client in clients {
        count += usize::from(client.is_served().await);
    }
    count
}

#[tokio::test]
async fn idle_connections_of_one_address_keep_nobody_out() {
    let served = serve(up_to(200)).await;
    let mut kept = idle(&served, MANY, 150).await;
    for _ in 0..100 {
        kept.push(served.client_at(MANY).await);
    }
    let started = Instant::now();
    for _ in 0..60 {
        let mut newcomer = served.client_at(NEWCOMER).await;
        assert!(newcomer.is_served().await);
    }
    assert!(started.elapsed() < PATIENCE / 4, "{:?}", started.elapsed());
    assert!(served.open.get() <= 200, "{}", served.open.get());
    assert!(served.open.closed_to_make_room() > 0);
}

#[tokio::test]
async fn newcomers_from_many_addresses_find_a_place_though_each_holds_one() {
    let served = serve(up_to(60)).await;
    let mut kept = Vec::new();
    for host in 10..70 {
        kept.extend(idle(&served, host, 1).await);
    }
    for _ in 0..3 {
        let mut newcomer = served.client_at(NEWCOMER).await;
        assert!(newcomer.is_served().await);
    }
    assert!(!kept[0].is_served().await, "it was idle for longest");
    assert!(kept[59].is_served().await);
}

#[tokio::test]
async fn the_address_that_holds_the_most_gives_way_to_the_others() {
    let served = serve(up_to(40)).await;
    let mut few = idle(&served, FEW, 4).await;
    let mut many = idle(&served, MANY, 36).await;
    let mut newcomers = idle(&served, NEWCOMER, 7).await;
    assert_eq!(count_served(&mut few).await, 4);
    assert_eq!(count_served(&mut newcomers).await, 7);
    let left = count_served(&mut many).await;
    assert!(left <= 29, "{left}");
    assert!(!many[0].is_served().await, "it was idle for longest");
    assert!(many[35].is_served().await);
}

#[tokio::test]
async fn a_request_in_progress_is_never_cut_to_make_room() {
    let served = serve(up_to(4)).await;
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(busy(&served, MANY).await);
    }
    let mut newcomer = served.client_at(NEWCOMER).await;
    newcomer.send(get_request("/hello")).await;
    sleep(SHORT).await;
    assert!(newcomer.stream.try_read(&mut [0]).is_err());
    assert_eq!(served.open.get(), 4);

    served.gate.leave.notify_one();
    // Whoever is answered first is idle then, and gives way.
    assert_eq!(newcomer.answer().await.body, "hello");
    for _ in 0..3 {
        served.gate.leave.notify_one();
    }
    for client in &mut all {
        assert_eq!(client.answer().await.body, "let go");
    }
}

#[tokio::test]
async fn this_machine_has_a_place_when_all_others_are_busy_and_strangers_wait() {
    let served = serve(up_to(2)).await;
    let _busy = [busy(&served, MANY).await, busy(&served, FEW).await];
    let _strangers = strangers(&served, 100).await;
    let mut first = served.client_at(THIS_MACHINE).await;
    assert!(first.is_served().await);

    // The reserve has an end, and its holder is not closed.
    let mut second = served.client_at(THIS_MACHINE).await;
    second.send(get_request("/hello")).await;
    sleep(SHORT).await;
    assert!(second.stream.try_read(&mut [0]).is_err());
    assert!(first.is_served().await);
    drop(first);
    assert_eq!(second.answer().await.body, "hello");
}

#[tokio::test]
async fn one_address_does_not_take_all_places_to_wait() {
    let served = serve(up_to(1)).await;
    let mut busy = busy(&served, FEW).await;
    let mut strangers = strangers(&served, 100).await;
    let mut newcomer = served.client_at(NEWCOMER).await;
    newcomer.send(get_request("/hello")).await;
    // The newest gave way, and the oldest waits.
    strangers.pop().unwrap().ends().await;
    let mut first = strangers.swap_remove(0);
    first.send(get_request("/hello")).await;

    served.gate.leave.notify_one();
    assert_eq!(busy.answer().await.body, "let go");
    assert_eq!(first.answer().await.body, "hello");
    drop(strangers);
    assert_eq!(newcomer.answer().await.body, "hello");
}

#[tokio::test(start_paused = true)]
async fn clients_that_have_given_up_take_no_place_to_wait() {
    let served = serve(up_to(1)).await;
    let _busy = busy(&served, FEW).await;
    for host in 10..42 {
        drop(served.client_at(host).await);
    }
    sleep(SHORT).await;
    let waiting = strangers(&served, 20).await;
    sleep(SHORT).await;
    for client in &waiting {
        assert!(client.stream.try_read(&mut [0]).is_err(), "it waits");
    }
}

#[tokio::test]
async fn proxies_and_this_machine_keep_their_idle_connections() {
    let set_up = |server: Server| {
        let server = server.this_machine(networks(&[THIS_MACHINE]));
        server.proxies(networks(&[FEW]))
    };
    let served = Served::set_up(up_to(40), set_up).await;
    let mut of_proxy = idle(&served, FEW, 20).await;
    let mut of_this_machine = idle(&served, THIS_MACHINE, 5).await;
    let _strangers = idle(&served, MANY, 15).await;
    idle(&served, NEWCOMER, 10).await;
    assert_eq!(count_served(&mut of_proxy).await, 20);
    assert_eq!(count_served(&mut of_this_machine).await, 5);
}

#[tokio::test(start_paused = true)]
async fn the_fuller_the_server_the_sooner_idle_connections_are_closed() {
    let served = serve(up_to(40)).await;
    let clients = idle(&served, MANY, 39).await;
    // One of the ten last places is free: a tenth of 75 s.
    sleep(Duration::from_secs(7)).await;
    assert_eq!(served.open.get(), 39);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(served.open.get(), 38);
    sleep(Duration::from_secs(6)).await;
    assert_eq!(served.open.get(), 38);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(served.open.get(), 37);
    drop(clients);
}

#[tokio::test(start_paused = true)]
async fn connections_are_not_closed_early_while_a_quarter_is_free() {
    let served = serve(up_to(40)).await;
    let mut clients = idle(&served, MANY, 30).await;
    sleep(Duration::from_secs(70)).await;
    assert_eq!(count_served(&mut clients).await, 30);
    assert_eq!(served.open.closed_to_make_room(), 0);
}

#[tokio::test]
async fn heads_that_trickle_keep_nobody_out() {
    let served = serve(up_to(40)).await;
    let mut slow = Vec::new();
    for _ in 0..60 {
        let mut client = served.client_at(MANY).await;
        client.send("GET /hello HTTP/1.1\r\nx: ").await;
        slow.push(client);
    }
    idle(&served, NEWCOMER, 7).await;
}

#[tokio::test]
async fn bodies_that_do_not_arrive_keep_nobody_out_for_long() {
    let served = serve(up_to(40)).await;
    let mut slow = Vec::new();
    for _ in 0..40 {
        let mut client = served.client_at(MANY).await;
        let head = "POST /order HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n";
        client
            .send(format!("{head}Content-Length: 2\r\n\r\n{{"))
            .await;
        slow.push(client);
    }
    served.until_open(40).await;
    let started = Instant::now();
    let mut newcomer = served.client_at(NEWCOMER).await;
    assert!(newcomer.is_served().await);
    // Without others, a body has ten seconds.
    assert!(started.elapsed() < Duration::from_secs(5));

    let last = slow.last_mut().unwrap();
    last.send("}").await;
    assert_eq!(last.answer().await.status, 200);
}

/// Keeps a connection in a request's body forever: each segment ends one body and begins the next
/// request. Connects again when closed.
async fn send_one_body_after_the_other(address: SocketAddr, host: u8) {
    const PAUSE: Duration = Duration::from_millis(1_900);
    let head = post_json("/order", "{}");
    let head = head.strip_suffix("{}").unwrap();
    loop {
        let mut stream = connect(address, host).await;
        let mut segment = head.to_owned();
        let mut answer = [0; 4096];
        while stream.write_all(segment.as_bytes()).await.is_ok() {
            segment = format!("{{}}{head}");
            match timeout(PAUSE, stream.read(&mut answer)).await {
                Ok(Ok(1..)) => sleep(PAUSE).await,
                Ok(_) => break,
                Err(_) => {}
            }
        }
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn bodies_that_arrive_at_the_last_moment_keep_nobody_out() {
    let served = serve(up_to(40)).await;
    let mut few = idle(&served, FEW, 4).await;
    let tasks = Tasks::new();
    for _ in 0..40 {
        tasks.spawn(send_one_body_after_the_other(served.address, MANY));
    }
    // Their pattern goes on for a while, and the few are idle for long enough to be closed.
    sleep(Duration::from_secs(10)).await;
    for _ in 0..5 {
        let started = Instant::now();
        let mut newcomer = served.client_at(NEWCOMER).await;
        assert!(newcomer.is_served().await);
        assert!(
            started.elapsed() < Duration::from_secs(1),
            "{:?}",
            started.elapsed()
        );
    }
    assert_eq!(count_served(&mut few).await, 4);
}

#[tokio::test]
async fn one_address_may_be_held_to_a_number_of_connections() {
    let limits = Limits {
        connections_per_address: 3,
        ..Limits::default()
    };
    let served = serve(limits).await;
    let mut three = idle(&served, MANY, 3).await;
    let mut others = idle(&served, FEW, 3).await;
    let mut here = idle(&served, THIS_MACHINE, 5).await;
    let mut fourth = served.client_at(MANY).await;
    assert!(fourth.is_served().await);
    assert!(!three[0].is_served().await, "it was idle for longest");
    assert_eq!(count_served(&mut three[1..]).await, 2);
    assert_eq!(count_served(&mut others).await, 3);
    assert_eq!(count_served(&mut here).await, 5);
}

#[tokio::test]
async fn an_address_whose_connections_are_all_busy_has_the_next_one_closed() {
    let limits = Limits {
        connections_per_address: 2,
        ..Limits::default()
    };
    let served = serve(limits).await;
    let mut both = [busy(&served, MANY).await, busy(&served, MANY).await];
    let mut third = served.client_at(MANY).await;
    timeout(PATIENCE, third.ends()).await.unwrap();
    for client in &mut both {
        served.gate.leave.notify_one();
        assert_eq!(client.answer().await.body, "let go");
    }
}
