//! Days and times in words.
//!
//! A concert begins by the clocks of its venue, wherever its buyers are: its times are told by those clocks, and the zone
//! is named with them.

use jiff::Zoned;
use minijinja::{Value, context};
use ropeline_core::Timestamp;
use ropeline_web::pages::{Texts, fill};

use crate::Zone;

/// A moment for `when.html`, in each of its forms, by the clocks of a zone.
pub(super) fn when(texts: &Texts, at: Timestamp, zone: &Zone) -> Value {
    let local = zone.at(at);
    let time = time(texts, &local, &named(texts, zone, &local));
    let date = date(texts, &local, "date");
    context! {
        iso => zone.rfc_3339(at),
        day => self::date(texts, &local, "day"),
        both => fill(texts.get("when", "both"), &[("date", &date), ("time", &time)]),
        time,
    }
}

/// The day, as the text of this name tells it.
fn date(texts: &Texts, at: &Zoned, name: &str) -> String {
    let (weekday, month) = (at.weekday().to_monday_one_offset(), at.month());
    let of = |what: &str, number: i8| texts.get("when", &format!("{what}_{number}")).to_owned();
    let values = [
        ("weekday", of("weekday", weekday)),
        ("wd", of("wd", weekday)),
        ("month", of("month", month)),
        ("mon", of("mon", month)),
        ("day", at.day().to_string()),
        ("year", at.year().to_string()),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, &**value));
    fill(texts.get("when", name), &values)
}

/// The time of day on a clock of twelve hours, with its zone.
fn time(texts: &Texts, at: &Zoned, zone: &str) -> String {
    let half = if at.hour() < 12 {
        "morning"
    } else {
        "afternoon"
    };
    let hour = (at.hour() + 11) % 12 + 1;
    let clock = format!("{hour}:{:02}", at.minute());
    let time = fill(texts.get("when", half), &[("time", &clock)]);
    fill(
        texts.get("when", "in_zone"),
        &[("time", &time), ("zone", zone)],
    )
}

/// What a zone is called on a day: by its city, and by how far it is from UTC then, since a time that comes twice on the
/// day on which clocks are set back differs in that alone.
fn named(texts: &Texts, zone: &Zone, at: &Zoned) -> String {
    let offset = offset(at.offset().seconds());
    match city(texts, zone.name()) {
        Some(city) => fill(
            texts.get("when", "zone"),
            &[("city", &city), ("offset", &offset)],
        ),
        None => offset,
    }
}

/// The city of a zone; in English it is in the zone's name. UTC and its like have none.
fn city(texts: &Texts, zone: &str) -> Option<String> {
    let (area, city) = zone.rsplit_once('/')?;
    let named = texts.find("cities", city);
    (area != "Etc").then(|| named.map_or_else(|| city.replace('_', " "), str::to_owned))
}

/// `UTC`, `UTC+9` or `UTC-3:30`.
fn offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    match (minutes / 60, minutes % 60) {
        (0, 0) => "UTC".to_owned(),
        (hours, 0) => format!("UTC{sign}{hours}"),
        (hours, minutes) => format!("UTC{sign}{hours}:{minutes:02}"),
    }
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

    /// A moment by the clocks of a zone, in English and in Korean.
    fn told(at: &str, zone: &str) -> [String; 2] {
        let at: jiff::Timestamp = at.parse().unwrap();
        let at = Timestamp(u64::try_from(at.as_millisecond()).unwrap());
        [Language::English, Language::Korean].map(|language| {
            let when = when(BOOK.texts(language), at, &Zone::named(zone).unwrap());
            let both = when.get_attr("both").unwrap().to_string();
            both.replace('\u{a0}', " ")
        })
    }

    #[test]
    fn a_concert_is_told_by_the_clocks_of_its_venue() {
        let at = "2026-12-18T10:00:00Z";
        for (zone, english, korean) in [
            (
                "Asia/Seoul",
                "Fri, 18 Dec 2026, 7:00 PM (Seoul time, UTC+9)",
                "2026년 12월 18일 (금) 오후 7:00 (서울 시간, UTC+9)",
            ),
            (
                "America/Los_Angeles",
                "Fri, 18 Dec 2026, 2:00 AM (Los Angeles time, UTC-8)",
                "2026년 12월 18일 (금) 오전 2:00 (로스앤젤레스 시간, UTC-8)",
            ),
            (
                "Pacific/Auckland",
                "Fri, 18 Dec 2026, 11:00 PM (Auckland time, UTC+13)",
                "2026년 12월 18일 (금) 오후 11:00 (오클랜드 시간, UTC+13)",
            ),
            (
                "Asia/Kathmandu",
                "Fri, 18 Dec 2026, 3:45 PM (Kathmandu time, UTC+5:45)",
                "2026년 12월 18일 (금) 오후 3:45 (Kathmandu 시간, UTC+5:45)",
            ),
            (
                "UTC",
                "Fri, 18 Dec 2026, 10:00 AM (UTC)",
                "2026년 12월 18일 (금) 오전 10:00 (UTC)",
            ),
            (
                "Etc/GMT+3",
                "Fri, 18 Dec 2026, 7:00 AM (UTC-3)",
                "2026년 12월 18일 (금) 오전 7:00 (UTC-3)",
            ),
        ] {
            assert_eq!(told(at, zone), [english, korean]);
        }
    }

    #[test]
    fn an_hour_that_comes_twice_or_never_is_told_without_doubt() {
        for (at, zone, english) in [
            (
                "2027-03-14T09:59:00Z",
                "America/Los_Angeles",
                "1:59 AM (Los Angeles time, UTC-8)",
            ),
            (
                "2027-03-14T10:00:00Z",
                "America/Los_Angeles",
                "3:00 AM (Los Angeles time, UTC-7)",
            ),
            (
                "2027-11-07T08:30:00Z",
                "America/Los_Angeles",
                "1:30 AM (Los Angeles time, UTC-7)",
            ),
            (
                "2027-11-07T09:30:00Z",
                "America/Los_Angeles",
                "1:30 AM (Los Angeles time, UTC-8)",
            ),
            (
                "2027-04-03T13:30:00Z",
                "Pacific/Auckland",
                "2:30 AM (Auckland time, UTC+13)",
            ),
            (
                "2027-04-03T14:30:00Z",
                "Pacific/Auckland",
                "2:30 AM (Auckland time, UTC+12)",
            ),
        ] {
            let [told, _] = told(at, zone);
            assert!(told.ends_with(english), "{told}");
        }
    }

    #[test]
    fn noon_and_midnight_are_twelve() {
        for (at, english, korean) in [
            ("2026-12-17T15:00:00Z", "12:00 AM", "오전 12:00"),
            ("2026-12-18T03:05:00Z", "12:05 PM", "오후 12:05"),
        ] {
            let [told, told_in_korean] = told(at, "Asia/Seoul");
            assert!(
                told.starts_with("Fri, 18 Dec") && told.contains(english),
                "{told}"
            );
            assert!(told_in_korean.contains(korean), "{told_in_korean}");
        }
    }

    #[test]
    fn a_moment_has_a_day_a_time_and_a_form_for_programs() {
        let at = Timestamp(1_797_588_000_000);
        let when = when(
            BOOK.texts(Language::English),
            at,
            &Zone::named("Asia/Seoul").unwrap(),
        );
        let part = |name: &str| when.get_attr(name).unwrap().to_string();
        assert_eq!(part("day"), "Friday, 18 December 2026");
        assert_eq!(part("time"), "7:00\u{a0}PM (Seoul time, UTC+9)");
        assert_eq!(part("iso"), "2026-12-18T19:00:00+09:00");
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
