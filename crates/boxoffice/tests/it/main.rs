//! What the box office promises, told to both databases.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

/// Makes each story a test on SQLite and a test on PostgreSQL.
macro_rules! on_both {
    ($($(#[$about:meta])* $story:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                $(#[$about])*
                async fn $story() {
                    super::$story(&$crate::given::Given::on_sqlite().await).await;
                }
            )*
        }
        mod postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                $(#[$about])*
                async fn $story() {
                    super::$story(&$crate::given::Given::on_postgres().await).await;
                }
            )*
        }
    };
}

mod given;

mod business;
mod concerts;
mod constraints;
mod crowds;
mod holds;
mod http;
mod interruptions;
mod late;
mod limits;
mod opening;
mod outbox;
mod pages;
mod payment;
mod points;
mod turmoil;
