//! What a run came to.

use std::time::Duration;

use serde::Serialize;

use super::{
    estimates::Quality,
    judge::{Closing, Wrong},
    latency::Latency,
    policy::RoomPolicy,
    stats::{float, quantile, sorted, tenth},
    tally::{Question, Stage, Tally},
};

/// Without the policy, admissions closer together than this are one wave.
const WAVE_GAP: Duration = Duration::from_millis(250);

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) url: String,
    pub(crate) seconds: f64,
    pub(crate) visitors: Visitors,
    pub(crate) questions: Questions,
    pub(crate) admissions: Option<Admissions>,
    pub(crate) waits: Option<Waits>,
    pub(crate) estimates: Estimates,
    pub(crate) most_inside: u64,
    /// `null` if it is not known, and then not checked.
    pub(crate) cap: Option<u64>,
    pub(crate) wrong_answers: u64,
    pub(crate) wrong: Wrong,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Visitors {
    pub(crate) all: usize,
    pub(crate) through: usize,
    pub(crate) left: usize,
    pub(crate) gone: usize,
    pub(crate) dismissed: usize,
    pub(crate) failed: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Questions {
    pub(crate) joins: Latency,
    pub(crate) polls: Latency,
    pub(crate) gates: u64,
    pub(crate) answers: u64,
    pub(crate) answers_per_second: f64,
    pub(crate) put_off: u64,
    pub(crate) unanswered: u64,
}

/// Who was let in together, by the server's times of day.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Admissions {
    pub(crate) all: usize,
    pub(crate) per_second: f64,
    pub(crate) waves: usize,
    pub(crate) median_wave: usize,
    pub(crate) largest_wave: usize,
}

/// In seconds, as the visitors saw them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Waits {
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) max: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Estimates {
    pub(crate) all: Option<Quality>,
    pub(crate) by_tenth: Vec<Quality>,
}

/// What is known besides what the visitors saw.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) url: String,
    pub(crate) took: Duration,
    pub(crate) policy: Option<RoomPolicy>,
    pub(crate) cap: Option<u64>,
    pub(crate) closing: Closing,
}

impl Report {
    pub(crate) fn new(tally: &Tally, wrong: Wrong, known: Known) -> Self {
        let seconds = known.took.as_secs_f64();
        let gap = known.policy.map_or(WAVE_GAP, |policy| policy.every / 2);
        Self {
            url: known.url,
            seconds: tenth(seconds),
            visitors: Visitors::of(tally),
            questions: Questions::of(tally, seconds),
            admissions: Admissions::of(tally, gap.min(WAVE_GAP)),
            waits: Waits::of(tally),
            estimates: Estimates {
                all: Quality::of(&tally.waits),
                by_tenth: Quality::by_tenth(&tally.waits),
            },
            most_inside: known.closing.most_inside,
            cap: known.cap,
            wrong_answers: wrong.total(),
            wrong,
        }
    }
}

impl Visitors {
    pub(crate) fn of(tally: &Tally) -> Self {
        Self {
            all: tally.visitors(),
            through: tally.count(Stage::Through),
            left: tally.count(Stage::Left),
            gone: tally.count(Stage::Gone),
            dismissed: tally.count(Stage::Dismissed),
            failed: tally.count(Stage::Failed),
        }
    }
}

impl Questions {
    fn of(tally: &Tally, seconds: f64) -> Self {
        let answers = usize::try_from(tally.answers).unwrap_or(usize::MAX);
        Self {
            joins: tally.latency(Question::Join),
            polls: tally.latency(Question::Poll),
            gates: tally.latency(Question::Gate).count,
            answers: tally.answers,
            answers_per_second: tenth(float(answers) / seconds.max(0.001)),
            put_off: tally.put_off.total(),
            unanswered: tally.unanswered,
        }
    }
}

impl Admissions {
    fn of(tally: &Tally, gap: Duration) -> Option<Self> {
        let mut moments: Vec<i64> = tally
            .admissions
            .iter()
            .map(|moment| moment.as_millisecond())
            .collect();
        moments.sort_unstable();
        let gap = i64::try_from(gap.as_millis()).unwrap_or(i64::MAX);
        let waves = moments.chunk_by(|one, next| next - one <= gap);
        let mut sizes: Vec<usize> = waves.map(<[i64]>::len).collect();
        sizes.sort_unstable();
        let took = moments.last()? - moments.first()?;
        let took = Duration::from_millis(took.unsigned_abs()).as_secs_f64();
        Some(Self {
            all: moments.len(),
            per_second: tenth(float(moments.len()) / took.max(1.0)),
            waves: sizes.len(),
            median_wave: quantile(&sizes, 0.5)?,
            largest_wave: *sizes.last()?,
        })
    }
}

impl Waits {
    fn of(tally: &Tally) -> Option<Self> {
        let waits = sorted(tally.seen_waits.clone());
        let at = |part| quantile(&waits, part).map(tenth);
        Some(Self {
            p50: at(0.5)?,
            p90: at(0.9)?,
            max: at(1.0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn waves_are_told_apart_by_the_gap_between_them() {
        let mut tally = Tally::new(1);
        for ms in [0, 5, 9, 5_000, 5_001, 10_000] {
            let moment = Timestamp::from_millisecond(ms).unwrap();
            tally.admissions.push(moment);
        }
        let admissions = Admissions::of(&tally, WAVE_GAP).unwrap();
        assert_eq!((admissions.waves, admissions.all), (3, 6));
        assert_eq!((admissions.median_wave, admissions.largest_wave), (2, 3));
        assert_eq!(Admissions::of(&Tally::new(1), WAVE_GAP), None);
    }
}
