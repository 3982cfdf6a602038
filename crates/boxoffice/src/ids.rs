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
