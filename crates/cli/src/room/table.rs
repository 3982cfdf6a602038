//! `ropeline room list`: one line for each room.

use std::time::Duration;

use ropeline_server::config::span_text;

use super::{
    desk::Desk,
    trouble::Trouble,
    views::{Estimate, Room},
};
use crate::units::{grouped, spoken};

/// Each wait is a question of its own, and a server takes 600 a minute.
const WAITS_MAX: usize = 200;
const HEAD: [&str; 6] = ["room", "state", "waiting", "inside", "lets in", "next wait"];

pub(super) async fn list(desk: &Desk) -> Result<String, Trouble> {
    let rooms = desk.rooms().await?;
    let mut rows = vec![HEAD.map(str::to_owned)];
    for (at, room) in rooms.iter().enumerate() {
        let wait = if at < WAITS_MAX {
            // The room may have been deleted since.
            let stats = desk.stats_read(&room.id).await.ok();
            next_wait(stats.and_then(|stats| stats.estimate), &room.state)
        } else {
            "-".into()
        };
        rows.push(row(room, wait));
    }
    Ok(aligned(&rows))
}

/// What somebody would be told who joined now.
pub(super) fn next_wait(estimate: Option<Estimate>, state: &str) -> String {
    match (estimate, state) {
        (_, "CLOSED" | "DRAINING") => "no joins".into(),
        (Some(Estimate { seconds: 0, .. }), _) => "none".into(),
        (Some(estimate), _) => spoken(Duration::from_secs(estimate.seconds)),
        (None, _) => "unknown".into(),
    }
}

fn row(room: &Room, wait: String) -> [String; 6] {
    let pace = match room.policy.batch {
        Some(batch) => format!("{} every {}", grouped(batch), span_text(room.policy.every)),
        None => "as they leave".into(),
    };
    [
        room.id.to_string(),
        room.state.clone(),
        grouped(room.waiting),
        of_cap(room.active, room.policy.active_max),
        pace,
        wait,
    ]
}

/// How many of how many, as in `12/200`; without a cap the number alone.
pub(super) fn of_cap(active: u64, cap: Option<u64>) -> String {
    match cap {
        Some(cap) => format!("{}/{}", grouped(active), grouped(cap)),
        None => grouped(active),
    }
}

/// Names to the left, figures to the right.
fn aligned(rows: &[[String; 6]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max();
    let widths: [usize; 6] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let line = |row: &[String; 6]| {
        let [room, state, waiting, inside, pace, wait] = row;
        let [w0, w1, w2, w3, w4, w5] = widths;
        format!(
            "{room:<w0$}  {state:<w1$}  {waiting:>w2$}  {inside:>w3$}  {pace:>w4$}  {wait:>w5$}\n"
        )
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_wait_is_said_in_words_where_there_is_no_number() {
        let estimate = |seconds| {
            Some(Estimate {
                seconds,
                low: 0,
                high: 0,
            })
        };
        assert_eq!(next_wait(estimate(65), "OPEN"), "1m 5s");
        assert_eq!(next_wait(estimate(0), "OPEN"), "none");
        assert_eq!(next_wait(None, "PAUSED"), "unknown");
        assert_eq!(next_wait(estimate(65), "CLOSED"), "no joins");
    }
}
