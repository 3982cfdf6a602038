//! What pages say, in both languages.

use std::sync::LazyLock;

use minijinja::{
    Error, Value,
    value::{Kwargs, Serde},
};
use ropeline_web::Language;
use toml::Table;

const ENGLISH: &str = include_str!("../../texts/en.toml");
const KOREAN: &str = include_str!("../../texts/ko.toml");

/// The texts of one language, by section and name.
#[derive(Debug)]
pub(crate) struct Texts {
    table: Table,
    /// The same for templates.
    pub(crate) value: Value,
}

impl Texts {
    /// The texts of a language, read once.
    pub(crate) fn of(language: Language) -> &'static Self {
        static ALL: LazyLock<[Texts; 2]> = LazyLock::new(|| [ENGLISH, KOREAN].map(Texts::read));
        let [english, korean] = &*ALL;
        match language {
            Language::English => english,
            Language::Korean => korean,
        }
    }

    fn read(file: &str) -> Self {
        let table: Table = file.parse().expect("the tests read the built-in texts too");
        let value = Value::from(Serde(&table));
        Self { table, value }
    }

    /// One text. A name that there is not is shown as it is: better an odd word than no page.
    pub(crate) fn get<'a>(&'a self, section: &str, name: &'a str) -> &'a str {
        self.find(section, name).unwrap_or(name)
    }

    /// One text, if there is one of that name.
    pub(crate) fn find(&self, section: &str, name: &str) -> Option<&str> {
        self.table.get(section)?.get(name)?.as_str()
    }

    /// Whole sections as JSON for a script of the page, safe inside of a `<script>` element.
    pub(crate) fn script(&self, sections: &[&str]) -> String {
        let sections = sections
            .iter()
            .filter_map(|name| Some((*name, self.table.get(*name)?)));
        let sections: std::collections::BTreeMap<_, _> = sections.collect();
        let json = serde_json::to_string(&sections).expect("texts are plain data");
        json.replace('<', "\\u003c")
    }
}

/// Puts values in the place of their `{names}`.
pub(crate) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), value)
    })
}

/// [`fill`] as a filter of templates: `{{ t.wait.room | fill(room=room) }}`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "filters are handed their arguments"
)]
pub(crate) fn fill_filter(text: &str, values: Kwargs) -> Result<String, Error> {
    let mut filled = text.to_owned();
    for name in values.args() {
        let value: Value = values.get(name)?;
        filled = fill(&filled, &[(name, &value.to_string())]);
    }
    Ok(filled)
}

/// A number with its thousands apart, as both languages write it.
pub(crate) fn grouped(number: u64) -> String {
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
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// Every text by its dotted name.
    fn texts(file: &str) -> BTreeMap<String, String> {
        let table: Table = file.parse().unwrap();
        let sections = table.iter().flat_map(|(section, texts)| {
            let texts = texts.as_table().unwrap().iter();
            texts.map(move |(name, text)| {
                let text = text.as_str().unwrap().to_owned();
                (format!("{section}.{name}"), text)
            })
        });
        sections.collect()
    }

    fn names_in(text: &str) -> BTreeSet<&str> {
        let parts = text.split('{').skip(1);
        parts.filter_map(|part| part.split('}').next()).collect()
    }

    #[test]
    fn both_languages_say_the_same_things() {
        let (english, korean) = (texts(ENGLISH), texts(KOREAN));
        assert!(english.keys().eq(korean.keys()));
        for (name, text) in &english {
            assert_eq!(names_in(text), names_in(&korean[name]), "{name}");
            assert!(!text.trim().is_empty() && !korean[name].trim().is_empty());
        }
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
        let mut texts = Texts::read(ENGLISH);
        let common = texts.table["common"].as_table_mut().unwrap();
        common.insert("skip".into(), "</script>".into());
        assert!(!texts.script(&["common"]).contains("</"));
    }
}
