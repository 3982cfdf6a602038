//! Visitors as members of `places`.
//!
//! A line has little but its visitors, so an id of 128 bits, such as a UUID, is kept as its 16 bytes: `V` and the bytes
//! for a verified user whose id is a UUID, `U` and the bytes where such an id was merely stated, `A` and the bytes for
//! an anonymous visitor. Any other visitor is kept as [`Visitor::as_str`] has it, which begins with `v:`, `u:` or `a:`.
//! What is read is what was written, so a UUID in capitals is not shortened.

use redis::{RedisWrite, ToRedisArgs};
use ropeline_core::{UserId, Visitor};

use super::wire::{Read, Unreadable};

const VERIFIED: u8 = b'V';
const STATED: u8 = b'U';
const ANONYMOUS: u8 = b'A';

/// Where the two digits of each byte begin in a UUID, and what is between them.
const IN_UUID: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const DASHES: [usize; 4] = [8, 13, 18, 23];
/// And in a number of 32 digits.
const IN_NUMBER: [usize; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];

/// A visitor as Redis has them. It is made for every join and every question of the gate, so it takes nothing from the
/// heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member<'a> {
    Short([u8; 17]),
    Text(&'a str),
}

impl<'a> Member<'a> {
    pub(super) fn of(visitor: &'a Visitor) -> Self {
        let text = visitor.as_str();
        let short = match text.as_bytes() {
            [b'v', b':', id @ ..] => uuid(VERIFIED, id),
            [b'u', b':', id @ ..] => uuid(STATED, id),
            [b'a', b':', id @ ..] => number(id),
            _ => None,
        };
        short.map_or(Self::Text(text), Self::Short)
    }

    /// The visitor whom a member stands for.
    pub(super) fn read(member: &[u8]) -> Read<Visitor> {
        let unreadable = || Unreadable("the name of a visitor");
        let id = |bytes: &[u8]| {
            let bytes = bytes.try_into().map_err(|_| unreadable())?;
            Ok(u128::from_be_bytes(bytes))
        };
        match member {
            [kind @ (VERIFIED | STATED), bytes @ ..] => {
                let digits = format!("{:032x}", id(bytes)?);
                let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
                let user = UserId::parse(&parts.join("-")).map_err(|_| unreadable())?;
                Ok(match *kind {
                    VERIFIED => Visitor::verified(&user),
                    _ => Visitor::stated(&user),
                })
            }
            [ANONYMOUS, bytes @ ..] => Ok(Visitor::anonymous(id(bytes)?)),
            text => {
                let text = str::from_utf8(text).map_err(|_| unreadable())?;
                Visitor::parse(text).map_err(|_| unreadable())
            }
        }
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Short(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
        }
    }
}

impl ToRedisArgs for Member<'_> {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        out.write_arg(self.as_bytes());
    }
}

/// A UUID as it is usually written: lower case, 8-4-4-4-12.
fn uuid(kind: u8, id: &[u8]) -> Option<[u8; 17]> {
    let id: &[u8; 36] = id.try_into().ok()?;
    let dashed = DASHES.iter().all(|at| id[*at] == b'-');
    dashed.then(|| short(kind, id, &IN_UUID))?
}

fn number(id: &[u8]) -> Option<[u8; 17]> {
    let id: &[u8; 32] = id.try_into().ok()?;
    short(ANONYMOUS, id, &IN_NUMBER)
}

/// The kind, and the bytes whose digits begin at these places; nothing if one is no digit.
fn short<const LEN: usize>(kind: u8, id: &[u8; LEN], at: &[usize; 16]) -> Option<[u8; 17]> {
    let mut member = [kind; 17];
    let mut all = 0;
    for (byte, at) in member[1..].iter_mut().zip(at) {
        let (high, low) = (digit(id[*at]), digit(id[*at + 1]));
        all |= high | low;
        *byte = (high << 4) | low;
    }
    // Looked at once, behind the last: a branch at each digit would cost more than the digits.
    (all < 16).then_some(member)
}

/// What a hex digit stands for, or more than any does.
fn digit(character: u8) -> u8 {
    DIGITS[usize::from(character)]
}

