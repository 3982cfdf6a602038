//! `ropeline room watch`: a room as it is, second by second.

mod backoff;
mod big;
mod chart;
mod draw;
mod feed;
mod lines;
mod live;
mod numbers;
mod screen;
mod terminal;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal};

use self::{feed::Look, screen::Screen};
use super::{Form, args::WatchArgs, desk::Desk};
use crate::failure::Failure;

/// A picture on a terminal, lines elsewhere. What is wrong from the beginning ends it; what goes wrong later is
/// waited for.
pub(super) async fn run(desk: &Desk, args: WatchArgs, form: Form) -> Result<(), Failure> {
    if args.once || form == Form::Json || !io::stdout().is_terminal() || !io::stdin().is_terminal()
    {
        return lines::run(desk, &args, form).await;
    }
    let first = Look::take(desk, &args.room).await?;
    let screen = Screen::new(desk.base().to_string(), first);
    live::run(desk.clone(), args, screen).await
}
