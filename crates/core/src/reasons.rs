//! Why places ended.

use crate::{Bits, Ending, Ordinal};

/// Why a place ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Its holder gave it up.
    Left,
    /// An operator put its holder out.
    Removed,
    /// An operator put everybody out.
    Reset,
    /// Its turn passed while its holder was away for too long.
    Missed,
    /// Its holder's business inside was done.
    Finished,
    /// Its pass ran out.
    Expired,
}

/// Why places ended, as far as this process saw it happen. It is not saved: a place that ended before a restart, or on a
/// server that forgot, has no known reason.
///
/// Three bits per place, beside the one that says whether it is gone or done; what ends most often takes one of them.
#[derive(Debug, Clone, Default)]
pub struct Reasons([Bits; 3]);

impl Reasons {
    /// Notes why a place ended. The first word stands.
    pub fn note(&mut self, ordinal: Ordinal, reason: Reason) {
        if self.code(ordinal) != 0 {
            return;
        }
        let code = code_of(reason);
        for (bit, bits) in self.0.iter_mut().enumerate() {
            if code >> bit & 1 == 1 {
                bits.insert(ordinal.0);
            }
        }
    }

    /// Why a place ended in this way, if that is known.
    pub(crate) fn of(&self, ordinal: Ordinal, ending: Ending) -> Option<Reason> {
        use Reason::{Expired, Finished, Left, Missed, Removed};
        let code = self.code(ordinal);
        let mut all = [Left, Removed, Missed, Finished, Expired].into_iter();
        all.find(|reason| code_of(*reason) == code && reason.ending() == ending)
    }

    /// Forgets what ended up to a place.
    pub fn forget_below(&mut self, base: Ordinal) {
        for bits in &mut self.0 {
            bits.forget_below(base.0);
        }
    }

    fn code(&self, ordinal: Ordinal) -> u8 {
        let bits = self.0.iter().enumerate();
        bits.fold(0, |code, (bit, bits)| {
            code | u8::from(bits.contains(ordinal.0)) << bit
        })
    }
}

fn code_of(reason: Reason) -> u8 {
    match reason {
        Reason::Finished => 0b001,
        Reason::Expired => 0b010,
        Reason::Left => 0b100,
        Reason::Missed => 0b011,
        Reason::Removed => 0b101,
        Reason::Reset => 0,
    }
}

impl Reason {
    /// In which of the two ways a place ends for this reason.
    pub fn ending(self) -> Ending {
        match self {
            Self::Left | Self::Removed | Self::Reset | Self::Missed => Ending::Gone,
            Self::Finished | Self::Expired => Ending::Done,
        }
    }

    /// As the API has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Left => "LEFT",
            Self::Removed => "REMOVED",
            Self::Reset => "RESET",
            Self::Missed => "MISSED",
            Self::Finished => "FINISHED",
            Self::Expired => "EXPIRED",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_the_reason_that_was_noted_first() {
        use Reason::{Expired, Finished, Left, Missed, Removed};
        let mut reasons = Reasons::default();
        let noted = [Left, Removed, Missed, Finished, Expired];
        for (ordinal, reason) in (1..).map(Ordinal).zip(noted) {
            reasons.note(ordinal, reason);
            for later in noted {
                reasons.note(ordinal, later);
            }
        }
        for (ordinal, reason) in (1..).map(Ordinal).zip(noted) {
            assert_eq!(reasons.of(ordinal, reason.ending()), Some(reason));
        }
        assert_eq!(reasons.of(Ordinal(1), Ending::Done), None, "it is gone");
        assert_eq!(reasons.of(Ordinal(6), Ending::Gone), None);
        let mut forgetful = reasons.clone();
        forgetful.forget_below(Ordinal(1 << 16));
        assert_eq!(forgetful.of(Ordinal(1), Ending::Gone), None);
    }
}
