//! Everything that the command says: results on standard output, failures on standard error.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use crate::failure::Failure;

/// A command line that is not understood, as other programs have it.
const USAGE: u8 = 2;

/// Prints a result. A reader that went away (`ropeline config default | head`) has had enough.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Says something beside the result, which is for a program.
pub(crate) fn note(text: &str) {
    complain(text.trim_end());
}

/// Says why the command failed.
pub(crate) fn failure(failure: &Failure) -> ExitCode {
    complain(&format!("ropeline: {failure}"));
    ExitCode::FAILURE
}

/// Says how the command is used: because it was asked for, or because it was used in another way.
pub(crate) fn usage(usage: &clap::Error) -> ExitCode {
    if !usage.use_stderr() {
        // Help that cannot be printed has no better place to go.
        return match usage.print() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let text = usage.render().to_string();
    let text = text.trim_end();
    match text.strip_prefix("error: ") {
        Some(error) => complain(&format!("ropeline: {error}")),
        // A command that needs another one answers with its help.
        None => complain(text),
    }
    ExitCode::from(USAGE)
}

#[expect(
    clippy::print_stderr,
    reason = "this is where a command line complains"
)]
fn complain(text: &str) {
    eprintln!("{text}");
}
