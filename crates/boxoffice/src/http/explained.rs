//! The explanation of every kind of problem that only this service answers with.

use ropeline_web::{Explained, IDEMPOTENCY_KEY_REUSED};

use super::error::{
    ALREADY_PAID, CONCERT_NOT_FOUND, DATE_NOT_FOUND, HOLD_COOLDOWN, HOLD_EXPIRED, HOLD_GIVEN_UP,
    HOLD_LIMIT, HOLD_RATE_LIMITED, INSUFFICIENT_POINTS, INVALID_AMOUNT, RESERVATION_NOT_FOUND,
    SEAT_NOT_FOUND, SEAT_TAKEN, TICKET_LIMIT, TOKEN_NOT_VERIFIED, USER_MISMATCH, USER_NOT_FOUND,
};

/// What each code means, for `/problems/{code}`.
pub const EXPLAINED: &[Explained] = &[
    Explained::new(
        &USER_MISMATCH,
        "The path names another user than the login does. Whether that user exists is not said.",
        "Ask with the user id that came with the login.",
    ),
    Explained::new(
        &TOKEN_NOT_VERIFIED,
        "A seat was asked for with a queue token that no login of the box office stands behind: an anonymous one, one \
         with a user id that was merely believed, or none while the gate lets everybody through.",
        "Log in, get a token at /user/{userId}/token/generate, and reserve with that one.",
    ),
    Explained::new(
        &USER_NOT_FOUND,
        "The login is good, and its user is not in the database.",
        "Make a user with POST /user.",
    ),
    Explained::new(
        &CONCERT_NOT_FOUND,
        "An operator changes a concert that does not exist, or adds a date to it.",
        "Check the concert id, or make the concert first.",
    ),
    Explained::new(
        &DATE_NOT_FOUND,
        "There is no date of this id.",
        "See /concert/dates for those there are.",
    ),
    Explained::new(
        &SEAT_NOT_FOUND,
        "There is no seat of this id.",
        "See /concert/{concertDateId}/seats for those there are.",
    ),
    Explained::new(
        &RESERVATION_NOT_FOUND,
        "There is no reservation of this id, or it is another user's: which of the two is not said.",
        "See /user/{userId}/reservations for those there are.",
    ),
    Explained::new(
        &SEAT_TAKEN,
        "Somebody holds this seat or has bought it.",
        "Choose another. A held seat may be free again when its hold ends.",
    ),
    Explained::new(
        &HOLD_LIMIT,
        "The user holds as many seats as one may at once.",
        "Pay for one of them or give one up.",
    ),
    Explained::new(
        &TICKET_LIMIT,
        "The user holds or has bought as many seats of this date as one user may.",
        "Give up a hold to choose another seat, or choose another date.",
    ),
    Explained::new(
        &HOLD_COOLDOWN,
        "The user's own hold on this seat ended without payment, and others have their chance first.",
        "Choose another seat, or try this one again after the seconds in Retry-After.",
    ),
    Explained::new(
        &HOLD_RATE_LIMITED,
        "The user has made as many holds as one user may within a minute.",
        "Try again after the seconds in Retry-After.",
    ),
    Explained::new(
        &HOLD_EXPIRED,
        "The hold ran out before it was paid, and it is too late to pay or the seat went to somebody else. No points \
         were taken.",
        "Choose a seat again.",
    ),
    Explained::new(
        &HOLD_GIVEN_UP,
        "The hold that is to be paid was given up by its user. No points were taken.",
        "Reserve the seat again, if it is free.",
    ),
    Explained::new(
        &ALREADY_PAID,
        "A reservation that is paid was to be given up.",
        "Nothing: what is paid stays.",
    ),
    Explained::new(
        &INSUFFICIENT_POINTS,
        "The balance is below the price of the seat. The hold stays as it was.",
        "Charge points, and pay while the hold lasts.",
    ),
    Explained::new(
        &INVALID_AMOUNT,
        "An amount or a price is not a whole number from 1 to 100000000, or the balance would exceed 1000000000000.",
        "Send a JSON integer: no fraction, no exponent, no text.",
    ),
    Explained::new(
        &IDEMPOTENCY_KEY_REUSED,
        "The Idempotency-Key belongs to another request of the same user.",
        "Use a new key for each request that is not a repetition.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::CATALOGUE;

    #[test]
    fn every_kind_is_explained_once() {
        let mut expected = CATALOGUE.map(|kind| kind.code);
        let mut explained: Vec<_> = EXPLAINED.iter().map(|it| it.kind.code).collect();
        expected.sort_unstable();
        explained.sort_unstable();
        assert_eq!(explained, expected);
    }

    #[test]
    fn every_kind_is_explained_in_korean() {
        for it in EXPLAINED {
            let korean = it.words(ropeline_web::Language::Korean);
            assert!(
                korean.is_some(),
                "{} is not in problems.ko.toml",
                it.kind.code
            );
        }
    }

    #[test]
    fn explanations_are_sentences_that_html_takes_as_they_are() {
        for it in EXPLAINED {
            for text in [it.when, it.what_to_do] {
                assert!(
                    text.ends_with('.') && !text.contains(['<', '>', '&']),
                    "{text}"
                );
            }
        }
    }
}
