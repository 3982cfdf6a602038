//! Everything that a service's pages are made of.

use axum::response::Response;
use minijinja::{Environment, UndefinedBehavior, Value};

use super::{
    assets::{Asset, Assets},
    text::{Texts, fill_filter, grouped},
};
use crate::{Language, Problem};

/// What every service's pages have in common.
const COMMON: [(&str, &str); 3] = [
    ("base.html", include_str!("../../templates/base.html")),
    ("missing.html", include_str!("../../templates/missing.html")),
    ("problem.html", include_str!("../../templates/problem.html")),
];

/// What a service's pages have beside the frame.
#[derive(Debug)]
pub struct Sources<'a> {
    /// Name and source of each template.
    pub templates: &'a [(&'static str, &'static str)],
    /// The texts in English and in Korean, as TOML.
    pub texts: [&'static str; 2],
    /// Styles and scripts.
    pub assets: &'static [Asset],
    /// Under which path the service routes its assets, as `/assets`.
    pub assets_at: &'static str,
}

/// The templates, texts and files of a service's pages. It is made once, and what is wrong in it is found by the
/// first test that makes it.
#[derive(Debug)]
pub struct Book {
    templates: Environment<'static>,
    texts: [Texts; 2],
    assets: Assets,
}

impl Book {
    /// Puts a service's own sources and the common ones together.
    pub fn new(sources: &Sources<'_>) -> Self {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.add_filter("fill", fill_filter);
        templates.add_filter("grouped", grouped);
        for (name, source) in COMMON.iter().chain(sources.templates) {
            let added = templates.add_template(name, source);
            added.expect("the tests render every template");
        }
        let [english, korean] = sources.texts;
        Self {
            templates,
            texts: [
                Texts::read(Language::English, english),
                Texts::read(Language::Korean, korean),
            ],
            assets: Assets::new(sources.assets_at, sources.assets),
        }
    }

    /// What is said in a language.
    pub fn texts(&self, language: Language) -> &Texts {
        let [english, korean] = &self.texts;
        match language {
            Language::English => english,
            Language::Korean => korean,
        }
    }

    /// The texts that one language has and the other lacks, leaves empty or fills with other values. A service's
    /// tests hold that there are none.
    pub fn untold(&self) -> Vec<String> {
        let [english, korean] = &self.texts;
        [english.untold_in(korean), korean.untold_in(english)].concat()
    }

    /// One file, for the path that the service routes it at. A page of another version of the service may ask for
    /// its own: it gets ours, but may not keep it.
    pub fn asset(&self, digest: &str, name: &str) -> Result<Response, Problem> {
        self.assets.answer(digest, name)
    }

    /// Where the files are, without a slash at its end.
    pub(super) fn assets_base(&self) -> &str {
        self.assets.base()
    }

    pub(super) fn render(
        &self,
        template: &str,
        content: Value,
    ) -> Result<String, minijinja::Error> {
        self.templates.get_template(template)?.render(content)
    }
}
