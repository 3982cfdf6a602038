//! Times of day as people and programs read them.

pub use ropeline_web::Moment;
