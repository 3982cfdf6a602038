//! Where a chunked body ends, byte by byte.
//!
//! This accepts less than hyper does: what hyper refuses is refused here as well, and so is what
//! two servers could read differently, such as a line that ends in LF alone.

use super::framing::Refusal;

/// A longer chunk size is more than 64 bits, or has leading zeros that nobody needs.
const DIGITS_MAX: u8 = 16;

/// A position in a chunked body: what the next byte may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    Size { size: u64, digits: u8 },
    AfterSize { size: u64 },
    Extension { size: u64 },
    SizeLf { size: u64 },
    Data { left: u64 },
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
    End,
}

impl Position {
    pub(super) const START: Self = Self::Size { size: 0, digits: 0 };

    /// Follows `input` up to the end of the body; returns what is left of it.
    pub(super) fn advance<'a>(&mut self, mut input: &'a [u8]) -> Result<&'a [u8], Refusal> {
        while let [byte, rest @ ..] = input {
            input = match *self {
                Self::End => return Ok(input),
                Self::Data { left } => self.data(left, input),
                _ => {
                    *self = self.after(*byte).ok_or(Refusal::BAD_CHUNK)?;
                    rest
                }
            };
        }
        Ok(input)
    }

    fn data<'a>(&mut self, left: u64, input: &'a [u8]) -> &'a [u8] {
        let here = usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
        *self = match left - here as u64 {
            0 => Self::DataCr,
            left => Self::Data { left },
        };
        &input[here..]
    }

    /// The position after a byte of the framing, unless the byte must not stand here.
    fn after(self, byte: u8) -> Option<Self> {
        match self {
            Self::Size { size, digits } => Self::after_size(size, digits, byte),
            Self::AfterSize { size } => Self::after_padding(size, byte),
            Self::Extension { .. } | Self::TrailerStart | Self::Trailer => self.after_text(byte),
            Self::DataCr => (byte == b'\r').then_some(Self::DataLf),
            _ => (byte == b'\n').then(|| self.next_line()),
        }
    }

    fn after_text(self, byte: u8) -> Option<Self> {
        match (byte, self) {
            (b'\n', _) => None,
            (b'\r', Self::Extension { size }) => Some(Self::SizeLf { size }),
            (b'\r', Self::TrailerStart) => Some(Self::EndLf),
            (b'\r', _) => Some(Self::TrailerLf),
            (_, Self::Extension { .. }) => Some(self),
            _ => Some(Self::Trailer),
        }
    }

    /// The position after the LF of a line or of a chunk's data.
    fn next_line(self) -> Self {
        match self {
            Self::SizeLf { size: 0 } | Self::TrailerLf => Self::TrailerStart,
            Self::SizeLf { size } => Self::Data { left: size },
            Self::EndLf => Self::End,
            _ => Self::START,
        }
    }

    fn after_size(size: u64, digits: u8, byte: u8) -> Option<Self> {
        match char::from(byte).to_digit(16) {
            Some(digit) if digits < DIGITS_MAX => Some(Self::Size {
                size: size << 4 | u64::from(digit),
                digits: digits + 1,
            }),
            None if digits > 0 => Self::after_padding(size, byte),
            _ => None,
        }
    }

    fn after_padding(size: u64, byte: u8) -> Option<Self> {
        match byte {
            b' ' | b'\t' => Some(Self::AfterSize { size }),
            b';' => Some(Self::Extension { size }),
            b'\r' => Some(Self::SizeLf { size }),
            _ => None,
        }
    }
}
