//! Audited writes: a strand as it stood at a time, and what was written when.
//!
//! A page of history takes the parts of audited writes that touch its beginning, then parts in the order of time until
//! they hold as many points again (or the page is full), and ends where the next part begins. So however many pages a
//! read has, it reads each part about twice at most, and holds what one page is made of.

use std::ops::ControlFlow;

use bytes::Bytes;
use store::rows::{Pages, Rows};
use store::{Direction, Range, Timestamp};

use crate::audit_rows::{AuditPart, Outline, levels, reach};
use crate::codec::{Block, Malformed};
use crate::error::Error;
use crate::fetch::{ReadAttempts, or_gone};
use crate::fresh::FreshKey;
use crate::keys;
use crate::layer::{EncodedLayer, Layer, compose, decode_range};
use crate::points::{Points, TimeRange};
use crate::state::State;
use crate::strand::{Modification, Strand};
use crate::strands::Strands;

/// Rows that are read at once at most.
const PAGE_ROWS: usize = 256;
/// Rows that are read at first where a part may be all that is wanted.
const FIRST_ROWS: usize = 8;
/// Points that are asked for at once to find the last.
const LAST_PAGE_POINTS: usize = 4_096;
/// Points of layers that are held, beside those composed already, before they are made one.
const COMPOSED_POINTS: usize = 16_384;

/// Refuses a strand some of whose writes were not kept.
fn check_audited(state: &State) -> Result<(), Error> {
    if state.audited && !state.unaudited {
        return Ok(());
    }
    let text = "a strand whose writes were not all audited cannot be read as of a time";
    Err(Error::Invalid(text.into()))
}

/// A part that a page needs.
#[derive(Debug)]
struct Needed {
    ordinal: u64,
    layer: Box<[u8]>,
    /// The row that its points lie in, if they are too large for a commit, and the row's value once it is read.
    spilled: Option<(FreshKey, Bytes)>,
}

impl Needed {
    fn decode(&self, range: TimeRange) -> Result<Layer, Malformed> {
        let Some((_, row)) = &self.spilled else { return EncodedLayer::parse(&self.layer)?.decode(range) };
        let mut layer = Layer::default();
        decode_range(&Block::parse(row)?, range, &mut layer.points)?;
        Ok(layer)
    }
}

/// Which parts count, and those found so far.
#[derive(Debug)]
struct Gathered {
    at: Timestamp,
    sequence: u64,
    needed: Vec<Needed>,
    /// Parts, and points in them.
    weight: u64,
}

impl Gathered {
    /// A write after the time, or after the state that is read, does not count.
    fn take(&mut self, strand: &Strand, part: &AuditPart<'_>) {
        if part.written <= self.at && part.sequence() <= self.sequence {
            let spilled = part.spilled(strand).map(|row| (row, Bytes::new()));
            self.needed.push(Needed { ordinal: part.ordinal, layer: part.layer.into(), spilled });
            self.weight += 1 + part.points;
        }
    }

    /// The points of the parts, laid over one another in order. Cost: parts are decoded once, and composed in runs so
    /// long that this stays linear.
    fn compose(mut self, range: TimeRange) -> Result<Points, Malformed> {
        self.needed.sort_unstable_by_key(|part| part.ordinal);
        let mut layers = vec![Layer::default()];
        let mut points = 0;
        for part in self.needed {
            let layer = part.decode(range)?;
            points += layer.points.len() + layer.clears.len();
            layers.push(layer);
            let composed = layers.first().map_or(0, |layer| layer.points.len() + layer.clears.len());
            if points >= composed.max(COMPOSED_POINTS) {
                layers = vec![compose(&layers)];
                points = 0;
            }
        }
        Ok(compose(&layers).points)
    }
}

/// The parts of one level in the order of their first times.
struct Level<'a> {
    pages: Pages<'a>,
    page: store::Page,
    at: usize,
    rows: usize,
    /// Of the next part.
    first: Option<i64>,
}

impl<'a> Level<'a> {
    /// Parts that begin in `from..to`.
    async fn open(rows: Rows<'a>, strand: &'a Strand, level: u8, from: i64, to: i64) -> Result<Self, Error> {
        let range = keys::audit_parts_between(strand, level, from, to);
        let mut pages = Pages::new(rows, &strand.partition, range, FIRST_ROWS);
        let page = pages.next().await?.expect("a walk begins with a page");
        let mut level = Self { pages, page, at: 0, rows: FIRST_ROWS, first: None };
        level.find_next().await?;
        Ok(level)
    }

    fn next(&self) -> Option<(&[u8], &[u8])> {
        self.page.row(self.at)
    }

    /// Passes over the next part.
    async fn pass(&mut self) -> Result<(), Error> {
        self.at += 1;
        self.find_next().await
    }

    async fn find_next(&mut self) -> Result<(), Error> {
        while self.at >= self.page.len() {
            self.rows = (self.rows * 4).min(PAGE_ROWS);
            let Some(page) = self.pages.next_up_to(self.rows).await? else { break };
            (self.page, self.at) = (page, 0);
        }
        let place = |(key, _): (&[u8], &[u8])| keys::place_of_audit_part(key).ok_or(Malformed);
        self.first = self.next().map(place).transpose()?.map(|(first, _)| first);
        Ok(())
    }
}

