use std::sync::Arc;

use ropeline_core::Timestamp;
use sqlx::{query, query_scalar};
use tempfile::TempDir;
use tokio::{
    sync::{Notify, oneshot::error::TryRecvError},
    task::yield_now,
};

use super::*;
use crate::{BoxOffice, Database, IdempotencyKey, Points, Refusal, Rules, database::Writing};

const NOW: Timestamp = Timestamp(1_800_000_000_000);

/// Makes a user of this name, and then ends as it is told.
struct Make(&'static str, End);

#[derive(Clone)]
enum End {
    Well,
    Refused,
    /// The database judges.
    Broken,
    Panicked,
    /// Passes here, and makes the commit fail.
    OweAForeignKey,
    /// Not before it is told to.
    When(Arc<Notify>),
}

impl Work for Make {
    type Done = &'static str;

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<&'static str, Error> {
        query("INSERT INTO users (name, created_at) VALUES ($1, 1)")
            .bind(self.0)
            .execute(session.connection())
            .await?;
        let owe = "INSERT INTO reservations (seat_id, user_id, state, price, held_at, hold_until) \
                   VALUES (999, 999, 'HELD', 1, 1, 2)";
        match &self.1 {
            End::Well => {}
            End::Refused => return Err(Refusal::SeatTaken.into()),
            End::Broken => {
                session.connection().execute(owe).await?;
            }
            End::Panicked => panic!("a mistake of ours"),
            End::OweAForeignKey => {
                let later = "PRAGMA defer_foreign_keys = ON";
                session.connection().execute(later).await?;
                session.connection().execute(owe).await?;
            }
            End::When(told) => told.notified().await,
        }
        Ok(self.0)
    }
}

/// A database whose writer is held up by a first request, so that what is asked for next is one group with it.
struct HeldUp {
    database: Database,
    told: Arc<Notify>,
    first: Answer,
    _directory: TempDir,
}

type Answer = oneshot::Receiver<Result<&'static str, Error>>;

impl HeldUp {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("box.db").display());
        let database = Database::open(&url).await.unwrap();
        let told = Arc::new(Notify::new());
        let first = ask(&database, "first", End::When(Arc::clone(&told))).await;
        Self {
            database,
            told,
            first,
            _directory: directory,
        }
    }

    async fn ask(&self, name: &'static str, end: End) -> Answer {
        ask(&self.database, name, end).await
    }

    /// Who is there, as others see it.
    async fn names(&self) -> Vec<String> {
        let names = query_scalar("SELECT name FROM users ORDER BY id");
        names.fetch_all(self.database.reader()).await.unwrap()
    }
}

/// Lines up, and leaves the answer for later.
async fn ask(database: &Database, name: &'static str, end: End) -> Answer {
    let Writing::Together(line) = &database.writing else {
        panic!("on SQLite all write together");
    };
    let (answer, answered) = oneshot::channel();
    let request = Box::new(Asked {
        work: Make(name, end),
        time: database.now(NOW),
        answer,
        outcome: None,
    });
    line.0.send(request).await.ok().unwrap();
    answered
}

#[tokio::test]
async fn one_that_fails_does_not_harm_its_neighbours() {
    let held_up = HeldUp::new().await;
    let good = held_up.ask("good", End::Well).await;
    let refused = held_up.ask("refused", End::Refused).await;
    let better = held_up.ask("better", End::Well).await;
    let broken = held_up.ask("broken", End::Broken).await;
    let panicked = held_up.ask("panicked", End::Panicked).await;
    let best = held_up.ask("best", End::Well).await;
    held_up.told.notify_one();
    for (answer, name) in [(good, "good"), (better, "better"), (best, "best")] {
        assert_eq!(answer.await.unwrap().unwrap(), name);
    }
    let refused = refused.await.unwrap().unwrap_err();
    assert!(matches!(refused, Error::Refused(Refusal::SeatTaken)));
    let broken = broken.await.unwrap().unwrap_err();
    assert!(
        matches!(&broken, Error::Database(sqlx::Error::Database(judged)) if judged.is_foreign_key_violation()),
        "{broken:?}"
    );
    assert!(panicked.await.is_err());
    assert_eq!(held_up.names().await, ["first", "good", "better", "best"]);
}

