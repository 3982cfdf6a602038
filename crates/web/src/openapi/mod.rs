//! What descriptions of APIs have in common.

mod problems;
mod route;
mod security;

pub use self::{
    problems::problem_schema,
    route::{Route, number, text},
    security::{bearer, queue_token},
};
