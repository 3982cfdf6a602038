//! `ropeline room show`: all about one room.

use std::{fmt::Write, time::Duration};

use ropeline_server::config::{span_text, summary};

use super::{
    table::{next_wait, of_cap},
    views::{Grade, Room, Stats, Waits},
    words::people,
};
use crate::units::{grouped, spoken};

pub(super) fn text(room: &Room, stats: &Stats) -> String {
    let mut text = format!("{} is {}\n\n", room.id, state_in_words(&room.state));
    let mut line = |name: &str, figure: &str| {
        writeln!(text, "{name:<11} {figure}").expect("a String takes everything");
    };
    line("people", &figures(room));
    if let Some(left) = room.seats_left {
        line("seats left", &seats(left));
    }
    line("policy", &summary(&room.policy));
    for sentence in fine_print(room) {
        line("", &sentence);
    }
    line("next wait", &expected(room, stats));
    let rates = stats.per_minute;
    line(
        "per minute",
        &format!(
            "{} joined, {} admitted, {} left inside, {} gave up waiting",
            rate(rates.joined),
            rate(rates.admitted),
            rate(rates.departed),
            rate(rates.left)
        ),
    );
    line("waits", &waits(&stats.waits));
    line("estimates", &estimates(&stats.estimates));
    text
}

pub(super) fn state_in_words(state: &str) -> &str {
    match state {
        "OPEN" => "open",
        "PAUSED" => "paused: nobody is let in, joins wait",
        "CLOSED" => "closed: no joins, the line goes on",
        "DRAINING" => "draining: no joins, closed once empty",
        other => other,
    }
}

fn figures(room: &Room) -> String {
    let mut text = people(room);
    if let Some(cap) = room.policy.active_max {
        write!(text, " (at most {})", grouped(cap)).expect("a String takes everything");
    }
    if room.door > 0 {
        let count = grouped(room.door);
        write!(text, ", {count} came back and go first").expect("a String takes everything");
    }
    if room.aside > 0 {
        let count = grouped(room.aside);
        write!(text, ", {count} missed their turn").expect("a String takes everything");
    }
    format!("{text}; {} joined so far", grouped(room.issued))
}

fn seats(left: u64) -> String {
    match left {
        0 => "none: who waits is told so, and the line goes on".into(),
        left => grouped(left),
    }
}

/// The settings that one seldom asks for.
fn fine_print(room: &Room) -> [String; 2] {
    let policy = &room.policy;
    let pass_max = if policy.pass_max.is_zero() {
        "a used pass lasts for ever".into()
    } else {
        format!("no pass lasts longer than {}", span_text(policy.pass_max))
    };
    let absent = if policy.presence_ttl.is_zero() {
        "nobody is stepped over for being away".into()
    } else {
        format!(
            "who is away for {} is stepped over and may come back for {}",
            span_text(policy.presence_ttl),
            span_text(policy.missed_turn_ttl)
        )
    };
    let room_for = grouped(policy.waiting_max);
    let identity = policy.identity.as_str();
    [
        format!("{pass_max}; {absent}"),
        format!("at most {room_for} in line; identity {identity}"),
    ]
}

fn expected(room: &Room, stats: &Stats) -> String {
    let wait = next_wait(stats.estimate, &room.state);
    match stats.estimate {
        Some(estimate) if estimate.seconds > 0 && room.state == "OPEN" => {
            let [low, high] = [estimate.low, estimate.high].map(Duration::from_secs);
            format!("{wait}, most likely {} to {}", spoken(low), spoken(high))
        }
        _ => wait,
    }
}

fn waits(waits: &Waits) -> String {
    if waits.count == 0 {
        return "nobody's turn came in the last 15 minutes".into();
    }
    format!(
        "half within {}, 90% within {}, 99% within {}, longest {} (last 15 minutes, {} visitors)",
        seconds_or_dash(waits.p50_seconds),
        seconds_or_dash(waits.p90_seconds),
        seconds_or_dash(waits.p99_seconds),
        seconds_or_dash(waits.max_seconds),
        grouped(waits.count)
    )
}

fn estimates(grade: &Grade) -> String {
    let (Some(bias), Some(off)) = (grade.mean_error_seconds, grade.mean_abs_error_seconds) else {
        return "none came due in the last 15 minutes".into();
    };
    let bias = match bias {
        late if late <= -0.5 => format!("people waited {} longer than told", seconds(-late)),
        early if early >= 0.5 => format!("people waited {} less than told", seconds(early)),
        _ => "neither long nor short on average".into(),
    };
    format!(
        "off by {} on average, {} within the band; {bias}",
        seconds(off),
        in_band(grade)
    )
}

/// Seconds as people say them, to a tenth below ten.
pub(super) fn seconds(figure: f64) -> String {
    if figure < 9.95 {
        let text = format!("{figure:.1}");
        return format!("{}s", text.strip_suffix(".0").unwrap_or(&text));
    }
    spoken(Duration::from_secs(whole(figure)))
}

/// A rate, to a tenth below ten.
pub(super) fn rate(figure: f64) -> String {
    if figure < 9.95 {
        let text = format!("{figure:.1}");
        return text.strip_suffix(".0").unwrap_or(&text).to_owned();
    }
    grouped(whole(figure))
}

/// The share of waits that were as told; a dash if none ended.
pub(super) fn in_band(grade: &Grade) -> String {
    let share = |within: f64| format!("{:.0}%", within * 100.0);
    grade.within_band.map_or_else(dash, share)
}

/// Seconds as people say them; a dash where nothing was measured.
pub(super) fn seconds_or_dash(figure: Option<f64>) -> String {
    figure.map_or_else(dash, seconds)
}

fn dash() -> String {
    "-".to_owned()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures that are never below zero; a cast stops at the ends"
)]
fn whole(figure: f64) -> u64 {
    figure.round() as u64
}

/// How many are inside, of how many.
pub(super) fn inside(room: &Room) -> String {
    of_cap(room.active, room.policy.active_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_left_is_said_in_words() {
        assert_eq!(seats(1_200), "1,200");
        assert!(seats(0).starts_with("none: "));
    }

    #[test]
    fn what_was_not_measured_is_a_dash_or_a_sentence() {
        let nothing = serde_json::json!({
            "count": 0, "meanErrorSeconds": null, "meanAbsErrorSeconds": null, "withinBand": null,
        });
        let grade: Grade = serde_json::from_value(nothing).unwrap();
        assert_eq!(in_band(&grade), "-");
        assert_eq!(estimates(&grade), "none came due in the last 15 minutes");
        assert_eq!(seconds_or_dash(None), "-");
        assert_eq!(seconds_or_dash(Some(0.0)), "0s");
    }

    #[test]
    fn small_figures_have_a_tenth_and_large_ones_units() {
        assert_eq!(seconds(0.0), "0s");
        assert_eq!(seconds(2.34), "2.3s");
        assert_eq!(seconds(9.96), "10s");
        assert_eq!(seconds(95.4), "1m 35s");
        assert_eq!(rate(0.0), "0");
        assert_eq!(rate(3.25), "3.2");
        assert_eq!(rate(1_234_567.0), "1,234,567");
    }
}
