//! Which access path drives a run, and which is probed when that one leads to few matches.

use entity::{Error, keys};

use super::Run;
use crate::query::plan::Plan;
use crate::query::stream::{Buckets, Feed, IdList, Union};

/// Access paths that are compared by their first page, and access paths that are probed.
const PATHS_MAX: usize = 4;
/// After so many candidates it is asked whether another access path is better, and again after each time as
/// many rows as a probe may cost.
const FIRST_PROBE: usize = 48;

impl Run<'_> {
    /// After how many candidates another access path is probed first. Where all matches are asked for, a short one is better
    /// whatever comes: the first candidates only show how the access paths compare.
    pub(super) fn first_probe(&self) -> usize {
        if self.wants_all() { FIRST_PROBE / 3 } else { FIRST_PROBE }
    }

    /// The candidates: those of the access path whose first page reaches farthest.
    pub(super) async fn feed(&mut self, plan: &Plan) -> Result<Feed, Error> {
        if let Some(ids) = &plan.ids {
            let mut list = IdList::default();
            for id in ids {
                list.push(self.state.bucket(id), id.as_bytes());
            }
            return Ok(Feed::Ids(list));
        }
        let asked = self.query.offset.saturating_add(self.query.limit);
        let buckets = Buckets::of(self.state);
        // Ids are spread evenly over buckets.
        let rows = asked.saturating_add(asked / 4).div_ceil(buckets.partitions.max(1)).clamp(16, 256);
        if plan.ordered.is_empty() {
            return Ok(Feed::Rows(Union::new(buckets, &[keys::entities_range()], rows)));
        }
        let paths = plan.ordered.iter().take(PATHS_MAX);
        let mut unions: Vec<_> = paths.map(|path| Union::new(buckets, &path.ranges, rows)).collect();
        if unions.len() > 1 {
            for union in &mut unions {
                union.fill(&self.state.store, &self.state.partitions).await?;
            }
        }
        let until = unions.iter().filter_map(Union::frontier).min().map(<[u8]>::to_vec);
        let sparse = unions.into_iter().min_by_key(|union| union.rows_until(until.as_deref()));
        Ok(sparse.map_or_else(|| Feed::Ids(IdList::default()), Feed::Rows))
    }

    /// Ids that one of the probed access paths leads to, if it is short.
    pub(super) async fn probe(&self, plan: &Plan, rows_max: usize) -> Result<Option<IdList>, Error> {
        let mut best: Option<IdList> = None;
        for path in plan.probes.iter().take(PATHS_MAX) {
            let bound = best.as_ref().map_or(rows_max, IdList::len);
            if let Some(list) = self.state.ids_of_path(path, bound).await? {
                best = Some(list);
            }
        }
        Ok(best)
    }
}
