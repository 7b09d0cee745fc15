//! Reads of a strand as it is, or as it was at one moment: each a [walk](crate::walk) with a visitor of its own.

use std::ops::ControlFlow;

use bytes::Bytes;
use futures_util::StreamExt;
use store::Partition;
use store::rows::Pages;

use crate::codec::{Malformed, Summary};
use crate::error::Error;
use crate::keys;
use crate::points::{ColumnSet, Columns, Points, TimeRange};
use crate::state::State;
use crate::strand::{Strand, StrandVersion};
use crate::strands::Strands;
use crate::walk::{Piece, Route, Upcoming, Visitor, Wanted};

/// Strands that are read at the same time where rows must come from the disk.
const READS_AT_ONCE: usize = 32;
/// A page of [`Strands::read_wanted`] ends also with so many blocks: those of large values hold few points each, and up to a
/// megabyte.
pub(crate) const PAGE_BLOCKS_MAX: usize = 32;
/// Blocks that [`Strands::visit`] fetches at once.
const VISITED_AT_ONCE: usize = 32;

/// A part of a strand, as [`Strands::visit`] shows it.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// A block that was not read.
    Summary(&'a Summary),
    /// A block, in the columns that were wanted.
    Block(&'a Summary, Columns<'a>),
    /// Points of a block that overlays touch or an end of the range cuts, and of overlays alone: in all columns.
    Stretch(Columns<'a>),
}

/// Appends what it is shown.
pub(crate) struct Collector<'o, F> {
    out: &'o mut Points,
    /// So many points were there before.
    before: usize,
    /// Points of blocks that will be shown.
    coming: usize,
    is_wanted: F,
}

impl<'o, F: Fn(&Summary) -> bool + Send> Collector<'o, F> {
    /// Of blocks that overlays touch, of overlays, and of blocks that are wanted.
    pub(crate) fn new(out: &'o mut Points, is_wanted: F) -> Self {
        Self { before: out.len(), out, coming: 0, is_wanted }
    }

    /// Where the next page begins, after a walk that ended at `next`. Only overlays can bring many more points than were
    /// asked for: then the page is cut.
    pub(crate) fn end_page(
        self,
        next: Option<i64>,
        points_max: usize,
        block_points_max: usize,
    ) -> Option<i64> {
        let most = self.before.saturating_add(points_max).saturating_add(block_points_max);
        if self.out.len() <= most {
            return next;
        }
        let cut = self.before + points_max.max(1);
        let next = self.out.times.get(cut).copied();
        self.out.truncate(cut);
        next
    }
}

impl<F: Fn(&Summary) -> bool + Send> Visitor for Collector<'_, F> {
    fn want(&mut self, block: Upcoming<'_>) -> Wanted {
        match block.is_overlaid || (self.is_wanted)(block.summary) {
            true => Wanted::Columns(ColumnSet::ALL),
            false => Wanted::Nothing,
        }
    }

    fn expect(&mut self, points: usize) {
        self.coming = points;
    }

    fn show(&mut self, piece: Piece<'_>) -> Result<ControlFlow<()>, Malformed> {
        // The first piece shows which columns there are.
        if !self.out.is_empty() {
            self.out.reserve(self.coming);
        }
        let before = self.out.len();
        piece.append_to(self.out)?;
        self.coming = self.coming.saturating_sub(self.out.len() - before);
        Ok(ControlFlow::Continue(()))
    }

    fn forget(&mut self) -> bool {
        self.out.truncate(self.before);
        true
    }
}

/// Shows parts to a caller's function.
struct Presenter<'v> {
    want: &'v (dyn Fn(&Summary, bool) -> Wanted + Sync),
    show: &'v mut (dyn FnMut(Part<'_>) -> ControlFlow<()> + Send),
    /// Columns of the piece that is shown.
    scratch: Points,
}

impl Visitor for Presenter<'_> {
    fn want(&mut self, block: Upcoming<'_>) -> Wanted {
        match block.is_overlaid {
            true => Wanted::Columns(ColumnSet::ALL),
            false => (self.want)(block.summary, block.is_last),
        }
    }

    fn show(&mut self, piece: Piece<'_>) -> Result<ControlFlow<()>, Malformed> {
        let part = match piece {
            Piece::Summary(summary) => Part::Summary(summary),
            Piece::Block(summary, block, columns) => {
                block.decode_columns(columns, &mut self.scratch)?;
                Part::Block(summary, self.scratch.columns())
            }
            Piece::Cut(..) | Piece::Overlaid(..) => {
                self.scratch.clear();
                piece.append_to(&mut self.scratch)?;
                if self.scratch.is_empty() {
                    return Ok(ControlFlow::Continue(()));
                }
                Part::Stretch(self.scratch.columns())
            }
        };
        Ok((self.show)(part))
    }

    fn forget(&mut self) -> bool {
        false
    }
}

