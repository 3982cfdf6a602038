//! A way to Redis on which answers can be lost.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Passes everything on, except answers that it was told to swallow.
pub(super) struct Proxy {
    port: u16,
    swallow: Arc<AtomicBool>,
    _connections: JoinSet<()>,
}

impl Proxy {
    pub(super) async fn to(redis: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let swallow = Arc::new(AtomicBool::new(false));
        let mut connections = JoinSet::new();
        let swallowing = Arc::clone(&swallow);
        connections.spawn(async move {
            let mut each = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let swallow = Arc::clone(&swallowing);
                each.spawn(async move { pass_on(client, redis, &swallow).await });
            }
        });
        Self {
            port,
            swallow,
            _connections: connections,
        }
    }

    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(super) fn swallow_answers(&self) {
        self.swallow.store(true, Ordering::SeqCst);
    }

    pub(super) fn let_through(&self) {
        self.swallow.store(false, Ordering::SeqCst);
    }
}

async fn pass_on(client: TcpStream, redis: u16, swallow: &AtomicBool) {
    let server = TcpStream::connect(("127.0.0.1", redis)).await.unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let questions = async { tokio::io::copy(&mut from_client, &mut to_server).await.ok() };
    let answers = async {
        let mut buffer = vec![0; 65_536];
        // A connection that has lost an answer is of no use any more, as after a cut.
        let mut lost = false;
        while let Ok(length @ 1..) = from_server.read(&mut buffer).await {
            lost |= swallow.load(Ordering::SeqCst);
            if !lost && to_client.write_all(&buffer[..length]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        _ = questions => {}
        () = answers => {}
    }
}
