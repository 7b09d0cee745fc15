//! What a durable write takes at least: appends of a few bytes to a file, each synced before the next.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// Bytes of an append: about those of a small transaction in a log.
const APPEND_BYTES: usize = 128;

/// Appends `count` times to a new file in `folder`, and syncs after each; how long each took. The file is gone afterwards.
///
/// # Errors
///
/// If the folder cannot be written.
pub fn synced_appends(folder: &Path, count: usize) -> Result<Vec<Duration>> {
    let mut file = tempfile::tempfile_in(folder)
        .with_context(|| format!("making a file in {} for the appends", folder.display()))?;
    let bytes = [7; APPEND_BYTES];
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = Instant::now();
        file.write_all(&bytes).and_then(|()| file.sync_data()).context("a synced append")?;
        times.push(begun.elapsed());
    }
    Ok(times)
}

/// The middle one of `times`; zero if there are none.
pub fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appends_are_timed_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let times = synced_appends(folder.path(), 5).unwrap();
        assert_eq!(times.len(), 5);
        assert!(times.iter().all(|time| !time.is_zero()));
        assert!(synced_appends(&folder.path().join("none"), 1).is_err());
    }

    #[test]
    fn a_stall_does_not_move_the_middle() {
        let times = [3, 900, 1, 2, 4].map(Duration::from_millis);
        assert_eq!(median(&times), Duration::from_millis(3));
        assert_eq!(median(&[]), Duration::ZERO);
    }
}
