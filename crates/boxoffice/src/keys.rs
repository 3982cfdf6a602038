//! The same answer to a request that is sent again.
//!
//! A key belongs to the user who sent it. It is looked up under the user's lock and kept in the
//! transaction of what it was for, so that of two requests at once the second waits and is given the
//! answer of the first. A refusal changes nothing and is not kept: sent again, it is judged again.

use ropeline_core::Timestamp;
use ropeline_web::IdempotencyKey;
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use sqlx::{query, query_as};

use crate::{Error, Refusal, UserId, database::Session, time::millis};

/// A request that can be sent again: whose it is, under which key if any, and what it asks for.
#[derive(Debug)]
pub(crate) struct Repeatable {
    user: UserId,
    key: Option<IdempotencyKey>,
    digest: Vec<u8>,
}

impl Repeatable {
    /// `asks` tells one request from another.
    pub(crate) fn new(user: UserId, key: Option<&IdempotencyKey>, asks: &str) -> Self {
        let key = key.cloned();
        let digest = Sha256::digest(asks).to_vec();
        Self { user, key, digest }
    }

    /// The answer that the request was given before.
    pub(crate) async fn recall<A: DeserializeOwned>(
        &self,
        session: &mut Session<'_>,
    ) -> Result<Option<A>, Error> {
        let Some(key) = &self.key else {
            return Ok(None);
        };
        let kept: Option<(Vec<u8>, String)> = query_as(
            "SELECT digest, answer FROM idempotency_keys WHERE user_id = $1 AND idempotency_key = $2",
        )
        .bind(self.user.0)
        .bind(key.as_str())
        .fetch_optional(session.connection())
        .await?;
        match kept {
            None => Ok(None),
            Some((digest, _)) if digest != self.digest => Err(Refusal::IdempotencyKeyReused.into()),
            Some((_, answer)) => {
                let answer = serde_json::from_str(&answer);
                answer.map(Some).map_err(|_| Error::Unexpected("answer"))
            }
        }
    }

    /// Keeps the answer for the next time.
    pub(crate) async fn remember<A: Serialize>(
        &self,
        session: &mut Session<'_>,
        answer: &A,
        now: Timestamp,
    ) -> Result<(), Error> {
        let Some(key) = &self.key else {
            return Ok(());
        };
        let answer = serde_json::to_string(answer).expect("an answer is plain data");
        query(
            "INSERT INTO idempotency_keys (user_id, idempotency_key, digest, answer, created_at) \
             VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(self.user.0)
        .bind(key.as_str())
        .bind(&self.digest[..])
        .bind(answer)
        .bind(millis(now))
        .execute(session.connection())
        .await?;
        Ok(())
    }
}

/// Forgets keys that nobody sends any more.
pub(crate) async fn forget(session: &mut Session<'_>, before: Timestamp) -> Result<u64, Error> {
    let forgotten = query("DELETE FROM idempotency_keys WHERE created_at < $1")
        .bind(millis(before))
        .execute(session.connection())
        .await?;
    Ok(forgotten.rows_affected())
}
