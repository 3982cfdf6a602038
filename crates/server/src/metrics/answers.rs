//! How requests were answered, and how fast.
//!
//! Every answer is counted. So each thread has counts of its own, which are summed when somebody asks: cores that write
//! to the same counts would wait for each other.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use http::StatusCode;
use prometheus::{
    core::{Collector, Desc},
    proto::{Bucket, Counter, Histogram, LabelPair, Metric, MetricFamily, MetricType},
};

const STATUS: &str = "status";
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
/// Threads with counts of their own; more than these share them.
const THREADS: usize = 16;

/// What was counted on all threads.
#[derive(Debug, Default)]
pub(super) struct Answers([Counts; THREADS]);

/// On cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counts {
    by_class: [AtomicU64; CLASSES.len()],
    by_time: [AtomicU64; BOUNDS.len() + 1],
    nanos: AtomicU64,
}

thread_local! {
    /// Which counts are this thread's.
    static HERE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Relaxed) % THREADS
    };
}

impl Answers {
    pub(super) fn note(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
        let bucket = BOUNDS.partition_point(|bound| *bound < took);
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let counts = &self.0[HERE.with(|here| *here)];
        counts.by_class[class].fetch_add(1, Relaxed);
        counts.by_time[bucket].fetch_add(1, Relaxed);
        counts.nanos.fetch_add(nanos, Relaxed);
    }

    fn sum(&self, of: impl Fn(&Counts) -> &AtomicU64) -> u64 {
        self.0.iter().map(|counts| of(counts).load(Relaxed)).sum()
    }

    fn by_class(&self) -> Vec<Metric> {
        let of_class = |(at, class): (usize, &str)| {
            let mut label = LabelPair::default();
            label.set_name(STATUS.to_owned());
            label.set_value(class.to_owned());
            let mut counter = Counter::default();
            // A float has room for more answers than there will ever be.
            #[expect(clippy::cast_precision_loss, reason = "figures are floats there")]
            counter.set_value(self.sum(|counts| &counts.by_class[at]) as f64);
            let mut metric = Metric::from_label(vec![label]);
            metric.set_counter(counter);
            metric
        };
        CLASSES.into_iter().enumerate().map(of_class).collect()
    }

    fn by_time(&self) -> Metric {
        let mut so_far = 0;
        let buckets = BOUNDS.iter().enumerate().map(|(at, bound)| {
            so_far += self.sum(|counts| &counts.by_time[at]);
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(bound.as_secs_f64());
            bucket.set_cumulative_count(so_far);
            bucket
        });
        let mut histogram = Histogram::default();
        histogram.set_bucket(buckets.collect());
        let longer = self.sum(|counts| &counts.by_time[BOUNDS.len()]);
        histogram.set_sample_count(so_far + longer);
        let in_all = Duration::from_nanos(self.sum(|counts| &counts.nanos));
        histogram.set_sample_sum(in_all.as_secs_f64());
        let mut metric = Metric::default();
        metric.set_histogram(histogram);
        metric
    }
}

/// What Prometheus is told of them.
pub(super) struct Told {
    answers: Arc<Answers>,
    by_class: Desc,
    by_time: Desc,
}

impl Told {
    pub(super) fn of(answers: &Arc<Answers>) -> Self {
        let desc = |name: &str, help: &str, labels: &[&str]| {
            let labels = labels.iter().map(|label| (*label).to_owned()).collect();
            Desc::new(name.to_owned(), help.to_owned(), labels, HashMap::new())
                .expect("valid names")
        };
        Self {
            answers: Arc::clone(answers),
            by_class: desc(
                "http_answers_total",
                "Answers by class of status",
                &[STATUS],
            ),
            by_time: desc(
                "http_answer_seconds",
                "Time from a request's head to its answer's",
                &[],
            ),
        }
    }
}

impl Collector for Told {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.by_class, &self.by_time]
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let family = |desc: &Desc, kind, metrics| {
            let mut family = MetricFamily::default();
            family.set_name(desc.fq_name.clone());
            family.set_help(desc.help.clone());
            family.set_field_type(kind);
            family.set_metric(metrics);
            family
        };
        vec![
            family(&self.by_class, MetricType::COUNTER, self.answers.by_class()),
            family(
                &self.by_time,
                MetricType::HISTOGRAM,
                vec![self.answers.by_time()],
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use prometheus::{Registry, TextEncoder};

    use super::*;

    #[test]
    fn what_threads_have_counted_is_told_as_one() {
        let answers = Arc::<Answers>::default();
        let registry = Registry::new();
        registry.register(Box::new(Told::of(&answers))).unwrap();
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
        let told = TextEncoder::new()
            .encode_to_string(&registry.gather())
            .unwrap();
        for line in [
            "# TYPE http_answers_total counter",
            "http_answers_total{status=\"2xx\"} 32",
            "http_answers_total{status=\"4xx\"} 32",
            "http_answers_total{status=\"5xx\"} 0",
            "# TYPE http_answer_seconds histogram",
            "http_answer_seconds_bucket{le=\"0.0001\"} 0",
            "http_answer_seconds_bucket{le=\"0.00025\"} 31",
            "http_answer_seconds_bucket{le=\"0.0025\"} 63",
            "http_answer_seconds_bucket{le=\"5\"} 63",
            "http_answer_seconds_bucket{le=\"+Inf\"} 64",
            "http_answer_seconds_sum 6.07175",
            "http_answer_seconds_count 64",
        ] {
            assert!(told.lines().any(|told| told == line), "{line} in\n{told}");
        }
    }
}
