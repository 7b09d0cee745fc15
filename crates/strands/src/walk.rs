//! The one walk under all reads of points: along the blocks of one state and the overlays over them, in the order of time.
//!
//! A visitor says of each block what it wants, given its summary; what it wants read is fetched, many rows at once, and
//! shown piece by piece. Where a row is gone that the state names, a fold or a deletion came in between, and the walk starts
//! again from the newer state. At one moment nothing is gone: rows that were removed since are read from the snapshot.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use crate::blocks::open_block;
use crate::codec::{Block, Malformed, Summary};
use crate::error::Error;
use crate::fetch::{ReadAttempts, or_gone};
use crate::index::{Entry, PageRef};
use crate::layer::{Layer, decode_range, merge_into};
use crate::points::{ColumnSet, Points, TimeRange};
use crate::state::State;
use crate::strand::Strand;
use crate::strands::Strands;

/// What is wanted of a block.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// It is passed over, unread.
    Nothing,
    /// Its summary: it is not read.
    Summary,
    /// Values, flags and these columns.
    Columns(ColumnSet),
}

/// A block that a walk comes to, before anything of it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Upcoming<'a> {
    pub(crate) summary: &'a Summary,
    /// Whether overlays touch it: there may be more or less in its span than the summary says.
    pub(crate) is_overlaid: bool,
    /// Whether no block of the range comes after it.
    pub(crate) is_last: bool,
}

/// A piece of a strand. Nothing is decoded before the visitor asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'a> {
    /// A block of which only the summary is wanted.
    Summary(&'a Summary),
    /// A whole block over which nothing lies.
    Block(&'a Summary, &'a Block<'a>, ColumnSet),
    /// What lies in the range of a block over which nothing lies.
    Cut(&'a Block<'a>, TimeRange),
    /// What overlays make in a range of a block, or of nothing.
    Overlaid(Option<&'a Block<'a>>, &'a Layer, TimeRange),
}

impl Piece<'_> {
    /// Appends all columns of the points to `out`. Cost: they are decoded, and copied once more if cut or overlaid.
    pub(crate) fn append_to(&self, out: &mut Points) -> Result<(), Malformed> {
        match self {
            Self::Summary(_) => Ok(()),
            Self::Block(_, block, _) => block.decode_into(out),
            Self::Cut(block, range) => decode_range(block, *range, out),
            Self::Overlaid(block, layer, range) => {
                let mut below = Points::default();
                if let Some(block) = block {
                    decode_range(block, *range, &mut below)?;
                }
                merge_into(&below, layer, *range, out);
                Ok(())
            }
        }
    }
}

/// Who is shown what a walk comes by.
pub(crate) trait Visitor: Send {
    /// What is wanted of a block. Of one that overlays touch, or that reaches beyond the range, everything is shown, or
    /// nothing.
    fn want(&mut self, block: Upcoming<'_>) -> Wanted;

    /// Blocks with so many points will be shown one after the other.
    fn expect(&mut self, _points: usize) {}

    /// Takes a piece; breaks if that was enough.
    fn show(&mut self, piece: Piece<'_>) -> Result<ControlFlow<()>, Malformed>;

    /// Forgets what was shown, so that the walk starts again from its beginning; `false`: it goes on behind that, as a newer
    /// state has it.
    fn forget(&mut self) -> bool;
}

/// Where a walk goes, and where it ends early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) range: TimeRange,
    /// Begins where the last blocks begin that hold so many points together.
    pub(crate) last: Option<usize>,
    /// Ends before a wanted block once so many points of wanted blocks were shown.
    pub(crate) points_max: usize,
    /// The same for blocks.
    pub(crate) blocks_max: usize,
    /// Blocks that are fetched at once: they stand in memory together, packed.
    pub(crate) blocks_at_once: usize,
}

impl Route {
    /// Along the whole range.
    pub(crate) fn along(range: TimeRange) -> Self {
        Self { range, last: None, points_max: usize::MAX, blocks_max: usize::MAX, blocks_at_once: usize::MAX }
    }

    /// Whether it goes along all blocks of its range.
    fn is_whole(&self) -> bool {
        self.points_max == usize::MAX && self.blocks_max == usize::MAX
    }
}

/// Where a walk began and ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walked {
    /// The beginning of the range, or of its last blocks.
    pub(crate) from: i64,
    /// Where it ended early; `None` at the end of the range.
    pub(crate) next: Option<i64>,
}

/// Entries of the index that meet a range, in the order of time; pages are read once they are needed.
struct Ahead<'a> {
    /// The next page is the first one.
    pages: VecDeque<PageRef>,
    /// Of pages that were read.
    entries: VecDeque<Entry>,
    /// Behind the pages.
    tail: &'a [Entry],
    pages_at_once: usize,
}