impl Strands {
    /// Up to about `points_max` points of the range from its beginning, appended to `out`, which must end before the
    /// range begins; answers where the next page begins, `None` at the end. A page ends with a block, so it may be
    /// larger by one, and may be smaller (even empty) where much is deleted.
    /// With `as_of`, as the strand stood then: all writes until that time counted.
    ///
    /// Cost: one look-up each for the state and for the blocks touched (and pages of the index beyond a dozen
    /// blocks); overlays of the strand one each. As of a time: parts of audited writes that touch the page are read, and
    /// those until then decoded; all pages of a range together about twice each at most. Such a page is longer where many
    /// audited writes overlap: at least as many points as they have, which are in memory with it.
    /// Behind the bound of [`Strands::expire`] nothing is told as of any time.
    ///
    /// # Errors
    ///
    /// If the store refuses, or stored bytes are damaged; [`Error::Invalid`] for `as_of` on a strand of which not all
    /// writes were audited; [`Error::Contention`] if what is read is replaced again and again.
    pub async fn read_page(
        &self,
        strand: &Strand,
        range: TimeRange,
        as_of: Option<Timestamp>,
        points_max: usize,
        out: &mut Points,
    ) -> Result<Option<i64>, Error> {
        match as_of {
            None => self.page_now(strand, range, points_max, out).await,
            Some(at) => self.page_as_of(strand, range, at, points_max, out).await,
        }
    }

    /// See [`Strands::read_page`]. Cost: that of a read, if nothing was written later; else the parts of audited writes that
    /// touch the page are read, and those until then decoded and merged.
    pub(crate) async fn page_as_of(
        &self,
        strand: &Strand,
        range: TimeRange,
        at: Timestamp,
        points_max: usize,
        out: &mut Points,
    ) -> Result<Option<i64>, Error> {
        let before = out.len();
        let mut attempts = ReadAttempts::new();
        loop {
            attempts.begin(strand).await?;
            let Some((stamp, state)) = self.state(strand).await?.filter(|_| !range.is_empty()) else {
                return Ok(None);
            };
            check_audited(&state)?;
            self.note_if_due(strand, &state);
            let range = TimeRange { from: range.from.max(state.audit.from), to: range.to };
            if range.is_empty() {
                return Ok(None);
            }
            if state.written <= at {
                // As it is now, if this state is still whole.
                if let Some(next) = self.page_of(strand, &state, range, points_max, out).await? {
                    return Ok(next);
                }
                out.truncate(before);
            }
            attempts.saw(stamp);
            if let Some((points, next)) = self.try_as_of(strand, &state, range, at, points_max).await? {
                out.extend_from_range(&points, 0..points.len());
                return Ok(next);
            }
        }
    }

    /// A page of the strand as all writes until `at` left it, and where the next begins; `None` if audited writes went
    /// meanwhile.
    async fn try_as_of(
        &self,
        strand: &Strand,
        state: &State,
        range: TimeRange,
        at: Timestamp,
        points_max: usize,
    ) -> Result<Option<(Points, Option<i64>)>, Error> {
        let mut gathered = Gathered { at, sequence: state.sequence, needed: Vec::new(), weight: 0 };
        self.gather_open(strand, state, range.from, &mut gathered).await?;
        let next = self.gather_next(strand, state, range, points_max, &mut gathered).await?;
        or_gone!(self.read_needed(strand, &mut gathered).await?);
        let page = TimeRange { from: range.from, to: next.unwrap_or(range.to) };
        // An erased strand's parts may have gone while they were read, or those before a bound.
        let now = or_gone!(self.state_beside_rows(strand).await?);
        let is_gone = now.audit.life != state.audit.life || now.audit.from > page.from;
        Ok(if is_gone { None } else { Some((gathered.compose(page)?, next)) })
    }

    /// Reads points of parts that lie in rows of their own; `None` if one is gone.
    async fn read_needed(&self, strand: &Strand, gathered: &mut Gathered) -> Result<Option<()>, Error> {
        let spilled = || gathered.needed.iter().filter_map(|part| part.spilled.as_ref());
        if spilled().next().is_none() {
            return Ok(Some(()));
        }
        let rows = or_gone!(self.fresh_rows(strand, spilled().map(|(row, _)| row.clone())).await?);
        let waiting = gathered.needed.iter_mut().filter_map(|part| part.spilled.as_mut());
        for ((_, value), row) in waiting.zip(rows) {
            *value = row;
        }
        Ok(Some(()))
    }

    /// Parts that begin before `from` and touch it or a later time.
    async fn gather_open(
        &self,
        strand: &Strand,
        state: &State,
        from: i64,
        gathered: &mut Gathered,
    ) -> Result<(), Error> {
        let mut take = |key: &[u8], value: &[u8]| {
            let part = AuditPart::parse(key, value)?;
            if part.last >= from {
                gathered.take(strand, &part);
            }
            Ok(ControlFlow::Continue(()))
        };
        for level in levels(state.audit.levels) {
            let range = keys::audit_parts_between(strand, level, reach(level, from), from);
            self.each_row(&strand.partition, range, &mut take).await?;
        }
        Ok(())
    }

