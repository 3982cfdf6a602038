//! Helpers for Ropeline's tests. Never part of the product.

pub mod line;
