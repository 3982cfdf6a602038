//! The claims as text.
//!
//! Whoever waits shows a token with every poll, so the text that we write ourselves is read without a general parser.
//! Any other text that bears our signature, as of another version, is left to `serde_json`, which has the last word on
//! what claims are.

use ropeline_core::{Claims, FORMAT, LANE_MAIN, Ordinal, RoomId, Timestamp, Visitor};
use ropeline_web::{Plain, write_object};

use super::{ISSUER, InvalidToken};

/// Room for usual claims, so that they are written without growing.
const USUAL_BYTES: usize = 256;

/// More digits might not fit a `u64`.
const DIGITS_MAX: usize = 19;

pub(super) fn write(claims: &Claims) -> Vec<u8> {
    let mut text = Vec::with_capacity(USUAL_BYTES);
    write_object!(&mut text,
        "iss": *claims.iss,
        "aud": Plain(claims.aud.as_str()),
        "epoch": claims.epoch.0,
        "sub": claims.sub.as_str(),
        "ord": claims.ord.0,
        "lane": *claims.lane,
        "vfd": claims.vfd,
        "ver": u64::from(claims.ver),
        "iat": claims.iat,
        "exp": claims.exp,
    );
    text
}

pub(super) fn read(text: &[u8]) -> Result<Claims, InvalidToken> {
    read_own(text).map_or_else(
        || serde_json::from_slice(text).map_err(|_| InvalidToken),
        Ok,
    )
}

/// The claims of a text exactly as [`write`] gives it, where nothing in it had to be escaped.
fn read_own(text: &[u8]) -> Option<Claims> {
    let text = &mut Text(text);
    text.skip(br#"{"iss":"ropeline","aud":""#)?;
    let aud = RoomId::parse(text.string()?).ok()?;
    text.skip(br#"","epoch":"#)?;
    let epoch = Timestamp(text.number()?);
    text.skip(br#","sub":""#)?;
    let sub = Visitor::parse(text.string()?).ok()?;
    text.skip(br#"","ord":"#)?;
    let ord = Ordinal(text.number()?);
    text.skip(br#","lane":"main","vfd":"#)?;
    let vfd = text.truth()?;
    text.skip(br#","ver":1,"iat":"#)?;
    let iat = text.number()?;
    text.skip(br#","exp":"#)?;
    let exp = text.number()?;
    (text.0 == b"}").then(|| Claims {
        iss: ISSUER.into(),
        aud,
        epoch,
        sub,
        ord,
        lane: LANE_MAIN.into(),
        vfd,
        ver: FORMAT,
        iat,
        exp,
    })
}

/// What is left of a text.
struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    fn skip(&mut self, expected: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }

    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// What stands before the next quote, if there is nothing to unescape in it.
    fn string(&mut self) -> Option<&'a str> {
        let end = memchr::memchr2(b'"', b'\\', self.0)?;
        str::from_utf8(self.take(end)?).ok()
    }

    /// A number as JSON has it: without a sign and without leading zeros.
    fn number(&mut self) -> Option<u64> {
        let end = self.0.iter().position(|byte| !byte.is_ascii_digit())?;
        let digits = self.take(end)?;
        let plain = (1..=DIGITS_MAX).contains(&end) && (end == 1 || digits[0] != b'0');
        plain.then(|| {
            let digits = digits.iter().map(|digit| u64::from(digit - b'0'));
            digits.fold(0, |number, digit| number * 10 + digit)
        })
    }

    fn truth(&mut self) -> Option<bool> {
        let value = self.0.first() == Some(&b't');
        self.skip(if value { b"true" } else { b"false" })?;
        Some(value)
    }
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
