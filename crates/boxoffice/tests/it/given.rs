//! A box office of the test's own, and what happens in it.

use std::{
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use ropeline_boxoffice::{
    BoxOffice, ConcertDraft, ConcertId, Database, DatabaseTime, Error, Name, PassHeld, Points,
    Refusal, Rules, SeatDraft, SeatId, UserId,
};
use ropeline_core::{Ordinal, RoomId, Timestamp, Visitor};
use ropeline_testing::TestPostgres;
use sqlx::{AnyPool, any::AnyPoolOptions};
use tempfile::TempDir;
use tokio::task::JoinSet;

pub(crate) const NOW: Timestamp = Timestamp(1_800_000_000_000);
pub(crate) const PRICE: i64 = 50_000;
/// What has not happened by now does not happen. A disk that others write to has taken 20 s for one commit.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often [`Given::until`] looks: without a pause it would take a processor from what it waits for.
const LOOK: Duration = Duration::from_millis(10);

/// A box office on a database that nobody else uses.
pub(crate) struct Given {
    pub(crate) office: BoxOffice,
    pub(crate) database: Database,
    pub(crate) url: String,
    time: DatabaseTime,
    /// The test's own way in, past the box office.
    sql: AnyPool,
    _database: Backing,
}

#[expect(dead_code, reason = "what is held here lasts as long as the test")]
enum Backing {
    File(TempDir),
    Server(Arc<TestPostgres>),
}

impl Given {
    pub(crate) async fn on_sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("box.db").display());
        Self::at(url, DatabaseTime::Own, Backing::File(directory)).await
    }

    /// On a PostgreSQL with the time that each call is given.
    pub(crate) async fn on_postgres() -> Self {
        Self::on_postgres_with(DatabaseTime::Given).await
    }

    /// On a PostgreSQL with its own time, as in production.
    pub(crate) async fn on_postgres_time() -> Self {
        Self::on_postgres_with(DatabaseTime::Own).await
    }

    async fn on_postgres_with(time: DatabaseTime) -> Self {
        static DATABASES: AtomicU32 = AtomicU32::new(0);
        let server = shared_server();
        let name = format!("box{}", DATABASES.fetch_add(1, Relaxed));
        server.execute("postgres", &format!("CREATE DATABASE {name}"));
        Self::at(server.url(&name), time, Backing::Server(server)).await
    }

    async fn at(url: String, time: DatabaseTime, database: Backing) -> Self {
        let opened = Database::open_with(&url, time).await.unwrap();
        let sql = AnyPoolOptions::new().max_connections(1).connect(&url);
        Self {
            office: BoxOffice::new(opened.clone(), Rules::default()),
            database: opened,
            sql: sql.await.unwrap(),
            url,
            time,
            _database: database,
        }
    }

    /// The same database, sold from by other rules.
    pub(crate) async fn another_office(&self, rules: Rules) -> BoxOffice {
        let opened = Database::open_with(&self.url, self.time).await;
        BoxOffice::new(opened.unwrap(), rules)
    }

    pub(crate) async fn user(&self) -> UserId {
        self.office.create_user("Kim", NOW).await.unwrap()
    }

    pub(crate) async fn user_with(&self, points: i64) -> UserId {
        let user = self.user().await;
        let amount = Points::amount(points).unwrap();
        self.office.charge(user, amount, None, NOW).await.unwrap();
        user
    }

    /// Many users in one statement, each with so many points; a commit for each would take minutes.
    pub(crate) async fn users_with(&self, points: i64, count: i64) -> Vec<UserId> {
        let numbers = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
        );
        let made = NOW.0;
        self.try_sql(&format!(
            "INSERT INTO users (name, created_at) {numbers} SELECT 'crowd', {made} FROM n"
        ))
        .await
        .unwrap();
        self.try_sql(&format!(
            "INSERT INTO accounts (kind, user_id, balance) \
             SELECT 'USER', id, {points} FROM users WHERE name = 'crowd'"
        ))
        .await
        .unwrap();
        self.try_sql(&format!(
            "INSERT INTO transfers (debit_account, credit_account, amount, reason, made_at) \
             SELECT h.id, a.id, {points}, 'CHARGE', {made} FROM accounts h, accounts a \
             JOIN users u ON u.id = a.user_id WHERE h.kind = 'CHARGES' AND u.name = 'crowd'"
        ))
        .await
        .unwrap();
        let ids = sqlx::query_scalar("SELECT id FROM users WHERE name = 'crowd' ORDER BY id");
        let ids: Vec<i64> = ids.fetch_all(&self.sql).await.unwrap();
        ids.into_iter().map(UserId).collect()
    }

    pub(crate) async fn concert(&self) -> ConcertId {
        let draft = ConcertDraft::titled(Name::parse("A concert").unwrap());
        self.office.create_concert(&draft, NOW).await.unwrap().id
    }

    /// Seats of a new date, at [`PRICE`] each.
    pub(crate) async fn seats(&self, count: u32) -> Vec<SeatId> {
        let price = Points::amount(PRICE).unwrap();
        let seats: Vec<_> = (1..=count)
            .map(|number| SeatDraft { number, price })
            .collect();
        let concert = self.concert().await;
        let date = self
            .office
            .create_date(concert, NOW, &seats, NOW)
            .await
            .unwrap();
        let seats = self.office.seats(date, NOW).await.unwrap();
        seats.into_iter().map(|seat| seat.id).collect()
    }

    pub(crate) async fn seat(&self) -> SeatId {
        self.seats(1).await[0]
    }

    /// Says something to the database that the box office would not.
    pub(crate) async fn try_sql(&self, statement: &str) -> Result<u64, sqlx::Error> {
        let done = sqlx::query(statement).execute(&self.sql).await?;
        Ok(done.rows_affected())
    }

    pub(crate) async fn count(&self, table_and_condition: &str) -> i64 {
        let sql = format!("SELECT COUNT(*) FROM {table_and_condition}");
        sqlx::query_scalar(&sql).fetch_one(&self.sql).await.unwrap()
    }

    /// What the clock of PostgreSQL shows.
    pub(crate) async fn database_time(&self) -> Timestamp {
        let sql = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
        let ms: i64 = sqlx::query_scalar(sql).fetch_one(&self.sql).await.unwrap();
        Timestamp(u64::try_from(ms).unwrap())
    }

    /// Makes every hold look as if it had been made earlier. Nobody can move the clock of a PostgreSQL.
    pub(crate) async fn age_holds(&self, by: Duration) {
        let ms = by.as_millis();
        let sql = format!(
            "UPDATE reservations SET held_at = held_at - {ms}, hold_until = hold_until - {ms}"
        );
        self.try_sql(&sql).await.unwrap();
    }

    /// Waits until there is such a row, but not for ever.
    pub(crate) async fn until(&self, table_and_condition: &str) {
        let there = async {
            while self.count(table_and_condition).await == 0 {
                tokio::time::sleep(LOOK).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, there).await;
        waited.unwrap_or_else(|_| panic!("never in {table_and_condition}"));
    }

    pub(crate) async fn assert_books_right(&self) {
        let books = self.office.books().await.unwrap();
        assert!(books.are_right(), "{books:?}");
    }
}

