//! What kind of crowd is wanted.

use std::time::Duration;

use super::target::Target;
use crate::units::{Spans, share, span, spans};

/// A crowd of visitors as they really are, each of whom judges every answer.
///
/// They arrive over a while, most of them early, and ask as often as they are told. Some leave the line, some close
/// the tab, and who is let in passes the gate a few times and finishes. The default server lets 10 in per
/// second, so 5000 visitors take over eight minutes; --until reports sooner. The exit code is 1 if any
/// answer was wrong.
///
/// Example: ropeline load crowd --visitors 5000 --until 60s
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CrowdArgs {
    /// How many come
    #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) visitors: u32,

    /// Over how long they arrive
    #[arg(long, value_name = "SPAN", default_value = "20s", value_parser = span)]
    pub(crate) arrive: Duration,

    /// Stop after so long: those who are left leave, and what was seen is reported [default: when all are through]
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub(crate) until: Option<Duration>,

    /// How many give up their place while they wait
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = share)]
    pub(crate) leave: f64,

    /// How many close the tab while they wait
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = share)]
    pub(crate) close: f64,

    /// How many of those come back
    #[arg(long, value_name = "SHARE", default_value = "60%", value_parser = share)]
    pub(crate) come_back: f64,

    /// After how long they do
    #[arg(long, value_name = "SPAN..SPAN", default_value = "10s..2m", value_parser = spans)]
    pub(crate) away: Spans,

    /// How long one stays inside
    #[arg(long, value_name = "SPAN..SPAN", default_value = "2s..6s", value_parser = spans)]
    pub(crate) stay: Spans,

    /// How many of those inside buy; the others look around
    #[arg(long, value_name = "SHARE", default_value = "70%", value_parser = share)]
    pub(crate) buy: f64,

    /// How many let their pass run out, if passes last less than 15 s
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    pub(crate) idle: f64,

    /// Makes the same crowd again
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) target: Target,
}
