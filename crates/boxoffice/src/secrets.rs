//! What all who sell from one database must know alike.

use ropeline_core::Timestamp;
use sqlx::{query, query_scalar};

use crate::{
    BoxOffice, Error,
    database::{Session, Work},
    time::millis,
};

impl BoxOffice {
    /// The secret that logins are signed with, the same for all who sell from this database. The first to ask has it
    /// drawn, and that one stays.
    pub async fn login_secret(&self, now: Timestamp) -> Result<[u8; 32], Error> {
        let mut drawn = [0; 32];
        getrandom::fill(&mut drawn).map_err(|_| Error::Unexpected("lack of random numbers"))?;
        self.database.write(LoginSecret { drawn }, now).await
    }
}

struct LoginSecret {
    drawn: [u8; 32],
}

impl Work for LoginSecret {
    type Done = [u8; 32];

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<[u8; 32], Error> {
        let now = session.now().await?;
        let sql = "INSERT INTO secrets (name, value, created_at) VALUES ('login', $1, $2) \
                   ON CONFLICT DO NOTHING";
        query(sql)
            .bind(self.drawn.as_slice())
            .bind(millis(now))
            .execute(session.connection())
            .await?;
        let kept: Vec<u8> = query_scalar("SELECT value FROM secrets WHERE name = 'login'")
            .fetch_one(session.connection())
            .await?;
        kept.try_into().map_err(|_| Error::Unexpected("secret"))
    }
}