#[tokio::test]
async fn nobody_is_answered_before_all_are_committed() {
    let held_up = HeldUp::new().await;
    let mut good = held_up.ask("good", End::Well).await;
    let mut refused = held_up.ask("refused", End::Refused).await;
    let told = Arc::new(Notify::new());
    let last = held_up.ask("last", End::When(Arc::clone(&told))).await;
    held_up.told.notify_one();
    // The line is empty once the last of them is being carried out.
    let Writing::Together(line) = &held_up.database.writing else {
        panic!("on SQLite all write together");
    };
    while line.0.capacity() < GROUP_MAX {
        yield_now().await;
    }
    assert!(matches!(good.try_recv(), Err(TryRecvError::Empty)));
    assert!(matches!(refused.try_recv(), Err(TryRecvError::Empty)));
    assert!(held_up.names().await.is_empty());
    told.notify_one();
    assert_eq!(good.await.unwrap().unwrap(), "good");
    assert!(refused.await.unwrap().is_err());
    assert_eq!(held_up.first.await.unwrap().unwrap(), "first");
    assert_eq!(last.await.unwrap().unwrap(), "last");
}

#[tokio::test]
async fn a_commit_that_fails_is_told_to_all_and_the_next_group_goes_on() {
    let held_up = HeldUp::new().await;
    let good = held_up.ask("good", End::Well).await;
    let refused = held_up.ask("refused", End::Refused).await;
    let owing = held_up.ask("owing", End::OweAForeignKey).await;
    held_up.told.notify_one();
    for answer in [good, refused, owing] {
        let told = answer.await.unwrap().unwrap_err();
        assert!(matches!(told, Error::Database(_)), "{told:?}");
    }
    let next = held_up.ask("next", End::Well).await;
    assert_eq!(next.await.unwrap().unwrap(), "next");
    assert_eq!(held_up.names().await, ["next"]);
}

#[tokio::test]
async fn nothing_is_done_for_one_who_has_gone_away() {
    let held_up = HeldUp::new().await;
    drop(held_up.ask("gone", End::Well).await);
    let good = held_up.ask("good", End::Well).await;
    held_up.told.notify_one();
    assert_eq!(good.await.unwrap().unwrap(), "good");
    assert_eq!(held_up.names().await, ["first", "good"]);
}

#[tokio::test]
async fn a_repeat_in_the_same_group_is_answered_like_the_first() {
    let held_up = HeldUp::new().await;
    let office = BoxOffice::new(held_up.database.clone(), Rules::default());
    let user = async {
        let user = office.create_user("Kim", NOW).await.unwrap();
        let (amount, key) = (Points::amount(5).unwrap(), IdempotencyKey::parse("once"));
        let key = key.unwrap();
        let told = Arc::new(Notify::new());
        let again = held_up.ask("again", End::When(Arc::clone(&told))).await;
        let charge = || office.charge(user, amount, Some(&key), NOW);
        let release = async {
            // Both charges are in line behind the one who holds it up.
            let Writing::Together(line) = &held_up.database.writing else {
                panic!("on SQLite all write together");
            };
            while line.0.capacity() > GROUP_MAX - 2 {
                yield_now().await;
            }
            told.notify_one();
        };
        let (one, other, ()) = tokio::join!(charge(), charge(), release);
        assert_eq!(one.unwrap(), other.unwrap());
        assert_eq!(again.await.unwrap().unwrap(), "again");
        user
    };
    held_up.told.notify_one();
    let user = user.await;
    assert_eq!(office.balance(user).await.unwrap().get(), 5);
    assert!(office.books().await.unwrap().are_right());
}