const DIGITS: [u8; 256] = {
    let mut digits = [u8::MAX; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UUID: &str = "00112233-4455-6677-8899-aabbccddeeff";
    const BYTES: [u8; 16] = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128.to_be_bytes();

    fn visitor(text: &str) -> Visitor {
        Visitor::parse(text).unwrap()
    }

    fn member(text: &str) -> Vec<u8> {
        Member::of(&visitor(text)).to_redis_args().concat()
    }

    #[test]
    fn a_user_with_a_uuid_is_a_letter_and_its_bytes() {
        for (kind, letter) in [("v:", b"V"), ("u:", b"U")] {
            let text = format!("{kind}{UUID}");
            assert_eq!(member(&text), [&letter[..], &BYTES].concat());
            assert_eq!(Member::read(&member(&text)).unwrap(), visitor(&text));
        }
    }

    #[test]
    fn an_anonymous_visitor_is_a_and_the_bytes() {
        let nameless = Visitor::anonymous(u128::from_be_bytes(BYTES));
        let written = member(nameless.as_str());
        assert_eq!(written, [&b"A"[..], &BYTES].concat());
        assert_eq!(Member::read(&written).unwrap(), nameless);
    }

    #[test]
    fn all_else_is_kept_as_it_is() {
        let digits = UUID.replace('-', "");
        for text in [
            "u:ann".to_owned(),
            "v:ann".to_owned(),
            format!("v:{digits}"),
            format!("v:{}", UUID.to_uppercase()),
            format!("u:{digits}"),
            format!("a:{UUID}"),
            format!("u:a:{digits}"),
            format!("u:{}", UUID.to_uppercase()),
            format!("a:{}", digits.to_uppercase()),
            format!("u:{UUID}0"),
            format!("u:{}", &UUID[1..]),
            format!("a:{digits}0"),
            format!("a:{}", &digits[1..]),
            format!("u:{}", UUID.replace('-', "_")),
            format!("u:{}", UUID.replace('-', "0")),
            format!("u:{}", UUID.replacen('0', "g", 1)),
            format!("u:{}", UUID.replacen('0', "-", 1)),
            format!("a:{}", digits.replacen('f', "-", 1)),
        ] {
            assert_eq!(member(&text), text.as_bytes());
            assert_eq!(Member::read(text.as_bytes()).unwrap(), visitor(&text));
        }
    }

    #[test]
    fn what_is_no_member_is_nobody() {
        let long = [&b"U"[..], &BYTES, b"0"].concat();
        let strange = [&b"X"[..], &BYTES].concat();
        let words = ["", "u:", "v:", "U", "V", "A", "ann"].map(str::as_bytes);
        for member in words.into_iter().chain([&long[..16], &long, &strange]) {
            assert!(Member::read(member).is_err(), "{member:?}");
        }
    }

    /// Ids that are, or nearly are, of 128 bits, and any others.
    fn ids() -> impl Strategy<Value = String> {
        let uuid = || "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
        let spoilt = |id: &'static str| {
            let spoilt = (id, any::<prop::sample::Index>(), "[!-~]");
            spoilt.prop_map(|(mut id, at, by)| {
                let at = at.index(id.len());
                id.replace_range(at..=at, &by);
                id
            })
        };
        prop_oneof![
            uuid(),
            spoilt(uuid()),
            uuid().prop_map(|id| id.to_uppercase()),
            "[0-9a-f]{32}",
            spoilt("[0-9a-f]{32}"),
            "[0-9A-F]{32}",
            "[0-9a-f]{1,40}",
            "[UVA][!-~]{16}",
            "[uva]:[0-9a-f]{32}",
            "[!-~]{1,128}",
        ]
    }

    fn visitors() -> impl Strategy<Value = Visitor> {
        let kind = prop_oneof![Just("u:"), Just("v:"), Just("a:")];
        (kind, ids()).prop_map(|(kind, id)| visitor(&format!("{kind}{id}")))
    }

    /// A visitor, and one who has the same id or nearly so, or any other.
    fn pairs() -> impl Strategy<Value = (Visitor, Visitor)> {
        let kin = visitors().prop_flat_map(|one| {
            let (kind, id) = one.as_str().split_at(2);
            let kinds = ["u:", "v:", "a:"];
            let texts = [
                id.to_owned(),
                id.to_uppercase(),
                id.to_lowercase(),
                id.replace('-', ""),
                format!("{kind}{id}").chars().take(128).collect(),
            ];
            let texts = texts.into_iter().filter(|id| UserId::parse(id).is_ok());
            let texts = texts.flat_map(|id| kinds.map(|kind| format!("{kind}{id}")));
            let kin = prop::sample::select(texts.collect::<Vec<_>>());
            (Just(one.clone()), kin.prop_map(|text| visitor(&text)))
        });
        prop_oneof![kin, (visitors(), visitors())]
    }

    proptest! {
        #[test]
        fn every_visitor_is_read_as_written(visitor in visitors()) {
            let written = member(visitor.as_str());
            prop_assert_eq!(Member::read(&written).unwrap(), visitor);
        }

        #[test]
        fn no_two_visitors_are_the_same_member((one, other) in pairs()) {
            let (first, second) = (Member::of(&one), Member::of(&other));
            prop_assert_eq!(first.as_bytes() == second.as_bytes(), one == other);
        }

        /// Whatever Redis has, one that reads as a visitor is found again by that name.
        #[test]
        fn a_short_member_that_is_read_is_written_so(id in any::<[u8; 16]>(), kind in prop::sample::select(vec![VERIFIED, STATED, ANONYMOUS])) {
            let written = [&[kind][..], &id].concat();
            let visitor = Member::read(&written).unwrap();
            prop_assert_eq!(member(visitor.as_str()), written);
        }
    }
}
