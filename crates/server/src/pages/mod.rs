//! Pages for people: the home page, the waiting page and the operators' page, in Korean and English.

mod admin;
mod book;
mod home;
mod return_to;
mod span;
mod wait;

pub(crate) use admin::{admin, log_in, log_out};
pub(crate) use book::asset_file;
pub(crate) use home::home;
pub(crate) use return_to::ReturnRule;
pub(crate) use wait::{join, leave, wait};
