//! The load generator: a closed loop over connections that are kept alive.

use std::{
    net::SocketAddr,
    ops::Range,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use super::{client::Client, requests::Requests};
use crate::{
    Result,
    stats::{self, Tally},
};

/// Every connection sends its next request as soon as it has the answer to the last.
pub(crate) async fn run(
    address: SocketAddr,
    requests: &Requests,
    connections: usize,
    length: Duration,
) -> Result<Tally> {
    let clients = connect(address, connections).await?;
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for client in clients {
        tasks.spawn(ask_until(
            client,
            requests.clone(),
            started,
            started + length,
        ));
    }
    let mut waits = Vec::new();
    while let Some(done) = tasks.join_next().await {
        waits.append(&mut done??);
    }
    let elapsed = started.elapsed();
    Ok(Tally { waits, elapsed })
}

async fn ask_until(
    mut client: Client,
    mut requests: Requests,
    started: Instant,
    end: Instant,
) -> Result<Vec<u32>> {
    let mut waits = Vec::with_capacity(64 * 1024);
    let mut asked_at = started;
    while asked_at < end {
        client.ask(requests.draw()).await?;
        // One look at the clock per request: the end of one wait is the start of the next.
        let answered_at = Instant::now();
        waits.push(stats::micros(answered_at - asked_at));
        asked_at = answered_at;
    }
    Ok(waits)
}

/// Sends joins as fast as their answers come, and keeps the token of every so many.
#[derive(Debug)]
pub(crate) struct Filler {
    pub(crate) address: SocketAddr,
    pub(crate) joins: Requests,
    pub(crate) connections: usize,
    pub(crate) keep_every: u64,
}

impl Filler {
    /// The joins with these numbers, spread over the connections.
    pub(crate) async fn fill(&self, numbers: Range<u64>) -> Result<Vec<String>> {
        let clients = connect(self.address, self.connections).await?;
        let mut tasks = JoinSet::new();
        for (first, client) in (numbers.start..).zip(clients) {
            let numbers = (first..numbers.end).step_by(self.connections);
            tasks.spawn(join_all(
                client,
                self.joins.clone(),
                numbers,
                self.keep_every,
            ));
        }
        let mut tokens = Vec::new();
        while let Some(done) = tasks.join_next().await {
            tokens.append(&mut done??);
        }
        Ok(tokens)
    }
}

async fn join_all(
    mut client: Client,
    mut joins: Requests,
    numbers: impl Iterator<Item = u64>,
    keep_every: u64,
) -> Result<Vec<String>> {
    let mut tokens = Vec::new();
    for number in numbers {
        let place = client.ask(joins.nth(number)).await?;
        if number % keep_every == 0 {
            tokens.push(token(place)?);
        }
    }
    Ok(tokens)
}

async fn connect(address: SocketAddr, connections: usize) -> Result<Vec<Client>> {
    let mut clients = Vec::with_capacity(connections);
    for _ in 0..connections {
        clients.push(Client::connect(address).await?);
    }
    Ok(clients)
}

/// A token has no character that JSON would escape.
fn token(place: &[u8]) -> Result<String> {
    let place = str::from_utf8(place)?;
    let (_, rest) = place
        .split_once(r#""token":""#)
        .ok_or("a join without a token")?;
    let (token, _) = rest.split_once('"').ok_or("a token without an end")?;
    Ok(token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_found_in_the_place_view() {
        let found = token(br#"{"room":"main","token":"a.b.c","ordinal":1}"#).expect("it is there");
        assert_eq!(found, "a.b.c");
        assert!(token(br#"{"room":"main"}"#).is_err());
    }
}
