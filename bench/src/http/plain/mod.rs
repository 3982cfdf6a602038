//! The plain designs: queue services as the teams of the five seeds wrote them, all behind the same HTTP.
//!
//! Every request sends its commands one after the other, as a repository on Spring or a Node client does. `line.rs`,
//! `list.rs` and `table.rs` say which seed each command is from. Where the seeds differ, the cheaper way is taken;
//! where that is a matter of size, as with `KEYS`, both are. `together.rs` and `bare.rs` are nobody's design but
//! yardsticks.

mod api;
mod bare;
mod line;
mod list;
mod table;
mod together;

use clap::ValueEnum;
use line::{Counting, Line};
use list::List;
use table::Table;
use together::Together;
use tokio::runtime::Runtime;

use crate::Result;

/// What the process that [`super::OwnServer`] starts is told.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// The Redis or the PostgreSQL that the line is in.
    #[arg(long)]
    store: String,
    /// How many are let in without waiting.
    #[arg(long)]
    entry_limit: u64,
    /// How the line is kept.
    #[arg(long, value_enum)]
    design: Kind,
    /// How many the scheduler lets in every ten seconds.
    #[arg(long)]
    batch: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Kind {
    /// A sorted set, and a counter of those inside.
    Card,
    /// A sorted set, and those inside counted by `KEYS`.
    Keys,
    /// A list that is scanned (001).
    List,
    /// A table (003 and 004 before their move to Redis).
    Table,
    /// A sorted set, and many joins by one script.
    Together,
    /// The same, and nothing else but hyper on event loops.
    Bare,
}

pub(crate) fn serve(args: &Args) -> Result<()> {
    let (store, limit) = (&args.store, args.entry_limit);
    Runtime::new()?.block_on(async {
        match args.design {
            Kind::Card => {
                api::serve_line(Line::open(store, limit, Counting::Card).await?, args.batch).await
            }
            Kind::Keys => {
                api::serve_line(Line::open(store, limit, Counting::Keys).await?, args.batch).await
            }
            Kind::List => api::serve(List::open(store, limit).await?, args.batch).await,
            Kind::Together => api::serve(Together::open(store, limit).await?, args.batch).await,
            Kind::Bare => bare::serve(store).await,
            Kind::Table => api::serve(Table::open(store, limit).await?, args.batch).await,
        }
    })
}
