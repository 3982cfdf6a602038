//! Kinds of problems in words, at the address that a problem names as `type`.

mod page;

pub use self::page::explain;
use crate::Kind;

/// A kind of problem in words.
#[derive(Debug, Clone, Copy)]
pub struct Explained {
    /// The kind.
    pub kind: &'static Kind,
    /// When it happens: sentences without HTML.
    pub when: &'static str,
    /// What a client does about it, likewise.
    pub what_to_do: &'static str,
}

impl Explained {
    /// The kind, when it happens, and what a client does about it.
    pub const fn new(kind: &'static Kind, when: &'static str, what_to_do: &'static str) -> Self {
        Self {
            kind,
            when,
            what_to_do,
        }
    }
}