/// A pass, told from others by its ordinal.
pub(crate) fn pass(ordinal: u64) -> PassHeld {
    PassHeld {
        room: RoomId::main(),
        visitor: Visitor::parse("v:42").unwrap(),
        ordinal: Ordinal(ordinal),
    }
}

/// Runs all of them side by side.
pub(crate) async fn at_once<F>(clients: impl IntoIterator<Item = F>) -> Vec<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    clients.into_iter().collect::<JoinSet<_>>().join_all().await
}

/// The rule that forbade it; any other failure fails the test.
pub(crate) fn refusal<T: std::fmt::Debug>(outcome: Result<T, Error>) -> Refusal {
    match outcome {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// How many were done; the others must have been refused for this reason.
pub(crate) fn done<T: std::fmt::Debug>(
    outcomes: Vec<Result<T, Error>>,
    why_not: Refusal,
) -> Vec<T> {
    let mut done = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(answer) => done.push(answer),
            refused => assert_eq!(refusal(refused), why_not),
        }
    }
    done
}

/// One server for the tests that run at the same time, stopped with the last of them.
fn shared_server() -> Arc<TestPostgres> {
    static SERVER: Mutex<Weak<TestPostgres>> = Mutex::new(Weak::new());
    let mut shared = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let server = Arc::new(TestPostgres::start());
        *shared = Arc::downgrade(&server);
        server
    })
}
