//! A server on a port of its own, and a client that sends exactly what it is told.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::{ConnectInfo, FromRequest, Request},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use ropeline_web::{
    EventLoops, Json, Kind, Limits, Observe, OpenConnections, Path, Problem, Query, Report,
    RequestId, Server, Shortcut, Shortly, Tasks, Verbatim,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::Notify,
    task::JoinHandle,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

/// Nothing here takes this long unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A limit short enough to wait for.
pub(crate) const SHORT: Duration = Duration::from_millis(200);

const TOKEN_EXPIRED: Kind = Kind {
    code: "TOKEN_EXPIRED",
    status: StatusCode::UNAUTHORIZED,
    title: "Token expired",
};

pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) open: OpenConnections,
    pub(crate) gate: Arc<Gate>,
    pub(crate) statuses: Arc<Mutex<Vec<u16>>>,
    stop: CancellationToken,
    ended: JoinHandle<Report>,
}

/// Where the handler of `/held` waits, and says that it does.
#[derive(Default)]
pub(crate) struct Gate {
    pub(crate) entered: Notify,
    pub(crate) leave: Notify,
}

struct Statuses(Arc<Mutex<Vec<u16>>>);

impl Observe for Statuses {
    fn answered(&self, status: StatusCode, _: Duration) {
        self.0.lock().unwrap().push(status.as_u16());
    }
}

/// Answers below `/short/`, past the router.
struct Short;

impl Shortcut for Short {
    fn takes(&self, _: &Method, uri: &Uri, _: &HeaderMap) -> bool {
        uri.path().starts_with("/short/") && uri.path() != "/short/none"
    }

    fn answer(&self, request: Request, peer: SocketAddr) -> Shortly {
        match request.uri().path() {
            "/short/now" => Shortly::Now("now".into_response()),
            "/short/peer" => Shortly::Now(peer.to_string().into_response()),
            "/short/later" => Shortly::Later(Box::pin(async {
                tokio::task::yield_now().await;
                "later".into_response()
            })),
            "/short/order" => Shortly::Later(Box::pin(async {
                let order = Json::<Order>::from_request(request, &()).await;
                order.into_response()
            })),
            "/short/panic" => panic!("a secret"),
            _ => Shortly::Later(Box::pin(async { panic!("a secret") })),
        }
    }
}

impl Served {
    pub(crate) async fn new(limits: Limits) -> Self {
        Self::set_up(limits, |server| server).await
    }

    /// A server whose connections are served by event loops of their own.
    pub(crate) async fn by(loops: &Arc<EventLoops>) -> Self {
        let loops = Arc::clone(loops);
        Self::set_up(Limits::default(), |server| server.by(loops)).await
    }

    pub(crate) async fn set_up(limits: Limits, further: impl FnOnce(Server) -> Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let gate = Arc::<Gate>::default();
        let statuses = Arc::<Mutex<Vec<u16>>>::default();
        let server = Server::new(router(&gate), limits)
            .shortcut(Short)
            .observe(Statuses(Arc::clone(&statuses)));
        let server = further(server);
        let open = server.open_connections();
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let ended = Tasks::new().spawn(server.serve(listener, stopped));
        Self {
            address,
            open,
            gate,
            statuses,
            stop,
            ended,
        }
    }

    pub(crate) async fn client(&self) -> Client {
        let stream = TcpStream::connect(self.address).await.unwrap();
        Client {
            stream,
            unread: Vec::new(),
        }
    }

    /// A client whose address is 127.0.0.`host`.
    pub(crate) async fn client_at(&self, host: u8) -> Client {
        Client {
            stream: connect(self.address, host).await,
            unread: Vec::new(),
        }
    }

    /// One request on a connection of its own.
    pub(crate) async fn ask(&self, request: &str) -> Answer {
        let mut client = self.client().await;
        client.send(request).await;
        client.answer().await
    }

    /// Waits until `count` connections are open.
    pub(crate) async fn until_open(&self, count: usize) {
        let started = Instant::now();
        while self.open.get() != count {
            assert!(
                started.elapsed() < PATIENCE,
                "{} open, not {count}",
                self.open.get()
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub(crate) fn begin_stop(&self) {
        self.stop.cancel();
    }

    pub(crate) async fn stopped(self) -> Report {
        self.begin_stop();
        timeout(PATIENCE, self.ended)
            .await
            .expect("the server stops")
            .unwrap()
    }

    /// Stops accepting, and leaves the connections to whoever serves them.
    pub(crate) async fn abandon(self) {
        self.ended.abort();
        self.ended.await.ok();
    }
}

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1);
        let mut headers = lines.filter_map(|line| line.split_once(": "));
        headers
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Checks that this is a problem with `status`, and gives its detail.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{self:?}"
        );
        let document = self.json();
        assert_eq!(document["status"], status);
        assert_eq!(document["requestId"].as_str(), self.header("x-request-id"));
        document["detail"].as_str().unwrap().to_owned()
    }
}

