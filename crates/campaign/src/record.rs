//! What a load leaves behind: latencies of successes, errors by kind, and counts by second.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde::Serialize;

/// Examples recorded of each kind of error.
const EXAMPLES_MAX: usize = 3;
/// Characters recorded of an example.
const EXAMPLE_CHARS_MAX: usize = 300;
/// Seconds of a load that are counted separately; later ones fall into the last.
const SECONDS_MAX: usize = 4 * 3600;
/// The longest latency that is distinguished: an hour, in nanoseconds.
const NANOSECONDS_MAX: u64 = 3_600_000_000_000;

/// Errors of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Errors {
    /// How many.
    pub count: u64,
    /// The first few, in words.
    pub examples: Vec<String>,
}

/// One second of a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Second {
    /// Successes that ended in it.
    pub successes: u64,
    /// Errors that ended in it.
    pub errors: u64,
    /// The sum of the latencies of its successes.
    #[serde(rename = "latency_us_sum")]
    pub microseconds: u64,
    /// The longest latency of its successes.
    #[serde(rename = "latency_us_max")]
    pub microseconds_max: u64,
}

/// The record of one generator thread, or of a whole load once merged.
///
/// Invariant: the histogram holds successes only, one value each.
#[derive(Debug, Clone)]
pub struct Record {
    latencies: Histogram<u64>,
    lags: Option<Histogram<u64>>,
    /// Errors by status or kind.
    pub errors: BTreeMap<String, Errors>,
    /// Second by second, from the start of the load.
    pub seconds: Vec<Second>,
    /// Bytes of the bodies of successes.
    pub body_bytes: u64,
}

impl Record {
    /// An empty record, of about 250 KB.
    pub fn new() -> Self {
        Self {
            latencies: nanoseconds(),
            lags: None,
            errors: BTreeMap::new(),
            seconds: Vec::new(),
            body_bytes: 0,
        }
    }

    /// Notes a success that took `took` and ended `at` after the start. Cost: some 10 ns.
    pub fn success(&mut self, took: Duration, at: Duration, body_bytes: u64) {
        self.latencies.saturating_record(nanos(took));
        self.body_bytes += body_bytes;
        let micros = nanos(took) / 1_000;
        let second = self.second(at);
        second.successes += 1;
        second.microseconds += micros;
        second.microseconds_max = second.microseconds_max.max(micros);
    }

    /// Notes an error of `kind` that ended `at` after the start; `example` is asked for only if it is recorded.
    pub fn failure(&mut self, kind: &str, at: Duration, example: impl FnOnce() -> String) {
        self.second(at).errors += 1;
        if !self.errors.contains_key(kind) {
            self.errors.insert(kind.to_owned(), Errors::default());
        }
        let Some(errors) = self.errors.get_mut(kind) else { return };
        errors.count += 1;
        if errors.examples.len() < EXAMPLES_MAX {
            errors.examples.push(example().chars().take(EXAMPLE_CHARS_MAX).collect());
        }
    }

    /// Notes how long after the intended moment the generator itself sent a request.
    pub fn lag(&mut self, lag: Duration) {
        self.lags.get_or_insert_with(nanoseconds).saturating_record(nanos(lag));
    }

    fn second(&mut self, at: Duration) -> &mut Second {
        let index = usize::try_from(at.as_secs()).unwrap_or(SECONDS_MAX).min(SECONDS_MAX);
        if self.seconds.len() <= index {
            self.seconds.resize(index + 1, Second::default());
        }
        self.seconds.get_mut(index).expect("the list was made long enough just above")
    }

