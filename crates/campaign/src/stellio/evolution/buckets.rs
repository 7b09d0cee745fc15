//! Aggregates: whether the buckets of one attribute and dataset together are what was written.

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use serde_json::Value as Json;

use super::{Observed, PRECISION, members};

/// Count, sum, sum of squares, least and greatest of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sums {
    pub(super) count: f64,
    pub(super) sum: f64,
    pub(super) squares: f64,
    pub(super) least: f64,
    pub(super) greatest: f64,
}

impl Sums {
    pub(super) fn new() -> Self {
        Self { count: 0.0, sum: 0.0, squares: 0.0, least: f64::INFINITY, greatest: f64::NEG_INFINITY }
    }

    pub(super) fn with(mut self, value: f64) -> Self {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
        self
    }
}

/// Looks at the buckets of `observed` by `method`, where `updates` were written; how many there are.
pub(super) fn check(entity: &Json, observed: &Observed, method: &str, updates: &Sums) -> Result<u64> {
    let expected = observed.own.into_iter().fold(*updates, Sums::with);
    let values = values(entity, observed, method)?;
    holds(method, &values, &expected)?;
    Ok(values.len() as u64)
}

/// The values of all buckets; each of them must begin before it ends, and after the one before.
fn values(entity: &Json, observed: &Observed, method: &str) -> Result<Vec<f64>> {
    let mut instances = members(entity, observed.name).into_iter();
    let found = instances.find(|instance| instance["datasetId"].as_str() == observed.dataset);
    let buckets =
        found.and_then(|instance| instance[method].as_array()).with_context(|| format!("no {method}"))?;
    let mut before = Timestamp::MIN;
    let mut value = |bucket: &Json| {
        let [value, from, to] = bucket.as_array()?.as_slice() else { return None };
        let time = |text: &Json| text.as_str()?.parse::<Timestamp>().ok();
        let (from, to) = (time(from)?, time(to)?);
        let kept = before <= from && from < to;
        before = to;
        kept.then(|| value.as_f64())?
    };
    buckets
        .iter()
        .map(|bucket| {
            value(bucket).with_context(|| format!("{method}: {bucket} is no bucket, or out of order"))
        })
        .collect()
}

/// Whether the buckets of `method` together are what was written.
fn holds(method: &str, values: &[f64], expected: &Sums) -> Result<()> {
    let total: f64 = values.iter().sum();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let near = |found: f64, wanted: f64| {
        let off = (found - wanted).abs();
        ensure!(off <= wanted.abs() * PRECISION, "{method}: {found} over all buckets, expected {wanted}");
        Ok(())
    };
    match method {
        "totalCount" => near(total, expected.count),
        "sum" => near(total, expected.sum),
        "sumsq" => near(total, expected.squares),
        "min" => near(least, expected.least),
        "max" => near(greatest, expected.greatest),
        "distinctCount" => {
            let kept = values.iter().all(|count| *count >= 1.0) && total <= expected.count;
            ensure!(kept, "{method}: {total} over all buckets of {} values", expected.count);
            Ok(())
        }
        "avg" => {
            let slack = expected.greatest * PRECISION;
            let kept = least >= expected.least - slack && greatest <= expected.greatest + slack;
            ensure!(kept, "{method}: {least} to {greatest}, of values from {} on", expected.least);
            Ok(())
        }
        _ => {
            let spread = expected.greatest - expected.least;
            // Of a sample, the deviation of two values is the spread over the root of two.
            let kept = least >= 0.0 && greatest <= spread;
            ensure!(kept, "{method}: {least} to {greatest}, of values {spread} apart");
            Ok(())
        }
    }
}
