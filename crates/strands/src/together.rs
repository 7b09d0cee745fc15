//! Writes to many strands of which none is begun if one is beyond a limit: limits are asked before the first commit.

use std::time::Duration;

use bytes::Bytes;
use store::retry::RetryBackoff;

use crate::blocks::STRAND_BLOCKS_MAX;
use crate::error::Error;
use crate::pending::CheckedWrite;
use crate::plan::OVERLAYS_LIMIT;
use crate::strand::StrandWrite;
use crate::strands::Strands;
use crate::write::check_write;

/// How often a attempt is tried whose rows went meanwhile.
const ATTEMPTS: RetryBackoff = RetryBackoff::waiting(8, 4, Duration::from_millis(100));

impl Strands {
    /// As [`Strands::write_all`], but if a write is beyond a limit, or makes no sense, nothing of any is written.
    ///
    /// Cost: a cached look-up more for each strand. A write of half as many blocks as a strand may have, or as a commit has
    /// rows, is encoded twice.
    ///
    /// # Errors
    ///
    /// The places of those that are refused, and why. A limit that is reached only by what others write meanwhile is
    /// told as the outcome of that write alone.
    pub async fn write_all_or_none(
        &self,
        writes: Vec<StrandWrite>,
    ) -> Result<Vec<Result<(), Error>>, Vec<(usize, Error)>> {
        let live = self.live();
        let (mut all, mut refused) = (Vec::with_capacity(writes.len()), Vec::new());
        for (place, checked) in writes.into_iter().map(check_write).enumerate() {
            match checked {
                Ok(checked) => all.push(checked),
                Err(error) => refused.push((place, error)),
            }
        }
        // One alone is one atom, whatever it comes to.
        if all.len() > 1 && refused.is_empty() {
            for (place, checked) in all.iter().enumerate() {
                if let Err(error) = live.check_limits(checked).await {
                    refused.push((place, error));
                }
            }
        }
        if refused.is_empty() {
            Ok(live.write_all_checked(all.into_iter().map(Ok).collect()).await)
        } else {
            Err(refused)
        }
    }

    /// Refuses a write that is beyond a limit as the strand is now. What else may go wrong is for the write itself.
    async fn check_limits(&self, checked: &CheckedWrite) -> Result<(), Error> {
        if !self.may_be_beyond(checked).await {
            return Ok(());
        }
        let mut attempts = ATTEMPTS.attempts();
        while attempts.next().await {
            match self.prepare(checked).await {
                Ok(None) => {}
                Err(Error::Limit(limit)) => return Err(limit.into()),
                Ok(Some(_)) | Err(_) => break,
            }
        }
        Ok(())
    }

    /// Whether it takes a attempt to tell that a write keeps to all limits.
    async fn may_be_beyond(&self, checked: &CheckedWrite) -> bool {
        let rules = &self.shared.rules;
        // Each is named in the commit, by a row if it is kept.
        let points = &checked.layer.points;
        let added = points.len().div_ceil(rules.block_points_max());
        let largest = points.notes.dictionary.iter().map(Bytes::len).max().unwrap_or(0);
        if added > rules.limits.commit_rows / 2 || largest > rules.limits.commit_bytes / 4 {
            return true;
        }
        let Ok(Some((_, state))) = self.state(&checked.strand).await else { return false };
        let clears = checked.layer.clears.len();
        state.index.blocks() + added > STRAND_BLOCKS_MAX / 2
            || state.overlay_count() + clears > OVERLAYS_LIMIT / 2
    }
}
