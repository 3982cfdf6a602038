//! About the least that joins take with hyper: hyper on an event loop for each processor, as the product has them, the joins of
//! each loop written together, and the same answer for everybody, as long as the product's.
//!
//! It is no design of the seeds either, and nobody's queue: there is no token, no cap and no place in it. What the product
//! takes beyond this is the price of all that it does.

use std::{net::TcpStream as StdStream, thread};

use axum::{
    body::Bytes,
    http::{Response, StatusCode, header::CONTENT_TYPE},
};
use http_body_util::{BodyExt, Full};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Builder,
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
};

use super::{
    super::{child, hello},
    api::{Design as _, Join},
    together::Together,
};
use crate::Result;

/// Serves joins and nothing else.
pub(super) async fn serve(store: &str) -> Result<()> {
    let processors = thread::available_parallelism()?.get();
    let loops: Vec<_> = (0..processors).map(|_| start(store.to_owned())).collect();
    child::serve_by(|listener| deal(listener, loops)).await
}

/// Each connection goes to the next loop.
async fn deal(listener: TcpListener, loops: Vec<UnboundedSender<StdStream>>) -> Result<()> {
    for next in loops.iter().cycle() {
        let (stream, _) = listener.accept().await?;
        next.send(stream.into_std()?)?;
    }
    Ok(())
}

/// Starts an event loop. It lets others go first before it sleeps, as those of the product do while they are busy.
fn start(store: String) -> UnboundedSender<StdStream> {
    let (dealt, streams) = mpsc::unbounded_channel();
    thread::spawn(move || {
        let mut runtime = Builder::new_current_thread();
        let runtime = runtime.enable_all().on_thread_park(thread::yield_now);
        let served = runtime.build().map_err(Into::into);
        let served = served.and_then(|runtime| runtime.block_on(answer_all(streams, &store)));
        if let Err(error) = served {
            eprintln!("an event loop ended: {error}");
        }
    });
    dealt
}

async fn answer_all(mut streams: UnboundedReceiver<StdStream>, store: &str) -> Result<()> {
    // How many are let in plays no part: nobody is told when the turn comes.
    let together = Together::open(store, 1).await?;
    let body = hello::body()?;
    while let Some(stream) = streams.recv().await {
        let stream = TcpStream::from_std(stream)?;
        tokio::spawn(answer(stream, together.clone(), body.clone()));
    }
    Ok(())
}

async fn answer(stream: TcpStream, together: Together, body: Bytes) {
    let service = service_fn(|request| join(request, together.clone(), body.clone()));
    // A client that breaks off is no concern of a yardstick.
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    connection.await.ok();
}

async fn join(
    request: Request<Incoming>,
    together: Together,
    body: Bytes,
) -> Result<Response<Full<Bytes>>> {
    let join = request.into_body().collect().await?.to_bytes();
    let Join { user_id } = serde_json::from_slice(&join)?;
    together
        .join(&user_id)
        .await
        .map_err(|broken| broken.to_string())?;
    let answer = Response::builder()
        .status(StatusCode::CREATED)
        .header(CONTENT_TYPE, "application/json");
    Ok(answer.body(Full::new(body))?)
}
