//! What the pages of both services are made of: a frame, two languages, files that browsers may keep.
//!
//! A service has one [`Book`] of its templates, texts and files, in which the common ones are too, and its handlers
//! take a [`Page`] to write.

mod assets;
mod book;
mod page;
mod text;

pub use self::{
    assets::{Asset, SCRIPT, STYLE, asset},
    book::{Book, Sources},
    page::Page,
    text::{Texts, fill, grouped},
};
