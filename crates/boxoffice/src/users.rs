//! Users, each with an account of points.

use ropeline_core::Timestamp;
use sqlx::{query, query_as, query_scalar};

use crate::{
    BoxOffice, Error, Points, Refusal, UserId,
    database::{Session, Work},
};

/// Who a user is, and what they have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Whose it is.
    pub user: UserId,
    /// As they gave it.
    pub name: String,
    /// The points that they have.
    pub balance: Points,
}

/// As the database has it.
const NAME_CHARS_MAX: usize = 100;

impl BoxOffice {
    /// Makes a user with an empty account.
    pub async fn create_user(&self, name: &str, now: Timestamp) -> Result<UserId, Error> {
        let name = name.trim();
        if name.is_empty() || name.contains('\0') || name.chars().count() > NAME_CHARS_MAX {
            return Err(Refusal::InvalidName.into());
        }
        let name = name.to_owned();
        self.database.write(CreateUser { name }, now).await
    }

    /// Who a user is, and what they have.
    pub async fn account(&self, user: UserId) -> Result<Account, Error> {
        let row = query_as(
            "SELECT u.name, a.balance FROM users u JOIN accounts a ON a.user_id = u.id \
             WHERE u.id = $1",
        )
        .bind(user.0)
        .fetch_optional(self.database.reader())
        .await?;
        let (name, balance): (String, i64) = row.ok_or(Refusal::UserNotFound)?;
        Ok(Account {
            user,
            name,
            balance: Points::stored(balance),
        })
    }

    /// The points that a user has.
    pub async fn balance(&self, user: UserId) -> Result<Points, Error> {
        let balance = query_scalar("SELECT balance FROM accounts WHERE user_id = $1")
            .bind(user.0)
            .fetch_optional(self.database.reader())
            .await?;
        let balance = balance.ok_or(Refusal::UserNotFound)?;
        Ok(Points::stored(balance))
    }
}

struct CreateUser {
    name: String,
}

impl Work for CreateUser {
    type Done = UserId;

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<UserId, Error> {
        let time = session.time();
        let now = time.sql("$2");
        let sql = format!("INSERT INTO users (name, created_at) VALUES ($1, {now}) RETURNING id");
        let id: i64 = query_scalar(&sql)
            .bind(&*self.name)
            .bind(time.bound())
            .fetch_one(session.connection())
            .await?;
        query("INSERT INTO accounts (kind, user_id, balance) VALUES ('USER', $1, 0)")
            .bind(id)
            .execute(session.connection())
            .await?;
        Ok(UserId(id))
    }
}
