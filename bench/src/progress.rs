//! What the run says while it runs, on standard error.

use std::io::{Write as _, stderr};

use crate::{report, stats::Run};

pub(crate) fn phase(text: &str) {
    eprintln!("\n{text}");
}

pub(crate) fn step(text: &str) {
    eprintln!("  {text}");
}

/// Begins a line that [`part`] and [`result`] go on with.
pub(crate) fn begin(text: &str) {
    eprint!("  {text:<44}");
    flush();
}

pub(crate) fn part(text: &str) {
    eprint!(" {text}");
    flush();
}

pub(crate) fn result(run: &Run) {
    let p99 = report::millis(run.p99.as_secs_f64() * 1e3);
    eprintln!("{:>10}/s   p99 {p99:>6} ms", report::rate(run.per_second));
}

pub(crate) fn end() {
    eprintln!();
}

/// A progress line that cannot be shown is no reason to stop.
fn flush() {
    stderr().flush().ok();
}
