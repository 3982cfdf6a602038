//! The box office over HTTP, behind the gate.
//!
//! [`Service`] answers the paths of the API and, beside them, does what is owed to the waiting room: it finishes the
//! passes of those who have paid, keeps those of holders, and says how many seats are left.

mod amount;
mod business;
mod error;
mod explained;
mod guard;
mod login;
mod openapi;
mod router;
mod service;
mod standalone;

mod admin;
mod concerts;
mod payment;
mod points;
mod reservations;
mod users;

mod work;

pub(crate) use error::ApiError;
pub use error::{
    ALREADY_PAID, CATALOGUE, CONCERT_NOT_FOUND, DATE_NOT_FOUND, HOLD_COOLDOWN, HOLD_EXPIRED,
    HOLD_GIVEN_UP, HOLD_LIMIT, HOLD_RATE_LIMITED, INSUFFICIENT_POINTS, INVALID_AMOUNT,
    RESERVATION_NOT_FOUND, SEAT_NOT_FOUND, SEAT_TAKEN, TICKET_LIMIT, TOKEN_NOT_VERIFIED,
    USER_MISMATCH, USER_NOT_FOUND,
};
pub use explained::EXPLAINED;
pub(crate) use guard::{Login, verified_user};
pub use login::{LOGIN_AUDIENCE, LOGIN_ISSUER, Logins};
pub use openapi::openapi;
pub use service::{Operators, Parts, Service};
pub use standalone::Standalone;
pub(crate) use users::{login_cookie, no_login_cookie};