impl Client {
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Sends what the server may refuse to read to its end.
    pub(crate) async fn try_send(&mut self, bytes: &[u8]) {
        timeout(PATIENCE, self.stream.write_all(bytes))
            .await
            .unwrap()
            .ok();
    }

    pub(crate) async fn answer(&mut self) -> Answer {
        self.answer_to("GET").await
    }

    pub(crate) async fn answer_to(&mut self, method: &str) -> Answer {
        let end = self
            .until(|unread| find(unread, b"\r\n\r\n").map(|at| at + 4))
            .await;
        let head = String::from_utf8(self.unread.drain(..end).collect()).unwrap();
        let status = head[9..12].parse().unwrap();
        let mut answer = Answer {
            status,
            head,
            body: String::new(),
        };
        let length = answer
            .header("content-length")
            .map_or(0, |value| value.parse().unwrap());
        if method != "HEAD" {
            self.until(|unread| (unread.len() >= length).then_some(length))
                .await;
            answer.body = String::from_utf8(self.unread.drain(..length).collect()).unwrap();
        }
        answer
    }

    /// Waits for the end of the connection; nothing more may come before it.
    pub(crate) async fn ends(&mut self) {
        let mut rest = Vec::new();
        let end = timeout(PATIENCE, self.stream.read_to_end(&mut rest)).await;
        end.expect("the server ends the connection").ok();
        assert_eq!(String::from_utf8_lossy(&self.unread), "");
        assert_eq!(String::from_utf8_lossy(&rest), "");
    }

    /// Whether the server keeps the connection, and answers on it.
    pub(crate) async fn is_served(&mut self) -> bool {
        let request = get_request("/hello");
        if self.stream.write_all(request.as_bytes()).await.is_err() {
            return false;
        }
        let mut first = [0];
        let peeked = timeout(PATIENCE, self.stream.peek(&mut first)).await;
        if !matches!(peeked.expect("the server answers or closes"), Ok(1)) {
            return false;
        }
        self.answer().await.body == "hello"
    }

    async fn until(&mut self, done: impl Fn(&[u8]) -> Option<usize>) -> usize {
        loop {
            if let Some(end) = done(&self.unread) {
                return end;
            }
            let read = timeout(PATIENCE, self.stream.read_buf(&mut self.unread));
            let read = read.await.expect("the server answers").unwrap();
            assert_ne!(
                read,
                0,
                "ended after {:?}",
                String::from_utf8_lossy(&self.unread)
            );
        }
    }
}

/// A connection to `address` from 127.0.0.`host`.
pub(crate) async fn connect(address: SocketAddr, host: u8) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, host], 0).into()).unwrap();
    let stream = timeout(PATIENCE, socket.connect(address)).await;
    stream.expect("the backlog has room").unwrap()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

pub(crate) fn get_request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n")
}

pub(crate) fn post_json(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Order {
    #[serde(default)]
    note: String,
    #[serde(default)]
    seats: Vec<Seat>,
    #[serde(default, skip_serializing)]
    #[expect(dead_code, reason = "parsed to be refused when too deep")]
    extra: Value,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Seat {
    row: u8,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Page {
    limit: u8,
}

fn router(gate: &Arc<Gate>) -> Router {
    let held = Arc::clone(gate);
    Router::new()
        .route("/hello", get(|| async { "hello" }))
        .route("/id", get(|id: RequestId| async move { id.to_string() }))
        .route(
            "/peer",
            get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() }),
        )
        .route(
            "/thread",
            get(|| async { format!("{:?}", std::thread::current().id()) }),
        )
        .route("/order", post(|order: Json<Order>| async move { order }))
        .route("/unread", post(|| async { "not read" }))
        .route("/refuse/{status}", post(refuse))
        .route(
            "/page",
            get(|Query(page): Query<Page>| async move { Json(page) }),
        )
        .route(
            "/rows/{row}",
            get(|Path(row): Path<u8>| async move { row.to_string() }),
        )
        .route("/expired", get(expired))
        .route("/panic", get(panics))
        .route(
            "/verbatim",
            get(|| async { (StatusCode::NOT_FOUND, axum::Extension(Verbatim), "as it is") }),
        )
        .route("/cached", get(cached))
        .route("/large", get(|| async { vec![b'x'; 64 * 1024 * 1024] }))
        .route(
            "/held",
            get(move || async move {
                held.entered.notify_one();
                held.leave.notified().await;
                "let go"
            }),
        )
}

/// Refuses a request without reading its body.
async fn refuse(Path(status): Path<u16>) -> StatusCode {
    StatusCode::from_u16(status).unwrap()
}

async fn expired() -> Problem {
    Problem::new(&TOKEN_EXPIRED, "This token has expired.")
        .error("token", "expired")
        .retry_after(Duration::from_millis(1_500))
        .with("position", 7)
}

async fn panics() -> Response {
    panic!("a secret of the handler")
}

async fn cached() -> Response {
    let mut response = "cached".into_response();
    response
        .headers_mut()
        .insert("cache-control", HeaderValue::from_static("max-age=60"));
    response
}
