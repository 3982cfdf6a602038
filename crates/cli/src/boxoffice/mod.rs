//! The concert box office: beside the rooms, or as a service of its own.

mod alone;
mod beside;
mod books;

pub(crate) use self::{
    alone::{BoxOfficeArgs, run},
    beside::{Neighbour, Wish},
    books::has_idle_books,
};
