//! Reads the tables of a settings file and notes every problem with its line.

use std::ops::Range;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    keys::{self, Key},
    nearest::nearest,
    problem::{Origin, Problem},
    value::Wrong,
};

/// A settings file as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'a> {
    /// The file as it was named.
    pub(super) name: &'a str,
    /// All of its text.
    pub(super) text: &'a str,
}

impl<'a> Document<'a> {
    /// The table that the file is, or everything that is not TOML in it.
    pub(super) fn parse(self) -> Result<DeTable<'a>, Vec<Problem>> {
        let (table, mut errors) = DeTable::parse_recoverable(self.text);
        if errors.is_empty() {
            return Ok(table.into_inner());
        }
        let not_toml = |error: &toml::de::Error| Problem {
            origin: self.at(error.span()),
            key: String::new(),
            wrong: format!(
                "is not TOML: {}",
                error.message().trim().replace('\n', ", ")
            ),
            instead: "text stands in quotes, a setting is name = value, a section is [name]".into(),
        };
        errors.sort_by_key(|error| error.span().map(|span| span.start));
        let mut problems: Vec<Problem> = errors.iter().map(not_toml).collect();
        // What follows on the same line is mostly the parser finding its way back.
        problems.dedup_by(|later, first| later.origin == first.origin);
        Err(problems)
    }

    fn at(self, span: Option<Range<usize>>) -> Origin {
        let line = |span: Range<usize>| {
            let before = self.text.get(..span.start).unwrap_or(self.text);
            before.matches('\n').count() + 1
        };
        Origin::File {
            name: self.name.into(),
            line: span.map(line),
        }
    }
}

/// One table of a file, together with what is known about its keys.
#[derive(Debug)]
pub(super) struct Section<'a> {
    document: Document<'a>,
    table: &'a DeTable<'a>,
    /// Dotted name of the table; empty for the file itself.
    path: String,
    /// Where the table begins; `None` for the file itself.
    span: Option<Range<usize>>,
    keys: &'static [Key],
    problems: &'a mut Vec<Problem>,
    failed: Vec<&'static str>,
}

impl<'a> Section<'a> {
    /// The file itself. Keys that it does not know are noted.
    pub(super) fn root(
        document: Document<'a>,
        table: &'a DeTable<'a>,
        problems: &'a mut Vec<Problem>,
    ) -> Self {
        let mut section = Self {
            document,
            table,
            path: String::new(),
            span: None,
            keys: &keys::FILE,
            problems,
            failed: Vec::new(),
        };
        section.note_unknown_keys();
        section
    }

    /// The section of that name inside this one, if it is there and is a section.
    pub(super) fn section(&mut self, name: &str, keys: &'static [Key]) -> Option<Section<'_>> {
        let mut section = self.any_section(name, keys)?;
        section.note_unknown_keys();
        Some(section)
    }

    /// Like [`Section::section`], where the keys are names that the writer chose.
    pub(super) fn named_sections(&mut self, name: &str) -> Option<Section<'_>> {
        self.any_section(name, &[])
    }

    fn any_section(&mut self, name: &str, keys: &'static [Key]) -> Option<Section<'_>> {
        let (key, value) = self.table.get_key_value(name)?;
        let path = self.dotted(name);
        let DeValue::Table(table) = value.get_ref() else {
            let wrong = format!("must be a section, not {}", kind(value.get_ref()));
            self.note(name, Some(key.span()), wrong, format!("write: [{path}]"));
            return None;
        };
        Some(Section {
            document: self.document,
            table,
            path,
            span: Some(key.span()),
            keys,
            problems: self.problems,
            failed: Vec::new(),
        })
    }

    /// The keys that are written here.
    pub(super) fn written(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.table.keys().map(|key| key.get_ref().as_ref())
    }

    /// The table itself.
    pub(super) fn table(&self) -> &'a DeTable<'a> {
        self.table
    }

    /// Whether everything read from this section so far was right.
    pub(super) fn is_sound(&self) -> bool {
        self.failed.is_empty()
    }

    /// Whether the value of this key was read and was wrong.
    pub(super) fn has_failed(&self, key: &str) -> bool {
        self.failed.contains(&key)
    }

    /// Reads a key, if it is written here, into the place of its default.
    pub(super) fn set<T>(
        &mut self,
        slot: &mut T,
        key: &'static str,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, Wrong>,
    ) {
        if let Some(value) = self.get(key, read) {
            *slot = value;
        }
    }

    /// Reads a key, if it is written here; a wrong value is noted and is as good as none.
    pub(super) fn get<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, Wrong>,
    ) -> Option<T> {
        let value = self.table.get(key)?;
        read(value.get_ref())
            .map_err(|wrong| self.refuse(key, &wrong))
            .ok()
    }

    /// Notes that a key of this section is wrong, or is missing where it is needed.
    pub(super) fn refuse(&mut self, key: &'static str, wrong: &Wrong) {
        let span = self.table.get(key).map(Spanned::span);
        let instead = match &wrong.instead {
            Some(value) => format!("write: {key} = {value}"),
            None => format!("for example: {key} = {}", keys::example(self.keys, key)),
        };
        self.failed.push(key);
        let at = span.or(self.span.clone());
        self.note(key, at, wrong.what.clone(), instead);
    }

    /// Notes that a section inside this one cannot be there as it is.
    pub(super) fn refuse_section(&mut self, name: &str, wrong: &str, instead: &str) {
        let span = self.table.get_key_value(name).map(|(key, _)| key.span());
        self.note(name, span, wrong.into(), instead.into());
    }

    /// Notes that the name of a section inside this one cannot be used.
    pub(super) fn refuse_name(&mut self, name: &str, wrong: &str) {
        let instead = format!("for example: [{}]", self.dotted("main"));
        self.refuse_section(name, wrong, &instead);
    }

    fn note_unknown_keys(&mut self) {
        for (key, _) in self.table {
            let name: &str = key.get_ref();
            if self.keys.iter().any(|known| known.name == name) {
                continue;
            }
            let instead = self.advice_for_unknown(name);
            self.note(name, Some(key.span()), "is not a setting".into(), instead);
        }
    }

    fn advice_for_unknown(&self, name: &str) -> String {
        let mut known = self.keys.iter().map(|key| key.name);
        if let Some(meant) = nearest(name, known.clone()) {
            return format!("did you mean: {meant}");
        }
        // In TOML everything below a [section] belongs to it, which people forget.
        if keys::FILE.iter().any(|key| key.name == name) {
            return format!("move {name} above the first [section] of the file");
        }
        let first = known.next().unwrap_or_default().to_owned();
        let names = known.fold(first, |names, name| names + ", " + name);
        format!("the settings here are: {names}")
    }

    fn note(&mut self, key: &str, span: Option<Range<usize>>, wrong: String, instead: String) {
        self.problems.push(Problem {
            origin: self.document.at(span),
            key: self.dotted(key),
            wrong,
            instead,
        });
    }

    fn dotted(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.into()
        } else {
            format!("{}.{key}", self.path)
        }
    }
}

/// What a value is, in words.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a section",
    }
}
