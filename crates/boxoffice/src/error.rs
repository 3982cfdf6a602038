//! Why something was not done.

use std::time::Duration;

use thiserror::Error;

use crate::database::is_away;

/// Why the box office did not do what it was asked.
///
/// Nothing was changed, except that after [`Error::Database`] this is not known, since the connection
/// may have been lost while committing: repeat the request with its idempotency key.
#[derive(Debug, Error)]
pub enum Error {
    /// A rule forbids it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database cannot be reached or did not carry it out.
    #[error("the database did not carry it out")]
    Database(#[from] sqlx::Error),
    /// The tables cannot be brought up to date.
    #[error("the tables cannot be brought up to date")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// The address names no database that the box office can use.
    #[error("`{0}` is neither sqlite:<file> nor postgres://…")]
    Address(Box<str>),
    /// The database holds something that the box office never writes.
    #[error("the database holds an unexpected {0}")]
    Unexpected(&'static str),
}

impl Error {
    /// Whether the database is away, as one that is stopped, full or locked is, and may be back soon. Anything
    /// else is a mistake of ours, which repeating does not mend.
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Database(error) if is_away(error))
    }
}

/// A rule that forbids what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum Refusal {
    /// There is no such user.
    #[error("there is no such user")]
    UserNotFound,
    /// There is no such concert.
    #[error("there is no such concert")]
    ConcertNotFound,
    /// There is no such date.
    #[error("there is no such date")]
    DateNotFound,
    /// There is no such seat.
    #[error("there is no such seat")]
    SeatNotFound,
    /// There is no such reservation, or it is another's: which of the two is not said.
    #[error("there is no such reservation")]
    ReservationNotFound,
    /// Somebody holds or has bought the seat.
    #[error("the seat is taken")]
    SeatTaken,
    /// The user has as many live holds as are allowed.
    #[error("no more seats can be held at once")]
    HoldLimit,
    /// The user has as many seats of the date as are allowed, live holds and bought seats together.
    #[error("no more seats of this date can be held or bought")]
    TicketLimit,
    /// The user's own hold on the seat ended without payment, and others have their chance first.
    #[error("the seat cannot be held again yet")]
    HoldCooldown {
        /// Until the user can hold it again.
        left: Duration,
    },
    /// The user has made as many holds within a minute as are allowed.
    #[error("too many holds within a minute")]
    HoldRateLimited {
        /// Until the user can make another.
        left: Duration,
    },
    /// The hold ran out, and the time to pay late is over or somebody else has the seat.
    #[error("the hold has expired")]
    HoldExpired,
    /// The hold was given up by its user.
    #[error("the hold was given up")]
    HoldGivenUp,
    /// The reservation is paid and can no longer be given up.
    #[error("the reservation is paid")]
    AlreadyPaid,
    /// The balance is below the price.
    #[error("not enough points")]
    InsufficientPoints,
    /// The amount is zero, negative or too large, or the balance would become so.
    #[error("the amount is out of range")]
    InvalidAmount,
    /// A name or title is empty or too long.
    #[error("a name is empty or too long")]
    InvalidName,
    /// A time zone is none of the IANA database.
    #[error("there is no such time zone")]
    InvalidZone,
    /// A layout has no seats, too many, or a number twice.
    #[error("the seats do not make a layout")]
    InvalidSeats,
    /// The key was used for another request.
    #[error("the idempotency key was used for another request")]
    IdempotencyKeyReused,
}