/// Lists blocks, of which none is read.
struct Lister(Vec<(Summary, bool)>);

impl Visitor for Lister {
    fn want(&mut self, block: Upcoming<'_>) -> Wanted {
        self.0.push((*block.summary, block.is_overlaid));
        Wanted::Nothing
    }

    fn show(&mut self, _: Piece<'_>) -> Result<ControlFlow<()>, Malformed> {
        Ok(ControlFlow::Continue(()))
    }

    fn forget(&mut self) -> bool {
        self.0.clear();
        true
    }
}

impl Strands {
    /// The version of the strand as it is, for a write that [expects](StrandWrite::expects) it.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn version(&self, strand: &Strand) -> Result<StrandVersion, Error> {
        Ok(StrandVersion(self.state(strand).await?.map(|(stamp, _)| stamp)))
    }

    /// The mark that the last write with one set; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn mark(&self, strand: &Strand) -> Result<Option<i64>, Error> {
        Ok(self.state(strand).await?.and_then(|(_, state)| state.mark))
    }

    /// Names of the strands of a partition that begin with `prefix`, in order, from behind `after`. A strand is
    /// listed from its first write until it is erased, points or none.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list(
        &self,
        partition: &Partition,
        prefix: &[u8],
        after: Option<&[u8]>,
        count_max: usize,
    ) -> Result<Vec<Bytes>, Error> {
        let mut names: Vec<Bytes> = Vec::new();
        let mut pages = Pages::new(self.reads(), partition, keys::states(prefix, after), count_max);
        while names.len() < count_max
            && let Some(page) = pages.next_up_to(count_max - names.len()).await?
        {
            names.extend(page.rows().filter_map(|(key, _)| keys::name_of(key)).map(Bytes::copy_from_slice));
        }
        Ok(names)
    }

    /// A page of the strand as one state has it; `None` if a row is gone.
    pub(crate) async fn page_of(
        &self,
        strand: &Strand,
        state: &State,
        range: TimeRange,
        points_max: usize,
        out: &mut Points,
    ) -> Result<Option<Option<i64>>, Error> {
        let (mut page, mut left) = (Collector::new(out, |_| true), range);
        let route = Route { points_max, ..Route::along(range) };
        let walked = self.walk_state(strand, state, route, &mut left, &mut page).await?;
        let block_points_max = self.shared.rules.options.block_points_max;
        Ok(walked.map(|walked| page.end_page(walked.next, points_max, block_points_max)))
    }

    /// A page of the strand as it is; see [`Strands::read_page`].
    pub(crate) async fn page_now(
        &self,
        strand: &Strand,
        range: TimeRange,
        points_max: usize,
        out: &mut Points,
    ) -> Result<Option<i64>, Error> {
        let mut page = Collector::new(out, |_| true);
        let walked = self.walk(strand, Route { points_max, ..Route::along(range) }, &mut page).await?;
        Ok(page.end_page(walked.next, points_max, self.shared.rules.options.block_points_max))
    }

    /// Ranges of many strands, whole, outcomes in order; what must come from the disk is read at the same time.
    /// The caller bounds what it asks for: all points are in memory.
    /// Cost: that of [`Strands::read_page`] for each.
    pub async fn read_many(&self, wanted: &[(Strand, TimeRange)]) -> Vec<Result<Points, Error>> {
        let mut all = Vec::with_capacity(wanted.len());
        // Made by a loop: a closure over borrowed pairs would keep callers from moving this between threads.
        let mut pending = Vec::with_capacity(wanted.len());
        for (strand, range) in wanted {
            pending.push(self.whole(strand, *range));
        }
        let mut reads = futures_util::stream::iter(pending).buffered(READS_AT_ONCE);
        while let Some(read) = reads.next().await {
            all.push(read);
        }
        all
    }

    async fn whole(&self, strand: &Strand, range: TimeRange) -> Result<Points, Error> {
        let mut points = Points::default();
        self.walk(strand, Route::along(range), &mut Collector::new(&mut points, |_| true)).await?;
        Ok(points)
    }

    /// The last `count` points of the range, in ascending order.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn read_last(&self, strand: &Strand, range: TimeRange, count: usize) -> Result<Points, Error> {
        if range.is_empty() || count == 0 {
            return Ok(Points::default());
        }
        // Overlays may delete of what blocks hold: then further back, by twice as much.
        let mut wanted = count;
        loop {
            let mut points = Points::default();
            let mut collector = Collector::new(&mut points, |_| true);
            let route = Route { last: Some(wanted), ..Route::along(range) };
            let from = self.walk(strand, route, &mut collector).await?.from;
            if points.len() >= count || from <= range.from {
                let mut last = Points::default();
                last.extend_from_range(&points, points.len().saturating_sub(count)..points.len());
                return Ok(last);
            }
            wanted = wanted.saturating_mul(2);
        }
    }

    /// Shows the range part by part, in order, until all is shown or `show` has enough. `want` says what is wanted of a block,
    /// given its summary and whether it is the last of the range; it is not asked for blocks that overlays touch, and of a
    /// block that an end of the range cuts, only whether anything is wanted.
    ///
    /// Each part is as some state of the strand has it: where a fold or a write takes away what is still to be read, the
    /// rest of the range is shown as the newer state has it, unless it is read [at one moment](Strands::at_one_moment).
    ///
    /// Cost: blocks of which columns are wanted are decoded one by one into memory that is used again; their rows are fetched
    /// by dozens.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn visit(
        &self,
        strand: &Strand,
        range: TimeRange,
        want: &(dyn Fn(&Summary, bool) -> Wanted + Sync),
        show: &mut (dyn FnMut(Part<'_>) -> ControlFlow<()> + Send),
    ) -> Result<(), Error> {
        let mut presenter = Presenter { want, show, scratch: Points::default() };
        let route = Route { blocks_at_once: VISITED_AT_ONCE, ..Route::along(range) };
        self.walk(strand, route, &mut presenter).await?;
        Ok(())
    }

    /// Up to about `points_max` points of the blocks that `is_wanted` (given their summary) and of blocks and times
    /// that overlays touch, in the range from its beginning, appended to `out`, which must end before the range begins;
    /// answers where the next page begins, `None` at the end. A page may be larger by a block, and may be empty; however
    /// few points they hold, it is of 32 blocks at most.
    ///
    /// Cost: a look at the index and at all overlays of the range for each page; blocks that are not wanted are not read.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn read_wanted(
        &self,
        strand: &Strand,
        range: TimeRange,
        is_wanted: &(dyn Fn(&Summary) -> bool + Sync),
        points_max: usize,
        out: &mut Points,
    ) -> Result<Option<i64>, Error> {
        let mut page = Collector::new(out, is_wanted);
        let route = Route { points_max, blocks_max: PAGE_BLOCKS_MAX, ..Route::along(range) };
        let walked = self.walk(strand, route, &mut page).await?;
        Ok(page.end_page(walked.next, points_max, self.shared.rules.options.block_points_max))
    }

    /// The blocks, in order, and whether overlays touch them (then there may be more or less in their span than their summary
    /// says). Points of overlays outside of blocks are not listed.
    /// Cost: a look at the index and at all overlays; no block is read.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn blocks(&self, strand: &Strand) -> Result<Vec<(Summary, bool)>, Error> {
        let mut lister = Lister(Vec::new());
        self.walk(strand, Route::along(TimeRange::ALL), &mut lister).await?;
        Ok(lister.0)
    }

    /// The first and last time held, exactly; `None` if the strand holds nothing.
    /// Cost: one look-up; where overlays delete, two small reads.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn extent(&self, strand: &Strand) -> Result<Option<(i64, i64)>, Error> {
        let Some((_, state)) = self.state(strand).await? else {
            return Ok(None);
        };
        if state.overlays.is_none_or(|overlays| !overlays.clears) {
            return Ok(state.bounds());
        }
        let last = self.read_last(strand, TimeRange::ALL, 1).await?;
        let mut from = Some(i64::MIN);
        let mut points = Points::default();
        while let Some(start) = from.filter(|_| points.is_empty()) {
            from = self.page_now(strand, TimeRange { from: start, to: i64::MAX }, 1, &mut points).await?;
        }
        Ok(points.times.first().copied().zip(last.times.last().copied()))
    }
}
