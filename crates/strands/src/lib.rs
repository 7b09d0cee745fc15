//! Strands: sorted runs of points in the store, each an LSM tree of two levels: its state in one partition, sealed blocks as fresh
//! rows in partitions by window of time (`fresh`).
//!
//! Below lie sealed blocks, which never overlap; above them overlays: points put late or in part, and deleted ranges.
//! A read lays one over the other, newest wins; a fold makes blocks of both. Where the rows are stands in `keys`,
//! what a writer must know in `state`, where blocks lie in `index`, what overlays mean in `layer`, what a write
//! becomes in `think`.
//!
//! Invariants:
//! - a write is one atom: its blocks go ahead, and count once its state is committed; and writes of one strand have an order: each commits on the version of the state it thought on;
//! - no row but the state is ever overwritten, so a reader sees the strand as one state left it, or starts again; reads of
//!   several pages see one state if they are made [at one moment](Strands::at_one_moment);
//! - a partial overwrite costs in proportion to its points: no block is read to write.

mod flags;
mod points;
mod codec;
mod error;
mod keys;
mod wire;
mod fresh;
mod index;
mod state;
mod layer;
mod read;
mod think;
mod write;
mod spill;
mod kept;
mod moment;
mod audit;
mod fold;
mod chill;
mod erase;
mod expire;
mod queue;
mod skips;
mod together;
mod visit;
mod wanted;

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use store::{ChangeRecord, Limits, Partition, Snapshot, Stamp, Store, Timestamp, Write, WriteIds};

use self::moment::Rows;
use self::queue::FoldQueue;
use self::write::Turns;

pub use codec::{Block, Encoding, Malformed, Summary, encode_block, encode_part};
pub use error::{Error, is_outage};
pub use flags::{Flag, is_absent, overflown, worse};
pub use points::{ABSENT, ColumnSet, Columns, Notes, Points, TimeRange, UNOBSERVED};
pub use skips::SkipLog;

/// Where a strand lives: all its rows but blocks and their index are in `partition`, under keys that hold `name` behind the kind of row.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Strand {
    /// The partition; its space is a commit space.
    pub partition: Partition,
    /// Tells strands of one partition apart; no name is the beginning of another.
    pub name: Bytes,
}

impl std::fmt::Display for Strand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Partition { space, bucket, .. } = &self.partition;
        write!(f, "{}/{bucket} {}", space.name, self.name.escape_ascii())
    }
}

/// How strands are kept.
#[derive(Clone, Copy, Debug)]
pub struct StrandOptions {
    /// The most points of a sealed block; at most 65,535.
    pub block_points_max: usize,
    /// A strand with more overlays wants to be folded (with eight times as many its writers fold it).
    pub overlays_max: usize,
    /// A strand with more points in overlays wants to be folded (with 64 times as many its writers fold it).
    pub overlay_points_max: usize,
}

impl StrandOptions {
    /// The recommended options: blocks of about a month of quarter hours or three days of minutes.
    pub fn recommended() -> Self {
        Self { block_points_max: 4_096, overlays_max: 32, overlay_points_max: 16_384 }
    }
}

/// How strands are kept in a store that takes so much at once.
#[derive(Clone, Copy, Debug)]
struct Rules {
    options: StrandOptions,
    limits: Limits,
    /// Points of a layer that take more bytes go ahead of their commit.
    inline_bytes_max: usize,
}

impl Rules {
    fn new(options: StrandOptions, limits: Limits) -> Self {
        // A write may put an overlay and keep it, beside the state and rows of the caller.
        Self { options, limits, inline_bytes_max: limits.commit_bytes / 4 }
    }
}

/// What a write does to the points of a strand.
#[derive(Clone, Debug)]
pub enum Edit {
    /// These points replace those of equal times.
    Put(Points),
    /// No point is left in the range.
    Delete(TimeRange),
    /// These points (all inside the range) are all that is left in the range.
    Replace(TimeRange, Points),
}

/// A write to one strand: one atom.
#[derive(Clone, Debug)]
pub struct StrandWrite {
    /// Which.
    pub strand: Strand,
    /// In order, as one.
    pub edits: Vec<Edit>,
    /// How blocks are packed.
    pub encoding: Encoding,
    /// When it is written (for as-of reads). Times of audited writes of a strand grow: one that is not later than that of
    /// the write before counts as a microsecond after it.
    pub written: Timestamp,
    /// Whether the write is kept, for as-of reads and modifications.
    pub audited: bool,
    /// Set in the strand's state with this write: a caller's progress (see [`Strands::mark`]).
    pub mark: Option<i64>,
    /// Rows of the caller in the same partition, written in the same atom (keys of a kind that strands do not use).
    pub beside: Vec<Write>,
    /// What the feed tells, if anything.
    pub change: Option<ChangeRecord>,
    /// Only if the strand is still of this version: for writes that follow from what was read.
    pub expects: Option<StrandVersion>,
}

