//! Names of rooms, users, visitors and places, each valid by construction.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// Why a text is not an id, worded for the person who sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IdError {
    /// A room id is a slug.
    #[error("a room id has 1 to 64 characters of a-z, 0-9 and -")]
    Room,
    /// A user id is printable ASCII.
    #[error("a user id has 1 to 128 printable ASCII characters and no space")]
    User,
    /// A user id that reads as the name of an anonymous visitor.
    #[error("a user id must not be a: and 32 hex digits, which names an anonymous visitor")]
    AnonymousName,
    /// A visitor is written `v:<user id>`, `u:<user id>` or `a:<random id>`.
    #[error("a visitor is written v:<user id>, u:<user id> or a:<random id>")]
    Visitor,
}

/// A room's slug: 1 to 64 characters of `a-z`, `0-9` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RoomId(Box<str>);

impl RoomId {
    /// The room that always exists.
    pub fn main() -> Self {
        Self("main".into())
    }

    /// Takes a text that is a slug.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let slug = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if (1..=64).contains(&text.len()) && text.bytes().all(slug) {
            Ok(Self(text.into()))
        } else {
            Err(IdError::Room)
        }
    }

    /// The slug.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RoomId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for RoomId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(&text)
    }
}

impl From<RoomId> for String {
    fn from(room: RoomId) -> Self {
        room.0.into()
    }
}

/// A user id as the site knows it: 1 to 128 printable ASCII characters without space.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UserId(Box<str>);

impl UserId {
    /// Takes a text of 1 to 128 printable ASCII characters without space.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        if (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.into()))
        } else {
            Err(IdError::User)
        }
    }

    /// As [`UserId::parse`], for an id that is given to a visitor from now on. The gate says the names of anonymous
    /// visitors next to user ids, so no user may have one.
    pub fn parse_for_visitor(text: &str) -> Result<Self, IdError> {
        let user = Self::parse(text)?;
        match Visitor::anonymous_named(&user) {
            Some(_) => Err(IdError::AnonymousName),
            None => Ok(user),
        }
    }

    /// The id as the site wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for UserId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(&text)
    }
}

impl From<UserId> for String {
    fn from(user: UserId) -> Self {
        user.0.into()
    }
}

/// Who wants in: `v:<user id>` if a login or a service with its key vouches for the id, `u:<user id>` if the id was
/// merely stated, `a:<random id>` without one.
///
/// The prefix separates the three. A stranger who states a user's id never meets the place of that user, and nobody
/// can state the name of an anonymous visitor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Visitor(Box<str>);

impl Visitor {
    /// A user by an id that was merely stated.
    pub fn stated(user: &UserId) -> Self {
        Self(["u:", &*user.0].concat().into())
    }

    /// A user by an id that a verified login vouches for, or a service with its key.
    pub fn verified(user: &UserId) -> Self {
        Self(["v:", &*user.0].concat().into())
    }

    /// An anonymous visitor, named by 128 bits that the caller drew or derived.
    pub fn anonymous(id: u128) -> Self {
        Self(format!("a:{id:032x}").into())
    }

    /// The anonymous visitor of this name, if it is one: `a:` and 32 hex digits.
    ///
    /// The gate says such names next to user ids, so operators look both up by the same text.
    pub fn anonymous_named(name: &UserId) -> Option<Self> {
        let id = name.0.strip_prefix("a:")?;
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (id.len() == 32 && id.bytes().all(digit)).then(|| Self(name.0.clone()))
    }

    /// Takes a visitor as written by [`Visitor::as_str`].
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let valid = match text.split_at_checked(2) {
            Some(("u:" | "v:" | "a:", id)) => UserId::parse(id).is_ok(),
            _ => false,
        };
        if valid {
            Ok(Self(text.into()))
        } else {
            Err(IdError::Visitor)
        }
    }

    /// The visitor with its prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The user id, where the visitor has one.
    pub fn user_id(&self) -> Option<&str> {
        match self.0.split_at_checked(2) {
            Some(("u:" | "v:", id)) => Some(id),
            _ => None,
        }
    }

    /// Whether a login or a service vouches for the user id.
    pub fn is_verified(&self) -> bool {
        self.0.starts_with("v:")
    }
}

