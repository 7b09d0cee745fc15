//! Seeds of tests that try many.

use std::io::Write as _;
use std::ops::Range;

/// Cases of a property test, where nobody says.
const USUAL_CASES: u64 = 256;

/// The seeds `0..count` in turn. `PROPTEST_CASES` multiplies them as it does the cases of property tests, and
/// `TWINFOLD_TEST_SEED` is the only one. A test that panics meanwhile names the seed.
///
/// # Panics
///
/// If one of the variables is no number.
pub fn seeds(count: u64) -> Seeds {
    let left = match number("TWINFOLD_TEST_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let cases = number("PROPTEST_CASES").unwrap_or(USUAL_CASES);
            0..count.saturating_mul(cases).div_ceil(USUAL_CASES)
        }
    };
    Seeds { left, now: None }
}

#[expect(clippy::disallowed_methods, reason = "switches of the test run itself")]
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// See [`seeds`].
#[derive(Debug)]
pub struct Seeds {
    left: Range<u64>,
    now: Option<u64>,
}

impl Iterator for Seeds {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.now = self.left.next();
        self.now
    }
}

impl Drop for Seeds {
    fn drop(&mut self) {
        if let (Some(seed), true) = (self.now, std::thread::panicking()) {
            // Nothing can be said where nobody listens.
            let _ = writeln!(std::io::stderr(), "with TWINFOLD_TEST_SEED={seed}");
        }
    }
}
