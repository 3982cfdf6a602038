//! What is remembered of each visitor.

use super::{At, Span};

/// What one visitor has seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) joined: Option<Joined>,
    pub(super) ahead: Option<u64>,
    pub(super) version: u64,
    /// Until then the server was told to expect the next question.
    pub(super) expected_by: At,
    pub(super) may_be_absent: bool,
    /// The gate opened while the last view said that they wait.
    pub(super) gate_opened: bool,
    pub(super) inside: Option<Stay>,
    pub(super) pass_until: At,
    pub(super) ended: bool,
}

/// Certainly inside from the first answer that said so to the last question that was answered so.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stay {
    pub(super) from: At,
    pub(super) to: At,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Joined {
    pub(super) ordinal: u64,
    pub(super) span: Span,
}
