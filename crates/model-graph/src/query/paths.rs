//! Which of several access paths a stage takes: the one that turns out to have the fewest rows, if one of them has few.

use graph::plan::AccessPath;
use store::Direction;

use super::Matches;
use super::position::buckets_of;
use crate::Error;

/// The most paths that are tried, rows that are read of each, and ranges that are looked into.
const TRIED_MAX: usize = 4;
const PROBE_ROWS: usize = 256;
const PROBE_RANGES: usize = 8;
/// A path with so few rows is taken without a look at the others.
const FEW_ROWS: usize = 16;

impl Matches<'_> {
    /// Sees to it that the stage has a path, if anything is left. Cost: nothing, where it has only one; else a scan for each path.
    pub(super) async fn choose_path(&mut self) -> Result<(), Error> {
        while let Some(position) = &self.position {
            if position.chosen.is_some() {
                return Ok(());
            }
            let stage = position.stage(&self.stages).expect("positions lie in stages");
            let chosen = match stage.paths.len() {
                0 | 1 => 0,
                _ => self.probe().await?,
            };
            let is_empty = stage_path_is_empty(self, chosen);
            let position = self.position.take().expect("it was just looked at");
            self.position = match is_empty {
                true => position.next_stage(self.reader, &self.stages),
                false => Some(super::Position { chosen: Some(chosen), ..position }),
            };
        }
        Ok(())
    }

    /// The path with the fewest rows; the first, if all have many.
    async fn probe(&self) -> Result<usize, Error> {
        let position = self.position.as_ref().expect("a walk that goes on");
        let stage = position.stage(&self.stages).expect("positions lie in stages");
        let mut best: Option<(usize, usize)> = None;
        for (index, path) in stage.paths.iter().enumerate().take(TRIED_MAX) {
            let Some(rows) = self.count_rows(path).await? else { continue };
            if best.is_none_or(|(fewest, _)| rows < fewest) {
                best = Some((rows, index));
            }
            if rows <= FEW_ROWS {
                break;
            }
        }
        Ok(best.map_or(0, |(_, index)| index))
    }

    /// How many rows a path has, if they are few.
    async fn count_rows(&self, path: &AccessPath) -> Result<Option<usize>, Error> {
        let position = self.position.as_ref().expect("a walk that goes on");
        let stage = position.stage(&self.stages).expect("positions lie in stages");
        if path.ranges.len() > PROBE_RANGES {
            return Ok(None);
        }
        let mut rows = 0;
        for bucket in buckets_of(self.reader, stage) {
            for range in &path.ranges {
                let partition = self.reader.partition_at(bucket);
                let snapshot = self.reader.snapshot();
                let page = snapshot.scan(partition, range, Direction::Forward, PROBE_ROWS - rows).await?;
                rows += page.len();
                if page.more() || rows >= PROBE_ROWS {
                    return Ok(None);
                }
            }
        }
        Ok(Some(rows))
    }
}

/// Whether a path of the stage has no ranges: nothing can match.
fn stage_path_is_empty(matches: &Matches<'_>, chosen: usize) -> bool {
    let stage = matches.position.as_ref().and_then(|position| position.stage(&matches.stages));
    stage.and_then(|stage| stage.paths.get(chosen)).is_none_or(|path| path.ranges.is_empty())
}
