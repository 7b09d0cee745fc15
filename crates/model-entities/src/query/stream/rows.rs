//! One range of index rows in id order, read page by page.

use bytes::Bytes;
use entity::{Error, keys};
use futures_util::future::try_join_all;
use store::{Direction, Page, Partition, Range, Store};

use crate::tenant::BUCKETS_AT_ONCE;

/// Pages grow up to so many rows.
const PAGE_ROWS_MAX: usize = 512;

/// Why a row has an id.
pub(super) const ENDS_IN_ID: &str = "rows of an index, and of entities, end in an id";

/// One range of rows in id order, read page by page.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) partition: usize,
    /// What is not read yet.
    pub(super) range: Range,
    pub(super) page: Page,
    pub(super) at: usize,
    /// The page behind, if it was read ahead.
    ahead: Option<Page>,
    /// Whether the range may hold rows behind those that were read.
    pub(super) open: bool,
    rows: usize,
    /// The whole range, where entities move, and how many bytes of its keys come before the id, once one was seen.
    whole: Option<Range>,
    before_id: Option<usize>,
}

impl Stream {
    /// The id of the row that comes next.
    pub(super) fn id(&self) -> Option<&[u8]> {
        let (key, _) = self.page.row(self.at)?;
        Some(keys::id_bytes_of_key(key).expect(ENDS_IN_ID))
    }

    pub(super) fn is_starved(&self) -> bool {
        self.open && self.at >= self.page.len()
    }

    /// Whether it will soon be starved: half of its page is taken.
    pub(super) fn is_draining(&self) -> bool {
        self.open && self.ahead.is_none() && self.at >= self.page.len() / 2
    }

    /// Takes the row that comes next.
    pub(super) fn advance(&mut self) {
        self.at += 1;
        if self.at >= self.page.len()
            && let Some(ahead) = self.ahead.take()
        {
            (self.page, self.at) = (ahead, 0);
        }
    }

    /// Forgets the page, to read on behind an id.
    pub(super) fn rewind(&mut self, last: &[u8]) {
        let Some(whole) = &self.whole else { return };
        // Keys of one range are alike before the id.
        let before = self.before_id.filter(|_| !last.is_empty()).and_then(|length| whole.start.get(..length));
        let start = before.map_or(Bytes::new(), |before| [before, last].concat().into());
        self.range = Range { start: whole.start.clone().max(start), end: whole.end.clone() };
        (self.page, self.at, self.ahead, self.open) = (Page::default(), 0, None, true);
    }

    /// Passes over the ids up to this one.
    pub(super) fn pass(&mut self, last: &[u8]) {
        while self.id().is_some_and(|id| id <= last) {
            self.advance();
        }
    }

    /// Reads the next page: ahead, if it is not starved.
    pub(super) async fn fill(&mut self, store: &Store, partitions: &[Partition]) -> Result<(), Error> {
        let partition = partitions.get(self.partition).expect("a stream is of one of the partitions");
        let page = store.scan(partition, &self.range, Direction::Forward, self.rows).await?;
        self.open = page.more();
        if let Some(last) = page.last_key().filter(|_| self.open) {
            self.range = self.range.after_key(last);
        }
        if self.whole.is_some()
            && let Some(key) = page.last_key()
        {
            self.before_id = keys::id_bytes_of_key(key).map(|id| key.len() - id.len());
        }
        match self.at < self.page.len() {
            true => self.ahead = Some(page),
            false => (self.page, self.at) = (page, 0),
        }
        self.rows = (self.rows * 2).min(PAGE_ROWS_MAX);
        Ok(())
    }

    /// A range of a partition, from its start; `moves`: whether entities move between partitions.
    pub(super) fn new(partition: usize, range: &Range, rows: usize, moves: bool) -> Self {
        Self {
            partition,
            range: range.clone(),
            page: Page::default(),
            at: 0,
            ahead: None,
            open: true,
            rows,
            whole: moves.then(|| range.clone()),
            before_id: None,
        }
    }
}

/// Reads the next page of those that have run out of rows, several side by side; answers whether there were any. Those that soon
/// will are read along, as far as that takes no longer.
pub(super) async fn fill_starved(
    streams: impl Iterator<Item = &mut Stream>,
    store: &Store,
    partitions: &[Partition],
) -> Result<bool, Error> {
    let mut wanting: Vec<&mut Stream> = streams.filter(|stream| stream.is_draining()).collect();
    wanting.sort_by_key(|stream| stream.page.len() - stream.at);
    let starved = wanting.iter().take_while(|stream| stream.is_starved()).count();
    wanting.truncate(starved.next_multiple_of(BUCKETS_AT_ONCE));
    for some in wanting.chunks_mut(BUCKETS_AT_ONCE) {
        try_join_all(some.iter_mut().map(|stream| stream.fill(store, partitions))).await?;
    }
    Ok(starved > 0)
}
