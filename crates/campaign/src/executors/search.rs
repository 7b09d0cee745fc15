//! The largest rate within a rule: doubling until a step breaks it, then halving the gap.

/// When a step fulfils the rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// The largest share of errors, 0 to 1.
    pub error_share_max: f64,
    /// The largest p95, if there is one, in milliseconds.
    pub p95_ms_max: Option<f64>,
    /// The least share of the offered rate that must have been answered, 0 to 1.
    pub answered_share_min: f64,
}

/// What one step showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The offered rate, requests a second.
    pub rate: f64,
    /// Successes a second.
    pub throughput: f64,
    /// Errors among all calls, 0 to 1.
    pub error_share: f64,
    /// The 95th percentile, in milliseconds.
    pub p95_ms: f64,
}

impl Rule {
    /// Whether `step` keeps the rule.
    pub fn holds(&self, step: &Step) -> bool {
        step.error_share <= self.error_share_max
            && self.p95_ms_max.is_none_or(|limit| step.p95_ms <= limit)
            && step.throughput >= step.rate * self.answered_share_min
    }
}

/// All steps in the order they were run, and the best that fulfilled the rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Every step tried.
    pub steps: Vec<Step>,
    /// The step of the largest rate that fulfilled the rule.
    pub best: Option<Step>,
}

/// Searches from `first` upwards: doubles while `run` keeps `rule`, then halves the gap until it is within
/// `precision` (a share of the rate, say 0.05) or `steps_max` steps are used.
///
/// # Errors
///
/// Those of `run`.
pub fn largest_rate(
    rule: &Rule,
    first: f64,
    precision: f64,
    steps_max: usize,
    run: &mut dyn FnMut(f64) -> anyhow::Result<Step>,
) -> anyhow::Result<Found> {
    let mut found = Found { steps: Vec::new(), best: None };
    let mut broken: Option<f64> = None;
    let mut rate = first;
    while found.steps.len() < steps_max {
        let step = run(rate)?;
        found.steps.push(step);
        if rule.holds(&step) {
            found.best = Some(step);
        } else {
            broken = Some(rate);
        }
        let kept = found.best.map_or(0.0, |best| best.rate);
        rate = match broken {
            None => rate * 2.0,
            Some(broken) if broken - kept <= broken * precision => break,
            Some(broken) => f64::midpoint(broken, kept),
        };
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { error_share_max: 0.0, p95_ms_max: Some(100.0), answered_share_min: 0.9 };

    /// A server that bears `limit` requests a second and no more.
    fn check(limit: f64, first: f64, found_within: std::ops::RangeInclusive<f64>) {
        let mut run = |rate: f64| {
            let over = rate > limit;
            let error_share = if over { 0.01 } else { 0.0 };
            Ok(Step { rate, throughput: rate.min(limit), error_share, p95_ms: 10.0 })
        };
        let found = largest_rate(&RULE, first, 0.02, 40, &mut run).unwrap();
        let best = found.best.unwrap();
        assert!(found_within.contains(&best.rate), "{best:?} after {:?}", found.steps);
        assert!(found.steps.len() < 25);
    }

    #[test]
    fn finds_the_limit_from_below_and_from_above() {
        check(10_000.0, 100.0, 9_700.0..=10_000.0);
        check(10_000.0, 50_000.0, 9_700.0..=10_000.0);
        check(999.0, 999.0, 970.0..=999.0);
    }

    #[test]
    fn a_step_breaks_the_rule_by_errors_latency_or_backlog() {
        let good = Step { rate: 100.0, throughput: 99.0, error_share: 0.0, p95_ms: 99.0 };
        assert!(RULE.holds(&good));
        assert!(!RULE.holds(&Step { error_share: 0.001, ..good }));
        assert!(!RULE.holds(&Step { p95_ms: 101.0, ..good }));
        assert!(!RULE.holds(&Step { throughput: 80.0, ..good }));
    }

    #[test]
    fn nothing_found_is_said_so() {
        let mut run = |rate| Ok(Step { rate, throughput: 0.0, error_share: 1.0, p95_ms: 0.0 });
        let found = largest_rate(&RULE, 100.0, 0.05, 8, &mut run).unwrap();
        assert_eq!(found.best, None);
        assert_eq!(found.steps.len(), 8);
    }
}