/// Which state of a strand was read: no two are alike, but for those in which there is no strand.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StrandVersion(Option<Stamp>);

/// A write that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Modification {
    /// When.
    pub written: Timestamp,
    /// The first and last time it touched.
    pub first: i64,
    /// See `first`.
    pub last: i64,
    /// Points put (none: a deletion).
    pub points: u32,
}

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

/// The strands of a store; clones share.
#[derive(Clone, Debug)]
pub struct Strands {
    shared: Arc<Shared>,
    /// Reads see the store as it was then; writes take no notice of it.
    moment: Option<Snapshot>,
}

#[derive(Debug)]
struct Shared {
    store: Store,
    rules: Rules,
    write_ids: WriteIds,
    turns: Turns,
    queue: FoldQueue,
    skips: Arc<SkipLog>,
}

impl Strands {
    /// Strands kept in `store`.
    pub fn new(store: Store, options: StrandOptions) -> Self {
        let (write_ids, turns, queue) = (WriteIds::new(), Turns::new(), FoldQueue::default());
        let (rules, skips) = (Rules::new(options, store.limits()), Arc::default());
        Self { shared: Arc::new(Shared { store, rules, write_ids, turns, queue, skips }), moment: None }
    }

    /// The strands as they are: every read of the handle answered, and of its clones, sees all of them as they stand
    /// at one moment, however many pages it takes. Writes through it go to the strands as they are.
    ///
    /// Cost: some 100 ns, and what reads cost else; what is removed meanwhile is kept by the store until the handle is
    /// dropped, for [`store::SNAPSHOT_AGE_MAX`] at most.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub fn at_one_moment(&self) -> Result<Self, Error> {
        Ok(Self { shared: Arc::clone(&self.shared), moment: Some(self.shared.store.snapshot()?) })
    }

    /// What jobs on these strands, and on what they belong to, skip.
    pub fn skips(&self) -> &Arc<SkipLog> {
        &self.shared.skips
    }

    /// The strands as they are, for what writes.
    fn live(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), moment: None }
    }

    /// Where rows are read from.
    fn reads(&self) -> Rows<'_> {
        match &self.moment {
            None => Rows::Live(&self.shared.store),
            Some(snapshot) => Rows::Past(snapshot),
        }
    }

    /// Writes to many strands: each its own atom, all in one group commit; outcomes in order. Writes to the same
    /// strand are carried out in order, each in a group commit of its own.
    /// A write that another writer came before is thought and committed anew.
    ///
    /// Cost for points where nothing is (newer than all held, say): one cached read and one commit of two rows each (beyond what one
    /// commit takes, a small commit and a batch for each so much more);
    /// nothing is decoded. For points over others: the same, with an overlay instead of a block. What takes more than a quarter of
    /// a commit, over others or kept, goes ahead of it in blocks.
    ///
    /// Each outcome is [`Error::Invalid`] for points that break their invariant or rows beside of kinds that strands
    /// use, [`Error::Limit`] beyond a named limit (points may be as many as there are blocks, and of an audited write as many blocks
    /// as [`store::Limits::commit_rows`]; deleted ranges take 16 bytes each of one commit),
    /// [`Error::Contention`] if other writers kept coming first, or one did and the write expects another version, or
    /// what the store refuses.
    pub async fn write_all(&self, writes: Vec<StrandWrite>) -> Vec<Result<(), Error>> {
        self.live().write_group(writes).await
    }

    /// Up to about `points_max` points of the range from its beginning, appended to `out`, which must end before the
    /// range begins; answers where the next page begins, `None` at the end. A page ends with a block, so it may be
    /// larger by one, and may be smaller (even empty) where much is deleted.
    /// With `as_of`, as the strand stood then: all writes until that time counted.
    ///
    /// Cost: one look-up each for the state and for the blocks touched (and pages of the index beyond a dozen
    /// blocks); overlays of the strand one each. As of a time: parts of kept writes that touch the page are read, and
    /// those until then decoded; all pages of a range together about twice each at most. Such a page is longer where many
    /// kept writes overlap: at least as many points as they have, which stand in memory with it.
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

    /// Ranges of many strands, whole, outcomes in order; what must come from the disk is read at the same time.
    /// The caller bounds what it asks for: all points stand in memory.
    /// Cost: that of [`Strands::read_page`] for each.
    pub async fn read_many(&self, wanted: &[(Strand, TimeRange)]) -> Vec<Result<Points, Error>> {
        self.many_now(wanted).await
    }

    /// The last `count` points of the range, in ascending order.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn read_last(&self, strand: &Strand, range: TimeRange, count: usize) -> Result<Points, Error> {
        self.last_now(strand, range, count).await
    }

    /// The last point before `time`, as the strand stood then; none if there was none.
    ///
    /// Cost: that of [`Strands::read_last`], if nothing was written later; else kept writes are read back from `time`, in
    /// stretches twice as long each, until one holds a point.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn read_last_as_of(
        &self,
        strand: &Strand,
        time: i64,
        as_of: Timestamp,
    ) -> Result<Points, Error> {
        self.last_as_of(strand, time, as_of).await
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
        self.visit_now(strand, range, want, show).await
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
        self.wanted_now(strand, range, is_wanted, points_max, out).await
    }

    /// The blocks that span an instant of the range, in order, and whether overlays touch them (then there may be more or
    /// less in their span than their summary says). Points of overlays outside of blocks are not told of.
    /// Cost: a look at the index and at all overlays of the range; no block is read.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn blocks(&self, strand: &Strand, range: TimeRange) -> Result<Vec<(Summary, bool)>, Error> {
        self.blocks_now(strand, range).await
    }

    /// The version of the strand as it stands, for a write that [expects](StrandWrite::expects) it.
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

    /// The first and last time held, exactly; `None` if the strand holds nothing.
    /// Cost: one look-up; where overlays delete, two small reads.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn extent(&self, strand: &Strand) -> Result<Option<(i64, i64)>, Error> {
        self.extent_now(strand).await
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
        self.names(partition, prefix, after, count_max).await
    }

    /// What was written to an audited strand: writes in the `written` range (both ends included) that touch `range`,
    /// oldest first. Cost: a scan of some 30 bytes for each kept write of that time.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn modifications(
        &self,
        strand: &Strand,
        range: TimeRange,
        written: (Timestamp, Timestamp),
    ) -> Result<Vec<Modification>, Error> {
        self.kept_writes(strand, range, written).await
    }

    /// Removes the strand with all its rows, and writes `beside` in the same atom.
    ///
    /// # Errors
    ///
    /// If the store refuses; [`Error::Contention`] if writers kept coming first.
    pub async fn erase(
        &self,
        strand: &Strand,
        beside: Vec<Write>,
        change: Option<ChangeRecord>,
    ) -> Result<(), Error> {
        self.live().erase_now(strand, None, &beside, change.as_ref()).await
    }

    /// Removes strands with all their rows, each an atom; those that are not there are passed over. Those before one that
    /// cannot be removed may be gone, and some behind it.
    ///
    /// Cost: that of [`Strands::erase`] for each, but one group commit for up to 256.
    ///
    /// # Errors
    ///
    /// As [`Strands::erase`].
    pub async fn erase_all(&self, strands: &[Strand]) -> Result<(), Error> {
        self.live().erase_all_now(strands).await
    }

    /// [`Strands::erase`] if the strand is still of this version; answers whether it was.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn erase_version(
        &self,
        strand: &Strand,
        version: StrandVersion,
        beside: Vec<Write>,
    ) -> Result<bool, Error> {
        match self.live().erase_now(strand, Some(version), &beside, None).await {
            Ok(()) => Ok(true),
            Err(Error::Contention(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes what is older than `before`: points, and kept writes that lie wholly before it, the latter in commits of
    /// their own (what is left of them when it ends early goes the next time). As-of reads tell nothing before the bound
    /// from now on, whatever is written there later; kept writes that reach over it stay whole for them. Answers whether
    /// there was anything.
    ///
    /// Cost: one look-up if there is nothing; else one commit, and a read of the kept writes that begin before the bound.
    ///
    /// # Errors
    ///
    /// If the store refuses, or stored bytes are damaged; [`Error::Contention`] if writers kept coming first.
    pub async fn expire(&self, strand: &Strand, before: i64) -> Result<bool, Error> {
        self.live().expire_now(strand, before).await
    }

    /// Removes the strand with all its rows if all points are older than `before` and no write is kept; answers whether
    /// it did. A write that comes meanwhile stays.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn erase_expired(&self, strand: &Strand, before: i64) -> Result<bool, Error> {
        self.live().erase_if_expired(strand, before).await
    }

    /// Folds overlays into blocks if there are any. Reads and writes go on meanwhile; a fold that a writer comes
    /// before starts again, and gives up after some attempts (answering false).
    /// Cost: blocks under overlays, and small ones beside them, are decoded and encoded anew.
    ///
    /// # Errors
    ///
    /// As [`Strands::read_page`].
    pub async fn fold(&self, strand: &Strand, encoding: Encoding) -> Result<bool, Error> {
        self.live().fold_now(strand, encoding).await
    }

    /// The next strand that wants to be folded (writes and reads note them), with the encoding it was last written in;
    /// waits until there is one.
    pub async fn next_to_fold(&self) -> (Strand, Encoding) {
        self.shared.queue.next().await
    }
}
