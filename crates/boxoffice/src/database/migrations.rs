//! The tables, made and changed step by step.

use std::borrow::Cow;

use sqlx::{
    AnyPool,
    migrate::{MigrateError, Migration, MigrationType, Migrator},
};

use super::Dialect;

/// What each step is for, and how each database says it. A step that was released never changes.
macro_rules! steps {
    ($dialect:literal) => {
        [
            include_str!(concat!("../../migrations/", $dialect, "/0001_points.sql")),
            include_str!(concat!("../../migrations/", $dialect, "/0002_concerts.sql")),
            include_str!(concat!(
                "../../migrations/",
                $dialect,
                "/0003_reservations.sql"
            )),
            include_str!(concat!("../../migrations/", $dialect, "/0004_promises.sql")),
            include_str!(concat!("../../migrations/", $dialect, "/0005_secrets.sql")),
            include_str!(concat!("../../migrations/", $dialect, "/0006_venues.sql")),
            include_str!(concat!("../../migrations/", $dialect, "/0007_limits.sql")),
        ]
    };
}

const NAMES: [&str; 7] = [
    "points",
    "concerts",
    "reservations",
    "promises",
    "secrets",
    "venues",
    "limits",
];
const SQLITE: [&str; 7] = steps!("sqlite");
const POSTGRES: [&str; 7] = steps!("postgres");

/// Takes the steps that this database has not taken. Of several that start at once, one takes them
/// and the others wait.
pub(super) async fn run(dialect: Dialect, pool: &AnyPool) -> Result<(), MigrateError> {
    let migrator = migrator(dialect);
    // `run_direct` is `run` with a future that can move between threads.
    match dialect {
        // sqlx holds an advisory lock meanwhile.
        Dialect::Postgres => migrator.run_direct(&mut *pool.acquire().await?).await,
        Dialect::Sqlite => {
            let mut locked = pool.begin_with(dialect.begin()).await?;
            migrator.run_direct(&mut *locked).await?;
            Ok(locked.commit().await?)
        }
    }
}

fn migrator(dialect: Dialect) -> Migrator {
    let steps = match dialect {
        Dialect::Sqlite => SQLITE,
        Dialect::Postgres => POSTGRES,
    };
    let migrations = (1..).zip(NAMES).zip(steps).map(|((version, name), sql)| {
        let kind = MigrationType::Simple;
        Migration::new(
            version,
            Cow::Borrowed(name),
            kind,
            Cow::Borrowed(sql),
            false,
        )
    });
    Migrator {
        migrations: migrations.collect(),
        ..Migrator::DEFAULT
    }
}
