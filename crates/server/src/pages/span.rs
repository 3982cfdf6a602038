//! A wait in words. `assets/words.js` says the same in the browser; a browser test compares the two.

use ropeline_web::pages::{Texts, fill};

const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 24 * HOUR_S;
/// From here on, minutes are rounded to tens: nobody needs to know that it is 134 minutes.
const COARSE_S: u64 = 90 * 60;

/// A wait that ends most likely between `low` and `high` seconds from now. Never seconds: they would be
/// wrong, and would make people watch them.
pub(crate) fn band(texts: &Texts, low: u64, high: u64) -> String {
    let text = |name| texts.get("span", name);
    let with = |name, values: &[(&str, u64)]| {
        let values: Vec<_> = values.iter().map(|(n, v)| (*n, v.to_string())).collect();
        let values: Vec<_> = values.iter().map(|(n, v)| (*n, v.as_str())).collect();
        fill(text(name), &values)
    };
    if high < 60 {
        return text("under_minute").to_owned();
    }
    if high >= DAY_S {
        return text("day").to_owned();
    }
    if high >= COARSE_S {
        return hours(texts, low, high);
    }
    let (low, high) = (low / 60, high.div_ceil(60));
    match (low, high) {
        (1, 1) => text("minute").to_owned(),
        (0, high) => with("minutes_up_to", &[("n", high)]),
        (low, high) if low == high => with("minutes", &[("n", high)]),
        (low, high) => with("minutes_band", &[("low", low), ("high", high)]),
    }
}

fn hours(texts: &Texts, low: u64, high: u64) -> String {
    let low = hour_minutes(texts, low / 600 * 10);
    let high = hour_minutes(texts, high.div_ceil(600) * 10);
    if low == high {
        fill(texts.get("span", "hours"), &[("n", &high)])
    } else {
        fill(
            texts.get("span", "hours_band"),
            &[("low", &low), ("high", &high)],
        )
    }
}

fn hour_minutes(texts: &Texts, minutes: u64) -> String {
    let (h, m) = ((minutes / 60).to_string(), (minutes % 60).to_string());
    let name = match (minutes / 60, minutes % 60) {
        (0, _) => "minute_only",
        (_, 0) => "hour_only",
        _ => "hour_minutes",
    };
    fill(texts.get("span", name), &[("h", &h), ("m", &m)])
}

#[cfg(test)]
mod tests {
    use ropeline_web::Language;

    use super::*;
    use crate::pages::book::BOOK;

    #[test]
    fn a_wait_is_told_no_finer_than_it_is_known() {
        for (low, high, english, korean) in [
            (0, 0, "less than a minute", "1분 이내"),
            (20, 59, "less than a minute", "1분 이내"),
            (60, 60, "about a minute", "약 1분"),
            (0, 61, "up to 2 minutes", "2분 이내"),
            (180, 240, "about 3 to 4 minutes", "3분~4분"),
            (300, 300, "about 5 minutes", "약 5분"),
            (185, 235, "about 3 to 4 minutes", "3분~4분"),
            (4_000, 5_399, "about 66 to 90 minutes", "66분~90분"),
            (4_000, 5_400, "1 h to 1 h 30 min", "1시간~1시간 30분"),
            (7_200, 7_200, "about 2 h", "약 2시간"),
            (500, 6_000, "0 min to 1 h 40 min", "0분~1시간 40분"),
            (80_000, 86_400, "more than a day", "하루 이상"),
        ] {
            let words = |language| band(BOOK.texts(language), low, high);
            assert_eq!(words(Language::English), english, "{low} {high}");
            assert_eq!(words(Language::Korean), korean, "{low} {high}");
        }
    }
}
