//! Two ways of doing one thing, measured alternately: how much longer the one takes, and how sure that is. By ranks
//! alone: neither a stall in one turn nor the shape of the noise decides.

/// So much longer is still taken as equal.
pub(super) const MARGIN: f64 = 0.05;
/// How sure the bounds of a ratio are at least.
const CONFIDENCE: f64 = 0.95;
/// Fewer turns give no bounds of that confidence: all six on one side happen once in 32 by chance.
pub(super) const TURNS_MIN: usize = 6;

/// How long one takes as a multiple of the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ratio {
    /// The middle of the ratios of all turns.
    pub(super) median: f64,
    /// Between which that of endless turns would lie; `None`: too few turns to tell.
    pub(super) bounds: Option<(f64, f64)>,
}

/// What a ratio shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    /// Longer by more than [`MARGIN`], and surely longer.
    Slower,
    /// Surely not longer by more than [`MARGIN`].
    NotSlower,
    /// The turns differ too much among themselves.
    Undecided,
}

impl Ratio {
    /// The ratio of `ones` to `others`, each pair of one turn. `None` without turns.
    pub(super) fn of(ones: &[f64], others: &[f64]) -> Option<Self> {
        let mut ratios: Vec<f64> =
            ones.iter().zip(others).map(|(one, other)| one / other.max(f64::MIN_POSITIVE)).collect();
        ratios.sort_by(f64::total_cmp);
        let bounds = rank(ratios.len())
            .and_then(|rank| Some((*ratios.get(rank - 1)?, *ratios.get(ratios.len() - rank)?)));
        Some(Self { median: median_of_sorted(&ratios)?, bounds })
    }

    /// What it shows.
    pub(super) fn finding(&self) -> Finding {
        match self.bounds {
            Some((low, _)) if low > 1.0 && self.median > 1.0 + MARGIN => Finding::Slower,
            Some((_, high)) if high <= 1.0 + MARGIN => Finding::NotSlower,
            _ => Finding::Undecided,
        }
    }
}

/// The middle of `values`; 0 if there are none.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted).unwrap_or(0.0)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.get(sorted.len() / 2)?;
    let before = sorted.get((sorted.len() - 1) / 2)?;
    Some(f64::midpoint(*before, *middle))
}

/// The rank, from 1, of the least and from behind of the greatest value between which the median lies with
/// [`CONFIDENCE`]: of so many values, each is above it by the toss of a coin.
fn rank(values: usize) -> Option<usize> {
    let mut outside = 0.0;
    let mut ways = 0.5_f64.powi(i32::try_from(values).ok()?);
    let mut rank = 0;
    while rank < values / 2 {
        outside += 2.0 * ways;
        if 1.0 - outside < CONFIDENCE {
            break;
        }
        ways *= (values - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_the_sign_test() {
        // From tables of the binomial distribution at one half.
        for (values, expected) in [
            (0, None),
            (5, None),
            (6, Some(1)),
            (8, Some(1)),
            (9, Some(2)),
            (10, Some(2)),
            (12, Some(3)),
            (20, Some(6)),
        ] {
            assert_eq!(rank(values), expected, "{values} values");
        }
        assert_eq!(rank(TURNS_MIN - 1), None);
        assert!(rank(TURNS_MIN).is_some());
    }

    #[test]
    fn a_stall_in_one_turn_moves_little() {
        let others = [1.0; 10];
        let mut ones = [1.02, 1.01, 0.99, 1.0, 1.03, 0.98, 1.0, 1.01, 1.02, 0.97];
        let before = Ratio::of(&ones, &others).unwrap();
        assert_eq!(before.finding(), Finding::NotSlower);
        ones[4] = 90.0;
        let after = Ratio::of(&ones, &others).unwrap();
        assert_eq!((after.median, after.finding()), (before.median, Finding::NotSlower));
    }

    #[test]
    fn noise_is_undecided_and_a_sure_difference_is_not() {
        let others = [0.08; 10];
        let noisy = [0.1, 0.05, 0.12, 0.07, 0.2, 0.09, 0.06, 0.11, 0.1, 0.12];
        assert_eq!(Ratio::of(&noisy, &others).unwrap().finding(), Finding::Undecided);
        let slow = [0.1, 0.099, 0.101, 0.1, 0.102, 0.098, 0.1, 0.1, 0.1, 0.1];
        assert_eq!(Ratio::of(&slow, &others).unwrap().finding(), Finding::Slower);
        let hardly = [0.082; 10];
        assert_eq!(Ratio::of(&hardly, &others).unwrap().finding(), Finding::NotSlower);
        assert_eq!(Ratio::of(&slow[..3], &others).unwrap().finding(), Finding::Undecided, "too few turns");
        assert_eq!(Ratio::of(&[], &[]), None);
        assert_eq!((median(&[3.0, 1.0, 2.0, 10.0]), median(&[])), (2.5, 0.0));
    }
}
