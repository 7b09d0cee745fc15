//! Requests by route as other registries than Prometheus' have them: how often they came lately, how long they took.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use api_hugegraph::metrics::{Figures, Latency, Rates, RouteFigures};
use parking_lot::Mutex;

use super::{BOUNDS_US, BUCKETS, CLASSES, Metrics};

/// How often rates are brought up to date.
const INTERVAL: Duration = Duration::from_secs(5);
/// What came of requests: done, refused, failed.
const OUTCOMES: usize = 3;
/// The shares whose latencies are shown.
const SHARES: [f64; 6] = [0.5, 0.75, 0.95, 0.98, 0.99, 0.999];

/// How often each route was asked lately.
#[derive(Debug)]
pub(super) struct Recent(Mutex<Vec<[Rate; OUTCOMES]>>, Mutex<Instant>);

impl Recent {
    pub(super) fn new(routes: usize) -> Self {
        Self(Mutex::new(vec![Default::default(); routes]), Mutex::new(Instant::now()))
    }
}

/// How often something happens, exponentially weighted.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    /// How often it had happened when this was brought up to date.
    seen: u64,
    rates: Rates,
    is_begun: bool,
}

impl Rate {
    fn tick(&mut self, count: u64, took: Duration) {
        let seconds = took.as_secs_f64();
        let now = count.saturating_sub(self.seen) as f64 / seconds;
        self.seen = count;
        let Rates { m1, m5, m15 } = self.rates;
        let begun = self.is_begun;
        let weigh = |rate: f64, minutes: f64| {
            if !begun {
                return now;
            }
            rate + (1.0 - (-seconds / 60.0 / minutes).exp()) * (now - rate)
        };
        self.rates = Rates { m1: weigh(m1, 1.0), m5: weigh(m5, 5.0), m15: weigh(m15, 15.0) };
        self.is_begun = true;
    }
}

impl Metrics {
    /// Brings rates up to date, if it is time to. Cost: a look at the clock; each five seconds one at all counters.
    pub(crate) fn tick(&self) {
        let took = {
            let mut at = self.recent.1.lock();
            let took = at.elapsed();
            if took < INTERVAL {
                return;
            }
            *at += took;
            took
        };
        for (index, rates) in self.recent.0.lock().iter_mut().enumerate() {
            for (rate, count) in rates.iter_mut().zip(self.outcomes(index)) {
                rate.tick(count, took);
            }
        }
    }

    /// Requests of each route that was asked, for [`Figures`].
    pub(crate) fn figures(&self, uptime: Duration) -> Figures {
        let recent = self.recent.0.lock();
        let routes = self.labels.iter().zip(recent.iter()).enumerate();
        let figures = |(index, (label, rates)): (usize, (&super::Label, &[Rate; OUTCOMES]))| {
            let answers = self.outcomes(index);
            (answers.iter().sum::<u64>() > 0).then(|| RouteFigures {
                method: label.method.clone(),
                path: label.route.clone(),
                is_of_graphs: label.front_end == "hugegraph",
                answers,
                rates: rates.map(|rate| rate.rates),
                latency: self.latency(index),
            })
        };
        let routes = routes.filter_map(figures).collect();
        Figures { uptime, gauges: Vec::new(), counters: Vec::new(), routes }
    }

    fn outcomes(&self, index: usize) -> [u64; OUTCOMES] {
        let mut outcomes = [0; OUTCOMES];
        for class in 0..CLASSES {
            let count = self.sum(index, |counters| counters.classes.get(class));
            let outcome = match class {
                3 => 1,
                4 => 2,
                _ => 0,
            };
            *outcomes.get_mut(outcome).expect("an outcome of three") += count;
        }
        outcomes
    }