impl<'a> Ahead<'a> {
    fn of(state: &'a State, route: &Route) -> Self {
        let (first, last) = (route.range.from, route.range.to.saturating_sub(1));
        let tail = state.index.tail_meeting(first, last);
        // A route that ends early would read most pages in vain.
        let pages_at_once = if route.is_whole() { usize::MAX } else { 1 };
        let pages = state.index.pages_meeting(first, last).copied().collect();
        Self { pages, entries: VecDeque::new(), tail, pages_at_once }
    }

    fn is_at_end(&self) -> bool {
        self.entries.is_empty() && self.pages.is_empty() && self.tail.is_empty()
    }
}

/// A block that will be shown.
struct Taken {
    entry: Entry,
    wanted: Wanted,
    is_overlaid: bool,
}

impl Taken {
    fn is_read(&self) -> bool {
        matches!(self.wanted, Wanted::Columns(_))
    }
}

/// How far a walk came.
struct Progress<'a> {
    layer: &'a Layer,
    /// What is still to be shown.
    left: TimeRange,
    points: usize,
    blocks: usize,
}

impl Strands {
    /// Walks along a route.
    ///
    /// Cost: a look-up of the state and of each overlay of the strand that may touch the range; pages of the index that are
    /// met; blocks that are wanted are fetched, as many as the route says at once.
    pub(crate) async fn walk(
        &self,
        strand: &Strand,
        route: Route,
        visitor: &mut impl Visitor,
    ) -> Result<Walked, Error> {
        let mut attempts = ReadAttempts::new();
        let mut left = route.range;
        while !left.is_empty() {
            attempts.begin(strand).await?;
            let from = left.from;
            let Some(state) = self.seen_state(strand, &mut attempts).await? else { break };
            if let Some(walked) = self.walk_state(strand, &state, route, &mut left, visitor).await? {
                return Ok(walked);
            }
            if visitor.forget() {
                left = route.range;
            } else if left.from > from {
                attempts.renew().await;
            }
        }
        Ok(Walked { from: route.range.from, next: None })
    }

    /// Walks along what is left of a route as one state has it; `None` if a row is gone.
    pub(crate) async fn walk_state(
        &self,
        strand: &Strand,
        state: &State,
        route: Route,
        left: &mut TimeRange,
        visitor: &mut impl Visitor,
    ) -> Result<Option<Walked>, Error> {
        let route = Route { range: *left, ..route };
        let mut ahead = Ahead::of(state, &route);
        if let Some(points) = route.last {
            left.from = or_gone!(self.skip_to_last(strand, points, route.range, &mut ahead).await?);
        }
        let from = left.from;
        let layer = or_gone!(self.overlaid(strand, state, *left).await?);
        let mut progress = Progress { layer: &layer, left: *left, points: 0, blocks: 0 };
        let mut end = None;
        loop {
            let (taken, is_end) =
                or_gone!(self.take_blocks(strand, &route, &mut ahead, &mut progress, visitor).await?);
            let read = || taken.iter().filter(|block| block.is_read()).map(|block| &block.entry);
            let rows = or_gone!(self.block_rows(strand, read()).await?);
            visitor.expect(read().map(|entry| entry.summary.count as usize).sum());
            let mut rows = rows.iter();
            for block in &taken {
                let row = if block.is_read() { rows.next() } else { None };
                let opened = row.map(|row| open_block(&block.entry, row)).transpose()?;
                end = Some(block.entry.summary.last.saturating_add(1));
                let is_enough = progress.show(block, opened.as_ref(), visitor)?.is_break();
                *left = progress.left;
                if is_enough {
                    return Ok(Some(Walked { from, next: None }));
                }
            }
            match is_end {
                End::NotYet => {}
                // Whether the last piece was enough does not matter any more.
                End::OfRange => {
                    let _ = progress.show_overlays(route.range.to, visitor)?;
                    return Ok(Some(Walked { from, next: None }));
                }
                End::OfRoute => {
                    let next = end.filter(|end| *end < route.range.to);
                    return Ok(Some(Walked { from, next }));
                }
            }
        }
    }

