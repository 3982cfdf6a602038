//! Many requests in one transaction, as on SQLite.
//!
//! SQLite has one writer, and waits for the disk at every commit. So whatever is asked for while a group is under way
//! makes up the next one and shares its commit. Each request has a savepoint of its own: one that fails is undone
//! alone and gets its own error. Nobody is answered before the commit, not even with a refusal, since a neighbour's
//! change may be the reason for it; if the commit fails, all are told so.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::Poll,
};

use sqlx::{Any, AnyConnection, AnyPool, Executor, pool::PoolConnection};
use tokio::{
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};

use super::{
    ACQUIRE_TIMEOUT, Dialect, Now, Session, Work,
    alone::{ATTEMPTS_MAX, pause},
    is_away,
};
use crate::Error;

/// The first of a group waits for the last, so it is no larger than some milliseconds' work.
const GROUP_MAX: usize = 32;

const SAVE: &str = "RELEASE request; SAVEPOINT request";
const UNDO: &str = "ROLLBACK TO request";

/// Where requests line up for the writer.
#[derive(Clone)]
pub(super) struct Line(mpsc::Sender<Box<dyn Request>>);

/// What has lined up.
pub(super) struct Waiting(mpsc::Receiver<Box<dyn Request>>);

/// A line, and its other end for the [`Writer`].
pub(super) fn line() -> (Line, Waiting) {
    let (line, waiting) = mpsc::channel(GROUP_MAX);
    (Line(line), Waiting(waiting))
}

impl Line {
    /// Has `work` carried out in the next group. Of a caller who goes away before the commit, nothing is done.
    pub(super) async fn write<W: Work>(&self, work: W, time: Now) -> Result<W::Done, Error> {
        let (answer, answered) = oneshot::channel();
        let request = Box::new(Asked {
            work,
            time,
            answer,
            outcome: None,
        });
        let lined_up = timeout(ACQUIRE_TIMEOUT, self.0.send(request)).await;
        lined_up
            .map_err(|_| sqlx::Error::PoolTimedOut)?
            .map_err(|_| sqlx::Error::WorkerCrashed)?;
        answered
            .await
            .unwrap_or(Err(sqlx::Error::WorkerCrashed.into()))
    }
}

/// What becomes of a request's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Stay,
    Undo,
}

/// A request in line, whatever it asks for.
trait Request: Send {
    /// Carries it out and keeps what there is to answer.
    fn carry_out<'a>(
        &'a mut self,
        connection: &'a mut AnyConnection,
    ) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;

    /// Answers it, with the error if the group was not committed.
    fn answer(self: Box<Self>, undone: Option<sqlx::Error>);
}

struct Asked<W: Work> {
    work: W,
    time: Now,
    answer: oneshot::Sender<Result<W::Done, Error>>,
    outcome: Option<Result<W::Done, Error>>,
}

impl<W: Work> Request for Asked<W> {
    fn carry_out<'a>(
        &'a mut self,
        connection: &'a mut AnyConnection,
    ) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        Box::pin(async move {
            if !self.answer.is_closed() {
                let mut session = Session::on(connection, self.time);
                self.outcome = unless_it_panics(self.work.carry_out(&mut session)).await;
            }
            match self.outcome {
                Some(Ok(_)) if !self.answer.is_closed() => Verdict::Stay,
                _ => Verdict::Undo,
            }
        })
    }

    fn answer(self: Box<Self>, undone: Option<sqlx::Error>) {
        let outcome = match (self.outcome, undone) {
            // Its own error says more than that of the group.
            (Some(Err(Error::Database(own))), _) => Some(Err(own.into())),
            (_, Some(undone)) => Some(Err(undone.into())),
            (outcome, None) => outcome,
        };
        if let Some(outcome) = outcome {
            // Whoever has gone away is told nothing.
            self.answer.send(outcome).ok();
        }
    }
}

/// One request's mistake must not take the writer from all others. A future that panicked is not polled again.
async fn unless_it_panics<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        polled.map_or(Poll::Ready(None), |polled| polled.map(Some))
    })
    .await
}

/// Carries out groups, one after the other.
pub(super) struct Writer {
    pub(super) pool: AnyPool,
    pub(super) dialect: Dialect,
    pub(super) waiting: Waiting,
}

impl Writer {
    /// Goes on until nobody can line up any more.
    pub(super) async fn run(mut self) {
        while let Some(first) = self.waiting.0.recv().await {
            let mut group = vec![first];
            let committed = self.carry_out(&mut group).await;
            for request in group {
                request.answer(committed.as_ref().err().map(retold));
            }
        }
    }

    /// Carries out the group, with whatever lines up meanwhile.
    async fn carry_out(&mut self, group: &mut Vec<Box<dyn Request>>) -> Result<(), sqlx::Error> {
        let mut connection = self.begin().await?;
        let ended = self.until_commit(&mut connection, group).await;
        if ended.is_err() {
            // What is left of the transaction goes with the connection; the pool makes another.
            connection.close().await.ok();
        }
        ended
    }

    async fn until_commit(
        &mut self,
        connection: &mut AnyConnection,
        group: &mut Vec<Box<dyn Request>>,
    ) -> Result<(), sqlx::Error> {
        let mut next = 0;
        while let Some(request) = group.get_mut(next) {
            next += 1;
            let verdict = request.carry_out(connection).await;
            if next == group.len() && next < GROUP_MAX {
                group.extend(self.waiting.0.try_recv());
            }
            if verdict == Verdict::Undo {
                connection.execute(UNDO).await?;
            } else if next < group.len() {
                connection.execute(SAVE).await?;
            }
        }
        connection.execute("COMMIT").await.map(drop)
    }

    /// Begins a transaction with the savepoint of the first request. Another process may be in the way for a while.
    async fn begin(&self) -> Result<PoolConnection<Any>, sqlx::Error> {
        let mut attempt = 1;
        loop {
            let mut connection = self.pool.acquire().await?;
            let begin = self.dialect.begin();
            let begun = connection
                .execute(&*format!("{begin}; SAVEPOINT request"))
                .await;
            let Err(error) = begun else {
                return Ok(connection);
            };
            connection.close().await.ok();
            if attempt == ATTEMPTS_MAX {
                return Err(error);
            }
            sleep(pause(attempt)).await;
            attempt += 1;
        }
    }
}

/// One error for many: as away as it is, and with its words.
fn retold(error: &sqlx::Error) -> sqlx::Error {
    if is_away(error) {
        sqlx::Error::Io(std::io::Error::other(error.to_string()))
    } else {
        sqlx::Error::Protocol(error.to_string())
    }
}

#[cfg(test)]
mod tests;
