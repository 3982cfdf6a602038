//! The words that queue tables have for where somebody is.

use ropeline_core::Was;

/// What a status says about a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// It is to be taken over.
    Live(Was),
    /// It ended before.
    Ended,
}

const WAITING: [&str; 5] = ["WAITING", "WAIT", "PENDING", "QUEUED", "대기"];
const INSIDE: [&str; 9] = [
    "ACTIVE",
    "ACTIVATED",
    "PROCEEDING",
    "PROGRESS",
    "IN_PROGRESS",
    "PROCESSING",
    "ENTERED",
    "ADMITTED",
    "활성",
];
const ENDED: [&str; 12] = [
    "EXPIRED",
    "EXPIRE",
    "DONE",
    "COMPLETED",
    "COMPLETE",
    "FINISHED",
    "CANCELLED",
    "CANCELED",
    "DELETED",
    "LEFT",
    "PAID",
    "만료",
];

/// What a word says, in capitals or not.
pub(super) fn parse(word: &str) -> Option<Status> {
    let word = word.trim();
    let among = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    if among(&WAITING) {
        Some(Status::Live(Was::Waiting))
    } else if among(&INSIDE) {
        Some(Status::Live(Was::Inside))
    } else if among(&ENDED) {
        Some(Status::Ended)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_seeds_are_known() {
        for (word, status) in [
            ("WAITING", Status::Live(Was::Waiting)),
            ("PROCEEDING", Status::Live(Was::Inside)),
            ("WAIT", Status::Live(Was::Waiting)),
            ("ACTIVE", Status::Live(Was::Inside)),
            ("EXPIRE", Status::Ended),
            ("대기", Status::Live(Was::Waiting)),
            ("활성", Status::Live(Was::Inside)),
            ("만료", Status::Ended),
            (" active ", Status::Live(Was::Inside)),
        ] {
            assert_eq!(parse(word), Some(status), "{word}");
        }
        assert_eq!(parse(""), None);
        assert_eq!(parse("0"), None);
    }

    #[test]
    fn no_word_says_two_things() {
        let all: Vec<_> = WAITING.iter().chain(&INSIDE).chain(&ENDED).collect();
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }
}
