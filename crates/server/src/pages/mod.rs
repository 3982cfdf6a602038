//! Pages for people: the home page, the waiting page and the operators' page, in Korean and English.

mod admin;
mod assets;
mod home;
mod page;
mod return_to;
mod span;
mod text;
mod wait;

pub(crate) use admin::{admin, log_in, log_out};
pub(crate) use assets::asset;
pub(crate) use home::home;
pub(crate) use page::Page;
pub(crate) use return_to::ReturnRule;
pub(crate) use wait::{join, leave, wait};
