//! Figures as Prometheus reads them: a name with its meaning, and a value for each set of labels.

use std::time::Duration;

use prometheus::proto::{
    Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType,
};

/// What a set of labels stands for, as `("room", "main")`.
pub(super) type Labels<'a> = &'a [(&'a str, &'a str)];

/// One name and its values.
pub(super) struct Family(MetricFamily);

impl Family {
    /// Values that go up and down.
    pub(super) fn gauge(name: &str, help: &str) -> Self {
        Self::new(name, help, MetricType::GAUGE)
    }

    /// Totals. Their names end with `_total`.
    pub(super) fn counter(name: &str, help: &str) -> Self {
        Self::new(name, help, MetricType::COUNTER)
    }

    /// Totals by size.
    pub(super) fn histogram(name: &str, help: &str) -> Self {
        Self::new(name, help, MetricType::HISTOGRAM)
    }

    fn new(name: &str, help: &str, kind: MetricType) -> Self {
        let mut family = MetricFamily::default();
        family.set_name(name.to_owned());
        family.set_help(help.to_owned());
        family.set_field_type(kind);
        Self(family)
    }

    /// A whole number.
    pub(super) fn set(&mut self, labels: Labels<'_>, count: u64) {
        self.put(labels, float(count));
    }

    /// Any number.
    pub(super) fn put(&mut self, labels: Labels<'_>, value: f64) {
        let mut metric = Metric::from_label(pairs(labels));
        if self.0.get_field_type() == MetricType::COUNTER {
            let mut counter = Counter::default();
            counter.set_value(value);
            metric.set_counter(counter);
        } else {
            let mut gauge = Gauge::default();
            gauge.set_value(value);
            metric.set_gauge(gauge);
        }
        self.0.mut_metric().push(metric);
    }

    /// How many were in each bucket, with one more for what is beyond all bounds, and the sum of all.
    pub(super) fn distribution(
        &mut self,
        labels: Labels<'_>,
        bounds: &[Duration],
        counts: &[u64],
        sum: f64,
    ) {
        let mut so_far = 0;
        let buckets = bounds.iter().zip(counts).map(|(bound, count)| {
            so_far += count;
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(bound.as_secs_f64());
            bucket.set_cumulative_count(so_far);
            bucket
        });
        let mut histogram = Histogram::default();
        histogram.set_bucket(buckets.collect());
        histogram.set_sample_count(counts.iter().sum());
        histogram.set_sample_sum(sum);
        let mut metric = Metric::from_label(pairs(labels));
        metric.set_histogram(histogram);
        self.0.mut_metric().push(metric);
    }

    /// The family, unless it has no values: then nothing is known, which is not zero.
    pub(super) fn known(self) -> Option<MetricFamily> {
        (!self.0.get_metric().is_empty()).then_some(self.0)
    }
}

fn pairs(labels: Labels<'_>) -> Vec<LabelPair> {
    let pair = |(name, value): &(&str, &str)| {
        let mut pair = LabelPair::default();
        pair.set_name((*name).to_owned());
        pair.set_value((*value).to_owned());
        pair
    };
    labels.iter().map(pair).collect()
}

/// A float has room for more than will ever be counted.
#[expect(clippy::cast_precision_loss, reason = "figures are floats there")]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}