    /// Parts that begin in the range, in the order of time, until they weigh as much as those gathered and as
    /// `points_max`; where the first part begins that is left.
    async fn gather_next(
        &self,
        strand: &Strand,
        state: &State,
        range: TimeRange,
        points_max: usize,
        gathered: &mut Gathered,
    ) -> Result<Option<i64>, Error> {
        let mut open = Vec::new();
        for level in levels(state.audit.levels) {
            open.push(Level::open(self.reads(), strand, level, range.from, range.to).await?);
        }
        let page = gathered.weight.max(u64::try_from(points_max).unwrap_or(u64::MAX));
        let enough = gathered.weight.saturating_add(page);
        let mut reached = range.from;
        loop {
            let begun = open.iter_mut().filter_map(|level| Some((level.first?, level)));
            let Some((first, level)) = begun.min_by_key(|(first, _)| *first) else { return Ok(None) };
            if gathered.weight >= enough && first > reached {
                return Ok(Some(first));
            }
            reached = first;
            if let Some((key, value)) = level.next() {
                gathered.take(strand, &AuditPart::parse(key, value)?);
            }
            level.pass().await?;
        }
    }

    /// The state as it stands in the engine, where no row of a commit is seen before another; `None` if there is none.
    async fn state_beside_rows(&self, strand: &Strand) -> Result<Option<State>, Error> {
        let key = keys::state(strand);
        let range = Range { end: Some([&key[..], &[0]].concat().into()), start: key };
        let page = self.reads().scan(&strand.partition, &range, Direction::Forward, 1).await?;
        Ok(page.row(0).map(|(_, value)| State::parse(value)).transpose()?)
    }

    /// The last point before `time`, as the strand stood then; none if there was none.
    ///
    /// Cost: that of [`Strands::read_last`], if nothing was written later; else audited writes are read back from `time`, in
    /// stretches twice as long each, until one holds a point.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn read_last_as_of(&self, strand: &Strand, time: i64, at: Timestamp) -> Result<Points, Error> {
        let Some((stamp, state)) = self.state(strand).await? else { return Ok(Points::default()) };
        check_audited(&state)?;
        let all = TimeRange { from: state.audit.from, to: time };
        if state.written <= at {
            let last = self.read_last(strand, all, 1).await?;
            if self.state(strand).await?.is_some_and(|(now, _)| now == stamp) {
                return Ok(last);
            }
        }
        let (mut last, mut to, mut width) = (Points::default(), time, 1);
        while all.from < to && last.is_empty() {
            // Parts that begin earlier may reach over the beginning of this one, and are read with it.
            let Some(first) = self.last_part_before(strand, &state, to).await? else { break };
            let mut rest = TimeRange { from: first.min(to.saturating_sub(width)).max(all.from), to };
            (to, width) = (rest.from, width.saturating_mul(2));
            let mut next = Some(rest.from);
            while let Some(from) = next {
                rest.from = from;
                let mut page = Points::default();
                next = self.page_as_of(strand, rest, at, LAST_PAGE_POINTS, &mut page).await?;
                if let Some(place) = page.len().checked_sub(1) {
                    last.clear();
                    last.extend_from_range(&page, place..place + 1);
                }
            }
        }
        Ok(last)
    }

    /// Where the last part begins that begins before `to`. Cost: one seek for each level.
    async fn last_part_before(&self, strand: &Strand, state: &State, to: i64) -> Result<Option<i64>, Error> {
        let mut last = None;
        for level in levels(state.audit.levels) {
            let range = keys::audit_parts_between(strand, level, i64::MIN, to);
            let page = self.reads().scan(&strand.partition, &range, Direction::Backward, 1).await?;
            let first =
                page.last_key().map(|key| keys::place_of_audit_part(key).ok_or(Malformed)).transpose()?;
            last = last.max(first.map(|(first, _)| first));
        }
        Ok(last)
    }

    /// What was written to an audited strand: writes in the `written` range (both ends included) that touch `range`,
    /// oldest first. Cost: a scan of some 30 bytes for each audited write of that time.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn modifications(
        &self,
        strand: &Strand,
        range: TimeRange,
        (from, to): (Timestamp, Timestamp),
    ) -> Result<Vec<Modification>, Error> {
        let mut all = Vec::new();
        if from > to {
            return Ok(all);
        }
        let mut take = |key: &[u8], value: &[u8]| {
            let outline = Outline::parse(value)?;
            if outline.meets(range) {
                all.extend(outline.modification(keys::when_of_written(key).ok_or(Malformed)?));
            }
            Ok(ControlFlow::Continue(()))
        };
        let rows = keys::written_between(strand, from, to);
        self.each_row(&strand.partition, rows, &mut take).await?;
        Ok(all)
    }
}

#[cfg(test)]
mod tests;
