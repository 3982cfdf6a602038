//! How requests were answered, and how fast.

use std::{sync::atomic::AtomicU64, time::Duration};

use http::StatusCode;
use prometheus::proto::MetricFamily;

use super::{
    family::Family,
    threads::{PerThread, add},
};

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// Up to which time the answers of each bucket took; there is one more for those that took longer.
const BOUNDS: [Duration; 9] = [
    Duration::from_micros(100),
    Duration::from_micros(250),
    Duration::from_millis(1),
    Duration::from_micros(2_500),
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(5),
];

/// What was counted. Every answer is.
#[derive(Debug, Default)]
pub(super) struct Answers(PerThread<Counts>);

#[derive(Debug, Default)]
struct Counts {
    by_class: [AtomicU64; CLASSES.len()],
    by_time: [AtomicU64; BOUNDS.len() + 1],
    nanos: AtomicU64,
    rate_limited: AtomicU64,
}

impl Answers {
    pub(super) fn note(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
        let bucket = BOUNDS.partition_point(|bound| *bound < took);
        let counts = self.0.here();
        add(&counts.by_class[class], 1);
        add(&counts.by_time[bucket], 1);
        add(
            &counts.nanos,
            u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
        );
        if status == StatusCode::TOO_MANY_REQUESTS {
            add(&counts.rate_limited, 1);
        }
    }

    pub(super) fn families(&self) -> [Option<MetricFamily>; 3] {
        let Self(counts) = self;
        let mut by_class =
            Family::counter("ropeline_http_answers_total", "Answers by class of status");
        for (at, class) in CLASSES.into_iter().enumerate() {
            by_class.set(&[("status", class)], counts.sum(|of| &of.by_class[at]));
        }
        let mut limited = Family::counter(
            "ropeline_http_rate_limited_total",
            "Requests refused with 429 because their address or user had asked too often",
        );
        limited.set(&[], counts.sum(|of| &of.rate_limited));
        let mut by_time = Family::histogram(
            "ropeline_http_answer_seconds",
            "Time from a request's head to its answer's",
        );
        let buckets: [u64; BOUNDS.len() + 1] =
            std::array::from_fn(|at| counts.sum(|of| &of.by_time[at]));
        let in_all = Duration::from_nanos(counts.sum(|of| &of.nanos));
        by_time.distribution(&[], &BOUNDS, &buckets, in_all.as_secs_f64());
        [by_class.known(), limited.known(), by_time.known()]
    }
}

#[cfg(test)]
mod tests {
    use prometheus::TextEncoder;

    use super::*;
    use crate::metrics::threads::THREADS;

    #[test]
    fn what_threads_have_counted_is_told_as_one() {
        let answers = Answers::default();
        std::thread::scope(|threads| {
            for thread in 0..2 * THREADS {
                let answers = &answers;
                threads.spawn(move || {
                    let took = if thread == 0 { 6_000_000 } else { 250 };
                    answers.note(StatusCode::OK, Duration::from_micros(took));
                    answers.note(StatusCode::NOT_FOUND, Duration::from_millis(2));
                });
            }
        });
        answers.note(StatusCode::TOO_MANY_REQUESTS, Duration::ZERO);
        let families: Vec<_> = answers.families().into_iter().flatten().collect();
        let told = TextEncoder::new().encode_to_string(&families).unwrap();
        for line in [
            "# TYPE ropeline_http_answers_total counter",
            "ropeline_http_answers_total{status=\"2xx\"} 32",
            "ropeline_http_answers_total{status=\"4xx\"} 33",
            "ropeline_http_answers_total{status=\"5xx\"} 0",
            "ropeline_http_rate_limited_total 1",
            "# TYPE ropeline_http_answer_seconds histogram",
            "ropeline_http_answer_seconds_bucket{le=\"0.0001\"} 1",
            "ropeline_http_answer_seconds_bucket{le=\"0.00025\"} 32",
            "ropeline_http_answer_seconds_bucket{le=\"0.0025\"} 64",
            "ropeline_http_answer_seconds_bucket{le=\"5\"} 64",
            "ropeline_http_answer_seconds_bucket{le=\"+Inf\"} 65",
            "ropeline_http_answer_seconds_sum 6.07175",
            "ropeline_http_answer_seconds_count 65",
        ] {
            assert!(told.lines().any(|told| told == line), "{line} in\n{told}");
        }
    }
}
