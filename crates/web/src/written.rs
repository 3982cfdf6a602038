//! JSON without a general serializer, for the few texts that every request needs.
//!
//! `serde_json` looks at every byte of every key, to see whether it has to be escaped. Here keys are literals.

use crate::Moment;

/// What can be written as JSON, byte for byte as `serde_json` would.
pub trait WriteJson {
    /// Adds the value to `text`.
    fn write_json(&self, text: &mut Vec<u8>);
}

/// Adds an object to a text: `write_object!(text, "ahead": 7, "message": None::<&str>)`. The keys have to be literals in
/// which nothing needs escaping.
#[macro_export]
macro_rules! write_object {
    ($text:expr, $first:literal: $value:expr $(, $key:literal: $more:expr)* $(,)?) => {{
        let text: &mut Vec<u8> = $text;
        text.extend_from_slice(concat!("{\"", $first, "\":").as_bytes());
        $crate::WriteJson::write_json(&$value, text);
        $(
            text.extend_from_slice(concat!(",\"", $key, "\":").as_bytes());
            $crate::WriteJson::write_json(&$more, text);
        )*
        text.push(b'}');
    }};
}

impl<T: WriteJson + ?Sized> WriteJson for &T {
    fn write_json(&self, text: &mut Vec<u8>) {
        (**self).write_json(text);
    }
}

impl<T: WriteJson> WriteJson for Option<T> {
    fn write_json(&self, text: &mut Vec<u8>) {
        match self {
            Some(value) => value.write_json(text),
            None => text.extend_from_slice(b"null"),
        }
    }
}

impl WriteJson for bool {
    fn write_json(&self, text: &mut Vec<u8>) {
        let word: &[u8] = if *self { b"true" } else { b"false" };
        text.extend_from_slice(word);
    }
}

impl WriteJson for u64 {
    fn write_json(&self, text: &mut Vec<u8>) {
        // As many digits as `u64::MAX` has.
        let mut digits = [b'0'; 20];
        let mut first = digits.len();
        let mut number = *self;
        loop {
            first -= 1;
            digits[first] += (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        text.extend_from_slice(&digits[first..]);
    }
}

impl WriteJson for str {
    fn write_json(&self, text: &mut Vec<u8>) {
        if needs_escaping(self.as_bytes()) {
            serde_json::to_writer(text, self).expect("a text is plain data");
            return;
        }
        write_plain(self, text);
    }
}

/// A text in which nothing needs escaping, such as a token or a word of our own, and in which nothing is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Plain<'a>(pub &'a str);

impl WriteJson for Plain<'_> {
    fn write_json(&self, text: &mut Vec<u8>) {
        debug_assert!(!needs_escaping(self.0.as_bytes()));
        write_plain(self.0, text);
    }
}

impl WriteJson for Moment {
    fn write_json(&self, text: &mut Vec<u8>) {
        text.push(b'"');
        text.extend_from_slice(&self.text());
        text.push(b'"');
    }
}

fn write_plain(plain: &str, text: &mut Vec<u8>) {
    text.reserve(plain.len() + 2);
    text.push(b'"');
    text.extend_from_slice(plain.as_bytes());
    text.push(b'"');
}

/// Looks at all bytes even after it has found one, which lets the processor take many at once.
fn needs_escaping(text: &[u8]) -> bool {
    let special = |byte: u8| matches!(byte, ..b' ' | b'"' | b'\\');
    text.iter().fold(false, |any, byte| any | special(*byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ropeline_core::Timestamp;
    use serde::Serialize;

    use super::*;

    #[derive(Debug, Serialize)]
    struct Sample {
        name: String,
        number: u64,
        maybe: Option<u64>,
        flag: bool,
        at: Option<Moment>,
    }

    fn sample() -> impl Strategy<Value = Sample> {
        let name = prop_oneof![any::<String>(), "[ -~]{0,40}"];
        let at = prop::option::of(any::<u64>().prop_map(|ms| Moment(Timestamp(ms))));
        let number = prop_oneof![any::<u64>(), 0_u64..1_000];
        (name, number, any::<Option<u64>>(), any::<bool>(), at).prop_map(
            |(name, number, maybe, flag, at)| Sample {
                name,
                number,
                maybe,
                flag,
                at,
            },
        )
    }

    proptest! {
        #[test]
        fn every_object_is_written_as_serde_json_writes_it(sample in sample()) {
            let mut text = b"before ".to_vec();
            write_object!(&mut text,
                "name": sample.name.as_str(),
                "number": sample.number,
                "maybe": sample.maybe,
                "flag": sample.flag,
                "at": sample.at,
            );
            let expected = serde_json::to_string(&sample).unwrap();
            prop_assert_eq!(String::from_utf8(text).unwrap(), format!("before {expected}"));
        }
    }

    #[test]
    fn the_ends_of_numbers_and_every_odd_character_are_written_right() {
        let mut text = Vec::new();
        for number in [0, 9, 10, u64::MAX] {
            text.clear();
            number.write_json(&mut text);
            assert_eq!(text, number.to_string().into_bytes());
        }
        for character in '\0'..='\u{ff}' {
            text.clear();
            character.to_string().as_str().write_json(&mut text);
            assert_eq!(
                text,
                serde_json::to_vec(&character).unwrap(),
                "{character:?}"
            );
        }
    }
}
