//! Numbers that name things, each of a type of its own so that they cannot be mixed up.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// Someone who buys.
    UserId
);
id!(
    /// A concert.
    ConcertId
);
id!(
    /// One date of a concert.
    DateId
);
id!(
    /// One seat on one date.
    SeatId
);
id!(
    /// A hold or a booking.
    ReservationId
);
id!(
    /// A payment.
    PaymentId
);
id!(
    /// Word that the waiting room is owed.
    OutboxId
);

impl UserId {
    /// The user whom a login or a queue token names. Only the way in which we write an id is taken, so that
    /// no two names stand for one user.
    pub fn named(text: &str) -> Option<Self> {
        let id = text.parse().ok().map(Self)?;
        (id.to_string() == text).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_one_name() {
        assert_eq!(UserId::named("42"), Some(UserId(42)));
        for other in [
            "",
            "042",
            "+42",
            " 42",
            "42.0",
            "kim",
            "9223372036854775808",
        ] {
            assert_eq!(UserId::named(other), None, "{other}");
        }
    }
}
