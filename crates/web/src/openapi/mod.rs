//! What descriptions of APIs have in common.

mod problems;
mod route;

pub use self::{
    problems::problem_schema,
    route::{Route, number, text},
};
