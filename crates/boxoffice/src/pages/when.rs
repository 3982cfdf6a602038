//! Days and times in words.
//!
//! The server does not know where its reader is, so it tells the time in UTC and says so; `assets/when.js` tells it
//! anew as the reader's clock has it.

use jiff::{Zoned, tz::TimeZone};
use minijinja::{Value, context};
use ropeline_core::Timestamp;
use ropeline_web::{
    Moment,
    pages::{Texts, fill},
};

/// A moment for `when.html`, in each of its forms.
pub(super) fn when(texts: &Texts, at: Timestamp) -> Value {
    let zoned = in_utc(at);
    let day = day(texts, &zoned);
    let time = zoned.strftime("%H:%M").to_string();
    let time = fill(texts.get("when", "time"), &[("time", &time)]);
    let both = fill(texts.get("when", "both"), &[("day", &day), ("time", &time)]);
    context! { iso => Moment(at).to_string(), day, time, short => &both, both }
}

fn in_utc(at: Timestamp) -> Zoned {
    let ms = i64::try_from(at.0).unwrap_or(i64::MAX);
    let moment = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX);
    moment.to_zoned(TimeZone::UTC)
}

fn day(texts: &Texts, at: &Zoned) -> String {
    let weekday = format!("weekday_{}", at.weekday().to_monday_one_offset());
    let month = format!("month_{}", at.month());
    let values = [
        ("weekday", texts.get("when", &weekday)),
        ("day", &at.day().to_string()),
        ("month", texts.get("when", &month)),
        ("year", &at.year().to_string()),
    ];
    fill(texts.get("when", "day"), &values)
}

/// How long a hold lasts, in words: whole minutes where there are any.
pub(super) fn length(texts: &Texts, seconds: u64) -> String {
    let (name, n) = match seconds {
        ..60 => ("seconds_many", seconds),
        60..120 => ("minutes_one", 1),
        _ => ("minutes_many", seconds / 60),
    };
    fill(texts.get("when", name), &[("n", &n.to_string())])
}

#[cfg(test)]
mod tests {
    use ropeline_web::Language;

    use super::*;
    use crate::pages::BOOK;

    #[test]
    fn a_moment_is_told_in_the_readers_language() {
        let at = Timestamp(1_809_165_600_123);
        for (language, told) in [
            (Language::English, "Saturday, 1 May 2027, 10:00 UTC"),
            (Language::Korean, "2027년 5월 1일 토요일 10:00 UTC"),
        ] {
            let when = when(BOOK.texts(language), at);
            assert_eq!(when.get_attr("both").unwrap().to_string(), told);
            let iso = when.get_attr("iso").unwrap().to_string();
            assert_eq!(iso, "2027-05-01T10:00:00.123Z");
        }
    }

    #[test]
    fn a_hold_lasts_seconds_or_minutes() {
        let texts = BOOK.texts(Language::English);
        for (seconds, told) in [
            (30, "30 seconds"),
            (60, "1 minute"),
            (119, "1 minute"),
            (300, "5 minutes"),
        ] {
            assert_eq!(length(texts, seconds), told);
        }
    }
}
