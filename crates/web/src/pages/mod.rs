//! What the pages of both services are made of: a frame, two languages, files that browsers may keep.
//!
//! A service has one [`Book`] of its templates, texts and files, in which the common ones are too, and its handlers
//! take a [`Page`] to write.

mod assets;
mod book;
mod missing;
mod page;
mod path;
mod text;

pub use self::{
    assets::{Asset, SCRIPT, STYLE, asset},
    book::{Book, Sources},
    missing::{method_not_allowed, not_found, opened_by_a_person, or_not_found, varies_by_reader},
    page::Page,
    path::PagePath,
    text::{Texts, fill, grouped},
};