impl Serialize for Visitor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Written by hand to make one copy of the text, not two: every poll reads a visitor.
impl<'de> Deserialize<'de> for Visitor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl de::Visitor<'_> for Text {
            type Value = Visitor;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", IdError::Visitor)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Visitor, E> {
                Visitor::parse(text).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// A place's number: counted from 1 in each room, never changed, never given twice, without gaps.
///
/// Zero stands for "nobody yet", as in the head of a room that has admitted nobody.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Ordinal(pub u64);

impl Ordinal {
    /// The ordinal after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Ordinal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An `Idempotency-Key` and what it was sent with, both as digests made at the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinKey {
    /// Digest of the key.
    pub key: u128,
    /// Digest of the request that the key was first used for.
    pub body: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_id_is_a_slug() {
        assert_eq!(RoomId::parse("on-sale-2").unwrap().as_str(), "on-sale-2");
        for bad in [
            "",
            "Main",
            "a b",
            "a_b",
            "가",
            "a/b",
            "{x}",
            &"a".repeat(65),
        ] {
            assert_eq!(RoomId::parse(bad), Err(IdError::Room), "{bad:?}");
        }
    }

    #[test]
    fn a_user_id_is_printable_ascii_without_space() {
        assert!(UserId::parse("user@example.com").is_ok());
        assert!(UserId::parse(&"x".repeat(128)).is_ok());
        for bad in [
            "",
            " ",
            "a b",
            "a\u{7}",
            "a\n",
            "가",
            "\u{7f}",
            &"x".repeat(129),
        ] {
            assert_eq!(UserId::parse(bad), Err(IdError::User), "{bad:?}");
        }
    }

    #[test]
    fn nobody_can_name_an_anonymous_visitor() {
        let named = Visitor::stated(&UserId::parse("a:0123").unwrap());
        assert_eq!(named.as_str(), "u:a:0123");
        assert_eq!(named.user_id(), Some("a:0123"));
        assert_eq!(Visitor::anonymous(1).user_id(), None);
        for bad in ["", "u:", "v:", "x:1", "u", "u:a b"] {
            assert_eq!(Visitor::parse(bad), Err(IdError::Visitor), "{bad:?}");
        }
    }

    #[test]
    fn no_user_is_given_the_name_of_an_anonymous_visitor() {
        let name = Visitor::anonymous(7);
        let given = UserId::parse_for_visitor(name.as_str());
        assert_eq!(given, Err(IdError::AnonymousName));
        assert_eq!(UserId::parse_for_visitor("a b"), Err(IdError::User));
        for fine in ["ann", "a:7", "a:0000000000000000000000000000000G"] {
            assert!(UserId::parse_for_visitor(fine).is_ok(), "{fine}");
        }
        let stored = format!("u:{}", name.as_str());
        assert!(Visitor::parse(&stored).is_ok(), "stored places still load");
    }

    #[test]
    fn a_verified_user_is_not_who_states_the_same_id() {
        let id = UserId::parse("ann").unwrap();
        let (stated, verified) = (Visitor::stated(&id), Visitor::verified(&id));
        assert_eq!((stated.as_str(), verified.as_str()), ("u:ann", "v:ann"));
        assert_ne!(stated, verified);
        assert_eq!([&stated, &verified].map(Visitor::user_id), [Some("ann"); 2]);
        assert_eq!(
            [&stated, &verified].map(Visitor::is_verified),
            [false, true]
        );
        assert!(!Visitor::anonymous(1).is_verified());
        let foxed = Visitor::stated(&UserId::parse("v:ann").unwrap());
        assert_eq!((foxed.as_str(), foxed.is_verified()), ("u:v:ann", false));
    }

    #[test]
    fn an_anonymous_visitor_is_found_by_the_name_that_the_gate_says() {
        let nameless = Visitor::anonymous(7);
        let name = UserId::parse(nameless.as_str()).unwrap();
        assert_eq!(Visitor::anonymous_named(&name), Some(nameless));
        for other in ["a:7", "7", "a:0000000000000000000000000000000G"] {
            let other = UserId::parse(other).unwrap();
            assert_eq!(Visitor::anonymous_named(&other), None);
        }
    }
}
