//! Kinds of problems in words, at the address that a problem names as `type`.

mod page;

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

pub use self::page::explain;
use crate::{Kind, Language};

/// A kind of problem in words.
#[derive(Debug, Clone, Copy)]
pub struct Explained {
    /// The kind.
    pub kind: &'static Kind,
    /// When it happens: sentences without HTML.
    pub when: &'static str,
    /// What a client does about it, likewise.
    pub what_to_do: &'static str,
}

/// The words for one kind of problem in one language.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// What it is.
    pub title: &'static str,
    /// When it happens.
    pub when: &'static str,
    /// What a client does about it.
    pub what_to_do: &'static str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Korean {
    title: String,
    when: String,
    what_to_do: String,
}

static KOREAN: LazyLock<BTreeMap<String, Korean>> = LazyLock::new(|| {
    let texts = include_str!("../../texts/problems.ko.toml");
    toml::from_str(texts).expect("the tests read the built-in texts too")
});

impl Explained {
    /// The kind, when it happens, and what a client does about it.
    pub const fn new(kind: &'static Kind, when: &'static str, what_to_do: &'static str) -> Self {
        Self {
            kind,
            when,
            what_to_do,
        }
    }

    /// The words in a language, for people. `None` if they are missing, which each service's tests rule out.
    pub fn words(&self, language: Language) -> Option<Words> {
        match language {
            Language::English => Some(self.english()),
            Language::Korean => KOREAN.get(self.kind.code).map(|it| Words {
                title: &it.title,
                when: &it.when,
                what_to_do: &it.what_to_do,
            }),
        }
    }

    /// The words for programs.
    pub fn english(&self) -> Words {
        Words {
            title: self.kind.title,
            when: self.when,
            what_to_do: self.what_to_do,
        }
    }
}
