//! What the server promises, over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod admin;
mod ambiguous_paths;
mod app;
mod audit;
mod bad_input;
mod beside;
mod cross_site;
mod crowd;
mod endings;
mod gate;
mod health;
mod hostile_logins;
mod hosts;
mod identity;
mod login_resumes;
mod logins;
mod missing;
mod operate;
mod pages;
mod place;
mod problems;
mod rate;
mod refusals;
mod service;
mod sessions;
mod settings;
mod site;
mod stock;