    /// The next blocks that are wanted, as many as are fetched at once; `None` if a page of the index is gone.
    async fn take_blocks(
        &self,
        strand: &Strand,
        route: &Route,
        ahead: &mut Ahead<'_>,
        progress: &mut Progress<'_>,
        visitor: &mut impl Visitor,
    ) -> Result<Option<(Vec<Taken>, End)>, Error> {
        let mut taken = Vec::new();
        while taken.len() < route.blocks_at_once {
            let Some(entry) = or_gone!(self.next_entry(strand, route.range, ahead).await?) else {
                return Ok(Some((taken, End::OfRange)));
            };
            let summary = &entry.summary;
            let is_overlaid = progress.layer.touches(summary.first, summary.last);
            let is_last = ahead.is_at_end();
            let mut wanted = visitor.want(Upcoming { summary, is_overlaid, is_last });
            if matches!(wanted, Wanted::Nothing) {
                continue;
            }
            let is_inside = route.range.contains(summary.first) && route.range.contains(summary.last);
            if is_overlaid || !is_inside {
                wanted = Wanted::Columns(ColumnSet::ALL);
            }
            let is_full = progress.points >= route.points_max || progress.blocks >= route.blocks_max;
            if is_full && progress.blocks > 0 {
                return Ok(Some((taken, End::OfRoute)));
            }
            progress.points += summary.count as usize;
            progress.blocks += 1;
            taken.push(Taken { entry, wanted, is_overlaid });
        }
        Ok(Some((taken, End::NotYet)))
    }

    /// The next entry of the index, `None` in the inner option at the end; `None` if its page is gone.
    async fn next_entry(
        &self,
        strand: &Strand,
        range: TimeRange,
        ahead: &mut Ahead<'_>,
    ) -> Result<Option<Option<Entry>>, Error> {
        while ahead.entries.is_empty() && !ahead.pages.is_empty() {
            let count = ahead.pages_at_once.min(ahead.pages.len());
            let wanted: Vec<PageRef> = ahead.pages.drain(..count).collect();
            let pages = or_gone!(self.read_pages(strand, wanted.iter()).await?);
            for page in &wanted {
                let entries = pages.entries(page)?.iter();
                ahead.entries.extend(entries.filter(|entry| entry.meets(range.from, range.to - 1)));
            }
        }
        Ok(Some(ahead.entries.pop_front().or_else(|| ahead.tail.split_off_first().copied())))
    }

    /// Passes over all entries but the last ones that hold so many points together; answers where they begin. `None` if a page of
    /// the index is gone.
    async fn skip_to_last(
        &self,
        strand: &Strand,
        points: usize,
        range: TimeRange,
        ahead: &mut Ahead<'_>,
    ) -> Result<Option<i64>, Error> {
        let mut held = 0_usize;
        let mut found = VecDeque::new();
        let mut take = |entry: &Entry, found: &mut VecDeque<Entry>| {
            let is_needed = held < points;
            if is_needed {
                held += entry.summary.count as usize;
                found.push_front(*entry);
            }
            is_needed
        };
        let tail = std::mem::take(&mut ahead.tail);
        let mut is_whole = tail.iter().rev().all(|entry| take(entry, &mut found));
        while is_whole && let Some(page) = ahead.pages.pop_back() {
            let read = or_gone!(self.read_pages(strand, std::iter::once(&page)).await?);
            let mut met = read.entries(&page)?.iter().rev().filter(|it| it.meets(range.from, range.to - 1));
            is_whole = met.all(|entry| take(entry, &mut found));
        }
        ahead.pages.clear();
        let is_whole = is_whole && held < points;
        let from = found.front().filter(|_| !is_whole).map_or(range.from, |entry| entry.summary.first);
        ahead.entries = found;
        Ok(Some(from.max(range.from)))
    }
}

/// Why no more blocks were taken.
enum End {
    /// As many rows are wanted as are fetched at once.
    NotYet,
    /// The range holds no more of them.
    OfRange,
    /// The route ends before the next one.
    OfRoute,
}

impl Progress<'_> {
    /// Shows what overlays put before a block, and the block; what is left begins behind it.
    fn show(
        &mut self,
        taken: &Taken,
        block: Option<&Block<'_>>,
        visitor: &mut impl Visitor,
    ) -> Result<ControlFlow<()>, Malformed> {
        let summary = &taken.entry.summary;
        let behind = summary.last.saturating_add(1).min(self.left.to);
        if !taken.is_overlaid && self.show_overlays(summary.first, visitor)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let left = self.left;
        self.left.from = left.from.max(behind);
        let range = TimeRange { from: left.from, to: behind };
        match (block, taken.wanted) {
            (None, _) => visitor.show(Piece::Summary(summary)),
            (Some(block), _) if taken.is_overlaid => {
                visitor.show(Piece::Overlaid(Some(block), self.layer, range))
            }
            (Some(block), Wanted::Columns(columns))
                if left.contains(summary.first) && left.contains(summary.last) =>
            {
                visitor.show(Piece::Block(summary, block, columns))
            }
            (Some(block), _) => visitor.show(Piece::Cut(block, range)),
        }
    }

    /// Shows points of overlays alone until `to`; what is left begins there.
    fn show_overlays(&mut self, to: i64, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Malformed> {
        let range = TimeRange { from: self.left.from, to: to.min(self.left.to) };
        if range.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        self.left.from = range.to;
        if self.layer.points.range_of(range).is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        visitor.show(Piece::Overlaid(None, self.layer, range))
    }
}