    /// Adds what another thread, or another run of the same load, recorded.
    pub fn merge(&mut self, other: &Self) {
        self.latencies.add(&other.latencies).expect("all histograms have the same bounds");
        if let Some(lags) = &other.lags {
            self.lags.get_or_insert_with(nanoseconds).add(lags).expect("all histograms have the same bounds");
        }
        for (kind, errors) in &other.errors {
            let own = self.errors.entry(kind.clone()).or_default();
            own.count += errors.count;
            let room = EXAMPLES_MAX.saturating_sub(own.examples.len());
            own.examples.extend(errors.examples.iter().take(room).cloned());
        }
        self.body_bytes += other.body_bytes;
        for (index, theirs) in other.seconds.iter().enumerate() {
            let own = self.second(Duration::from_secs(index as u64));
            own.successes += theirs.successes;
            own.errors += theirs.errors;
            own.microseconds += theirs.microseconds;
            own.microseconds_max = own.microseconds_max.max(theirs.microseconds_max);
        }
    }

    /// How many calls succeeded.
    pub fn successes(&self) -> u64 {
        self.latencies.len()
    }

    /// How many calls failed.
    pub fn failures(&self) -> u64 {
        self.errors.values().map(|errors| errors.count).sum()
    }

    /// Successes and errors.
    pub fn calls(&self) -> u64 {
        self.successes() + self.failures()
    }

    /// The latency below which `percent` of the successes stayed, in milliseconds.
    pub fn percentile_ms(&self, percent: f64) -> f64 {
        milliseconds(self.latencies.value_at_percentile(percent))
    }

    /// The mean latency of successes, in milliseconds.
    pub fn mean_ms(&self) -> f64 {
        self.latencies.mean() / 1e6
    }

    /// The longest latency of a success, in milliseconds.
    pub fn max_ms(&self) -> f64 {
        milliseconds(self.latencies.max())
    }

    /// The lag below which `percent` of the generator's own sends stayed, in milliseconds, for open loops.
    pub fn lag_percentile_ms(&self, percent: f64) -> Option<f64> {
        self.lags.as_ref().map(|lags| milliseconds(lags.value_at_percentile(percent)))
    }

    /// Mean bytes of a success's body.
    pub fn body_bytes_mean(&self) -> f64 {
        if self.successes() == 0 { 0.0 } else { self.body_bytes as f64 / self.successes() as f64 }
    }

    /// The latencies (ns) as a base64 text of the V2 deflate format of HDR histograms, which other tools read.
    pub fn latencies_base64(&self) -> String {
        let mut bytes = Vec::new();
        match V2DeflateSerializer::new().serialize(&self.latencies, &mut bytes) {
            Ok(_) => base64::engine::general_purpose::STANDARD.encode(bytes),
            Err(_) => String::new(),
        }
    }
}

impl Default for Record {
    fn default() -> Self {
        Self::new()
    }
}

fn nanoseconds() -> Histogram<u64> {
    Histogram::new_with_bounds(1, NANOSECONDS_MAX, 3).expect("the bounds are constants that fit together")
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn milliseconds(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_two_records_is_recording_into_one() {
        let (mut one, mut two, mut both) = (Record::new(), Record::new(), Record::new());
        for step in 0..1_000_u64 {
            let (took, at) = (Duration::from_micros(step), Duration::from_millis(step * 3));
            let part = if step % 2 == 0 { &mut one } else { &mut two };
            for record in [part, &mut both] {
                if step % 10 == 0 {
                    record.failure("503", at, || format!("example {step}"));
                } else {
                    record.success(took, at, 10);
                }
            }
        }
        one.merge(&two);
        assert_eq!((one.successes(), one.failures()), (900, 100));
        assert_eq!(one.seconds, both.seconds);
        assert_eq!(one.percentile_ms(95.0), both.percentile_ms(95.0));
        assert_eq!(one.latencies_base64(), both.latencies_base64());
        assert_eq!(one.errors["503"].examples.len(), 3);
        assert_eq!(one.seconds.len(), 3);
    }

    #[test]
    fn errors_never_enter_the_latencies() {
        let mut record = Record::new();
        record.success(Duration::from_millis(2), Duration::ZERO, 1);
        record.failure("timeout", Duration::from_secs(60), || "slow".repeat(1_000));
        assert_eq!(record.successes(), 1);
        assert!((record.max_ms() - 2.0).abs() < 0.01, "{}", record.max_ms());
        assert_eq!(record.errors["timeout"].examples[0].len(), EXAMPLE_CHARS_MAX);
    }
}
