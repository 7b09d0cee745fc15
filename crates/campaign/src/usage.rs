//! What a process used while a load ran, moment by moment: CPU time and resident memory, for charts.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::process;

/// The shortest time between two looks: CPU time is counted in ticks of some 10 ms.
const EVERY_MIN: Duration = Duration::from_millis(200);
/// Points of a load; of a longer one each point stands for a longer time.
const POINTS_MAX: usize = 600;

/// What a process used at one moment of a load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UsagePoint {
    /// Seconds since the load began.
    pub at_s: f64,
    /// CPU time since the point before, as a share of one core.
    pub cpu_percent: f64,
    /// Resident memory now.
    pub rss_mb: f64,
}

/// The points of one load while it runs. Cost of a look: two small files of `/proc`.
#[derive(Debug)]
pub struct Usage {
    pid: Option<u32>,
    begun: Instant,
    every: Duration,
    points_max: usize,
    before: (Duration, Duration),
    points: Vec<UsagePoint>,
}

impl Usage {
    /// Begins to watch `pid`; without one there will be no points.
    pub fn start(pid: Option<u32>) -> Self {
        let cpu = pid.and_then(process::cpu_time);
        Self {
            pid: pid.filter(|_| cpu.is_some()),
            begun: Instant::now(),
            every: EVERY_MIN,
            points_max: POINTS_MAX,
            before: (Duration::ZERO, cpu.unwrap_or(Duration::ZERO)),
            points: Vec::new(),
        }
    }

    /// Adds a point if it is time for one; to be called more often than points are wanted.
    pub fn look(&mut self) {
        let Some(pid) = self.pid else { return };
        let at = self.begun.elapsed();
        if at.saturating_sub(self.before.0) < self.every {
            return;
        }
        let (Some(cpu), Some((resident, _))) = (process::cpu_time(pid), process::resident_bytes(pid)) else {
            return;
        };
        self.add(at, cpu, resident);
    }

    /// All points.
    pub fn finish(self) -> Vec<UsagePoint> {
        self.points
    }

    fn add(&mut self, at: Duration, cpu: Duration, resident: u64) {
        const MEGABYTE: f64 = 1024.0 * 1024.0;
        let (passed, used) = (at.saturating_sub(self.before.0), cpu.saturating_sub(self.before.1));
        self.points.push(UsagePoint {
            at_s: at.as_secs_f64(),
            cpu_percent: used.as_secs_f64() / passed.as_secs_f64().max(1e-9) * 100.0,
            rss_mb: resident as f64 / MEGABYTE,
        });
        self.before = (at, cpu);
        if self.points.len() >= self.points_max {
            self.halve();
        }
    }

    /// One point for each two, and half as often from now on.
    fn halve(&mut self) {
        self.every *= 2;
        let both = |pair: &[UsagePoint]| {
            let last = pair.last().copied().expect("chunks are never empty");
            let cpu = pair.iter().map(|point| point.cpu_percent).sum::<f64>() / pair.len() as f64;
            UsagePoint { cpu_percent: cpu, ..last }
        };
        self.points = self.points.chunks(2).map(both).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_time_between_two_points() {
        let mut usage = Usage { points_max: 4, ..Usage::start(None) };
        usage.before = (Duration::ZERO, Duration::from_secs(7));
        let point = |usage: &mut Usage, at: u64, cpu: u64| {
            usage.add(Duration::from_millis(at), Duration::from_millis(7_000 + cpu), 3 << 20);
        };
        point(&mut usage, 1_000, 500);
        point(&mut usage, 2_000, 2_000);
        let shares: Vec<f64> = usage.points.iter().map(|point| point.cpu_percent).collect();
        assert_eq!(shares, [50.0, 150.0]);
        point(&mut usage, 3_000, 2_000);
        point(&mut usage, 4_000, 2_800);
        assert_eq!(usage.every, EVERY_MIN * 2);
        let points = usage.finish();
        assert_eq!(points.len(), 2);
        assert_eq!((points[0].at_s, points[0].cpu_percent, points[0].rss_mb), (2.0, 100.0, 3.0));
        assert_eq!((points[1].at_s, points[1].cpu_percent), (4.0, 40.0));
    }

    #[test]
    fn a_process_is_watched_and_one_that_is_not_there_is_not() {
        let mut usage = Usage { every: Duration::ZERO, ..Usage::start(Some(std::process::id())) };
        usage.look();
        usage.look();
        let points = usage.finish();
        assert_eq!(points.len(), 2);
        assert!(points.iter().all(|point| point.rss_mb > 0.0 && point.cpu_percent >= 0.0));
        let mut nobody = Usage { every: Duration::ZERO, ..Usage::start(Some(u32::MAX)) };
        nobody.look();
        assert!(nobody.finish().is_empty());
    }
}