    fn latency(&self, index: usize) -> Latency {
        let counts: Vec<u64> =
            (0..BUCKETS).map(|bucket| self.sum(index, |counters| counters.buckets.get(bucket))).collect();
        let nanos = self.sum(index, |counters| Some(&counters.nanos));
        let longest = self.shards.iter().filter_map(|shard| shard.get(index));
        let longest = longest.map(|counters| counters.nanos_max.load(Ordering::Relaxed)).max();
        latency(&counts, nanos as f64 / 1e6, longest.unwrap_or(0) as f64 / 1e6)
    }
}

/// Latencies of a histogram: of the requests of a bucket it is taken that they lie evenly in it.
fn latency(counts: &[u64], sum_ms: f64, max_ms: f64) -> Latency {
    let total: u64 = counts.iter().sum();
    if total == 0 {
        return Latency::default();
    }
    let bound = |bucket: usize| BOUNDS_US.get(bucket).map_or(max_ms, |bound| *bound as f64 / 1e3).min(max_ms);
    let begin = |bucket: usize| bucket.checked_sub(1).map_or(0.0, bound);
    let mean = sum_ms / total as f64;
    let percentile = |share: f64| {
        let (wanted, mut before) = (share * total as f64, 0.0);
        for (bucket, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = *count as f64;
            if before + count >= wanted {
                return begin(bucket) + (bound(bucket) - begin(bucket)) * (wanted - before) / count;
            }
            before += count;
        }
        max_ms
    };
    let squares = counts.iter().enumerate().map(|(bucket, count)| {
        let middle = f64::midpoint(begin(bucket), bound(bucket));
        *count as f64 * (middle - mean).powi(2)
    });
    Latency {
        min: counts.iter().position(|count| *count > 0).map_or(0.0, begin),
        mean,
        max: max_ms,
        stddev: (squares.sum::<f64>() / total as f64).sqrt(),
        percentiles: SHARES.map(percentile),
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    #[test]
    fn latencies_are_read_from_a_histogram() {
        let mut counts = [0; BUCKETS];
        // 90 of 0.5 to 1 ms, 10 of 5 to 10 ms.
        (counts[4], counts[7]) = (90, 10);
        let latency = latency(&counts, 145.0, 8.0);
        assert_eq!((latency.min, latency.mean, latency.max), (0.5, 1.45, 8.0));
        assert!((latency.percentiles[0] - 0.777).abs() < 0.01, "{latency:?}");
        assert!(latency.percentiles[2] > 5.0 && latency.percentiles[5] <= 8.0, "{latency:?}");
        assert!(latency.stddev > 1.5 && latency.stddev < 2.5, "{latency:?}");
        assert_eq!(super::latency(&[0; BUCKETS], 0.0, 0.0), Latency::default());
    }

    #[test]
    fn rates_follow_what_happens() {
        let mut rate = Rate::default();
        rate.tick(50, INTERVAL);
        assert_eq!(rate.rates, Rates { m1: 10.0, m5: 10.0, m15: 10.0 });
        for _ in 0..12 {
            rate.tick(50, INTERVAL);
        }
        let Rates { m1, m5, m15 } = rate.rates;
        assert!(m1 < m5 && m5 < m15 && (m1 - 3.68).abs() < 0.1, "{:?}", rate.rates);
    }

    #[test]
    fn only_routes_that_were_asked_are_shown() {
        let metrics = Metrics::new([("hugegraph", "GET", "/x"), ("a", "PUT", "/y")].into_iter(), 2);
        metrics.count(Some(0), StatusCode::OK, Duration::from_millis(2));
        metrics.count(Some(0), StatusCode::NOT_FOUND, Duration::from_millis(4));
        metrics.tick();
        let figures = metrics.figures(Duration::from_secs(1));
        let [route] = &figures.routes[..] else { panic!("{figures:?}") };
        assert_eq!((&*route.path, route.answers, route.is_of_graphs), ("/x", [1, 1, 0], true));
        assert_eq!((route.latency.mean, route.latency.max), (3.0, 4.0));
    }
}
