//! The explanation of every kind of problem.

use ropeline_web::{
    CROSS_SITE, Explained, INTERNAL, INVALID_REQUEST, METHOD_NOT_ALLOWED, MISDIRECTED_REQUEST,
    NOT_FOUND,
};

use crate::error::{
    DUPLICATED_TOKEN, LOGIN_INVALID, LOGIN_REQUIRED, NOT_ADMITTED, RATE_LIMITED, ROOM_CLOSED,
    ROOM_EXISTS, ROOM_FULL, ROOM_NOT_FOUND, ROOM_REQUIRED, SESSION_NOT_FOUND, STORE_UNAVAILABLE,
    TOKEN_EXPIRED, TOKEN_INVALID, TOKEN_NOT_FOUND, UNAUTHORIZED, VISITOR_NOT_FOUND,
};

/// Every kind that this server answers with.
pub const EXPLAINED: &[Explained] = &[
    Explained::new(
        &TOKEN_INVALID,
        "The request has no queue token, or one that is malformed, forged, too old, or of another room.",
        "Join the line. If you have joined, send the token in the header X-Queue-Token, or the cookie.",
    ),
    Explained::new(
        &TOKEN_EXPIRED,
        "The visitor was inside and is no longer. `reason` is EXPIRED (the pass ran out) or FINISHED; it is left out where it is not known.",
        "Join again for a new place.",
    ),
    Explained::new(
        &TOKEN_NOT_FOUND,
        "The place has ended before its turn. `reason` is LEFT, REMOVED or RESET (by an operator), or MISSED; it is left out where it is not known. At the gate the status is 401.",
        "Join again for a new place.",
    ),
    Explained::new(
        &NOT_ADMITTED,
        "The gate was asked about a visitor who is still waiting.",
        "Ask again after pollAfterMs milliseconds, or show the waiting page. The place is kept.",
    ),
    Explained::new(
        &DUPLICATED_TOKEN,
        "This user id was stated before and has a place in this room, and the request does not bring its token.",
        "Send the queue token of that place to go on with it, or wait until it has ended.",
    ),
    Explained::new(
        &ROOM_NOT_FOUND,
        "There is no room of this name.",
        "Check the field or parameter room; left out, it is main.",
    ),
    Explained::new(
        &ROOM_CLOSED,
        "The room takes nobody new. Those who are in line stay.",
        "Tell the visitor; there is nothing to repeat.",
    ),
    Explained::new(
        &ROOM_FULL,
        "As many are in line as the room's waiting_max allows.",
        "Try again after the seconds in Retry-After.",
    ),
    Explained::new(
        &STORE_UNAVAILABLE,
        "The store is away: the disk cannot be written, or Redis does not answer; or more waits for it \
         than it takes in. The request was not accepted, or that is not known.",
        "Repeat after the seconds in Retry-After, a join with the same Idempotency-Key.",
    ),
    Explained::new(
        &UNAUTHORIZED,
        "The key is missing or wrong: that of operators for the admin API, that of services for the service API.",
        "Send it as Authorization: Bearer, followed by the key.",
    ),
    Explained::new(
        &RATE_LIMITED,
        "The address of the request has asked too often: joins, requests of operators, or wrong keys.",
        "Try again after the seconds in Retry-After. If all visitors have one address here, the \
         operator has to name the proxy in trusted_proxies.",
    ),
    Explained::new(
        &INVALID_REQUEST,
        "Something about the request is not right: its head, path, query, headers or body. The status is \
         400, 408, 413, 415, 422 or 431.",
        "Read detail and errors, and send what they ask for. Repeating the same does not help.",
    ),
    Explained::new(
        &NOT_FOUND,
        "There is nothing at this address.",
        "Check the path.",
    ),
    Explained::new(
        &METHOD_NOT_ALLOWED,
        "The address does not take this method.",
        "Use one of those in the header Allow.",
    ),
    Explained::new(
        &CROSS_SITE,
        "A page of another site made the browser send a request that changes something.",
        "If the site is yours, list its origin in cors_origins, or set public_url where a proxy \
         changes the host. Programs send neither Origin nor Sec-Fetch-Site.",
    ),
    Explained::new(
        &MISDIRECTED_REQUEST,
        "The header Host names a host for which this server does not answer.",
        "Use the address of public_url. If the host is yours, list it in allowed_hosts; behind a proxy that \
         passes Host on, set public_url to the address that visitors use.",
    ),
    Explained::new(
        &INTERNAL,
        "The server failed. Its log has the cause under the requestId.",
        "Report it with the requestId. A request that changes nothing may be repeated.",
    ),
    Explained::new(
        &ROOM_EXISTS,
        "An operator made a room of a name that is taken.",
        "Change that room with PATCH, or delete it first to begin again.",
    ),
    Explained::new(
        &ROOM_REQUIRED,
        "An operator would delete the room main, which always exists.",
        "Close or reset it instead.",
    ),
    Explained::new(
        &VISITOR_NOT_FOUND,
        "An operator asked for a user who neither waits nor is inside.",
        "Nothing: the place has ended, or never was.",
    ),
    Explained::new(
        &SESSION_NOT_FOUND,
        "An operator would end a session of the page /admin that is not open.",
        "Nothing: it was ended before, or has run out.",
    ),
    Explained::new(
        &LOGIN_REQUIRED,
        "The room takes only visitors with a login of the site, and the join came without one.",
        "Log in at the site, and join with its login token as Authorization: Bearer.",
    ),
    Explained::new(
        &LOGIN_INVALID,
        "The login token is malformed, forged, outdated, or not for this service.",
        "Log in again, and join with the new login token.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::CATALOGUE;

    #[test]
    fn every_kind_is_explained_once() {
        let kinds = CATALOGUE.iter().chain(&ropeline_web::CATALOGUE);
        let mut expected: Vec<_> = kinds.map(|kind| kind.code).collect();
        let mut explained: Vec<_> = EXPLAINED.iter().map(|it| it.kind.code).collect();
        expected.sort_unstable();
        explained.sort_unstable();
        assert_eq!(explained, expected);
    }

    #[test]
    fn explanations_are_sentences_that_html_takes_as_they_are() {
        for Explained {
            kind,
            when,
            what_to_do,
        } in EXPLAINED
        {
            for text in [when, what_to_do] {
                assert!(text.ends_with('.'), "{text}");
            }
            for text in [when, what_to_do, &kind.title] {
                assert!(!text.contains(['<', '>', '&']), "{text}");
            }
        }
    }
}
