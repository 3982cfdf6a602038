//! A server that is this very program, in a process of its own, as the product is.

use std::{
    env,
    io::{self, BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    thread,
};

use axum::Router;
use tokio::{net::TcpListener, sync::oneshot};

use super::Target;
use crate::Result;

/// A yardstick that runs. It ends with the benchmark.
#[derive(Debug)]
pub(crate) struct OwnServer {
    child: Child,
    address: SocketAddr,
}

impl OwnServer {
    /// Starts this program with these arguments, which make it [`serve`].
    pub(crate) fn start(arguments: &[&str]) -> Result<Self> {
        let mut child = Command::new(env::current_exe()?)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the output was asked for")?;
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address)?;
        let address = address.trim().parse();
        let address = address.map_err(|_| format!("`{}` does not serve", arguments.join(" ")))?;
        Ok(Self { child, address })
    }

    pub(crate) fn target(&self) -> Target {
        Target::new(self.address, self.child.id())
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        // Closing its input ends it; see `serve`.
        drop(self.child.stdin.take());
        self.child.wait().ok();
    }
}

/// Serves until standard input is closed, so it never outlives the benchmark that started it.
pub(crate) async fn serve(router: Router) -> Result<()> {
    serve_by(|listener| async move { Ok(axum::serve(listener, router).await?) }).await
}

/// As [`serve`], with a loop of one's own that takes connections.
pub(crate) async fn serve_by<Taken>(take: impl FnOnce(TcpListener) -> Taken) -> Result<()>
where
    Taken: Future<Output = Result<()>>,
{
    let (closed, until_closed) = oneshot::channel();
    thread::spawn(move || {
        io::copy(&mut io::stdin(), &mut io::sink()).ok();
        closed.send(()).ok();
    });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    io::stdout().flush()?;
    tokio::select! {
        served = take(listener) => served,
        _ = until_closed => Ok(()),
    }
}
