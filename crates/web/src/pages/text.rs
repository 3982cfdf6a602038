//! What pages say, in both languages.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{
    Error, Value,
    value::{Kwargs, Serde},
};
use toml::Table;

use crate::Language;

const ENGLISH: &str = include_str!("../../texts/en.toml");
const KOREAN: &str = include_str!("../../texts/ko.toml");

/// The texts of one language, by section and name.
#[derive(Debug)]
pub struct Texts {
    table: Table,
    /// The same for templates.
    pub(super) value: Value,
}

impl Texts {
    /// A service's own texts, and those of the frame.
    pub(super) fn read(language: Language, own: &str) -> Self {
        let frame = match language {
            Language::English => ENGLISH,
            Language::Korean => KOREAN,
        };
        let mut table = parse(frame);
        table.extend(parse(own));
        let value = Value::from(Serde(&table));
        Self { table, value }
    }

    /// One text. A name that there is not is shown as it is: better an odd word than no page.
    pub fn get<'a>(&'a self, section: &str, name: &'a str) -> &'a str {
        self.find(section, name).unwrap_or(name)
    }

    /// One text, if there is one of that name.
    pub fn find(&self, section: &str, name: &str) -> Option<&str> {
        self.table.get(section)?.get(name)?.as_str()
    }

    /// The texts that another language lacks, leaves empty or fills with other values.
    pub(super) fn untold_in(&self, other: &Self) -> Vec<String> {
        let sections = self.table.iter().filter_map(|(section, texts)| {
            let texts = texts.as_table()?.iter();
            Some(texts.map(move |(name, text)| (section, name, text.as_str())))
        });
        let untold = sections.flatten().filter(|(section, name, text)| {
            let told = other
                .find(section, name)
                .filter(|told| !told.trim().is_empty());
            told.map(names_in) != text.map(names_in)
        });
        untold
            .map(|(section, name, _)| format!("{section}.{name}"))
            .collect()
    }

    /// Whole sections as JSON for a script of the page, safe inside of a `<script>` element.
    pub fn script(&self, sections: &[&str]) -> String {
        let sections = sections
            .iter()
            .filter_map(|name| Some((*name, self.table.get(*name)?)));
        let sections: BTreeMap<_, _> = sections.collect();
        let json = serde_json::to_string(&sections).expect("texts are plain data");
        json.replace('<', "\\u003c")
    }
}

/// The `{names}` in a text.
fn names_in(text: &str) -> BTreeSet<&str> {
    let parts = text.split('{').skip(1);
    parts.filter_map(|part| part.split('}').next()).collect()
}

fn parse(file: &str) -> Table {
    file.parse().expect("the tests read the built-in texts too")
}

/// Puts values in the place of their `{names}`.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), value)
    })
}

/// [`fill`] as a filter of templates: `{{ t.wait.room | fill(room=room) }}`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "filters are handed their arguments"
)]
pub(super) fn fill_filter(text: &str, values: Kwargs) -> Result<String, Error> {
    let mut filled = text.to_owned();
    for name in values.args() {
        let value: Value = values.get(name)?;
        filled = fill(&filled, &[(name, &value.to_string())]);
    }
    Ok(filled)
}

/// A number with its thousands apart, as both languages write it.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &str) -> Texts {
        Texts::read(Language::English, file)
    }

    #[test]
    fn a_text_that_one_language_lacks_is_found() {
        let (one, other) = (texts("[a]\nb = 'c'\nd = 'e'"), texts("[a]\nb = 'f'"));
        assert_eq!(one.untold_in(&other), ["a.d"]);
        assert!(other.untold_in(&one).is_empty());
    }

    #[test]
    fn a_text_that_is_empty_or_says_another_value_is_found() {
        let one = texts("[a]\nb = '{n} left'\nc = 'd'");
        let other = texts("[a]\nb = '{m} left'\nc = ' '");
        assert_eq!(one.untold_in(&other), ["a.b", "a.c"]);
    }

    #[test]
    fn values_take_the_place_of_their_names() {
        assert_eq!(
            fill("{low} to {high}", &[("low", "3"), ("high", "4")]),
            "3 to 4"
        );
    }

    #[test]
    fn thousands_stand_apart() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345_678, "12,345,678"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn a_text_cannot_end_the_element_it_stands_in() {
        let texts = texts("[a]\nb = '</script>'");
        assert!(!texts.script(&["a"]).contains("</"));
    }
}
