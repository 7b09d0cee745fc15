//! What a strand is, how strands are stored, and what is written to one.

use bytes::Bytes;
use store::{ChangeRecord, Limits, Partition, Stamp, Timestamp, Write};

use crate::codec::Encoding;
use crate::points::{Points, TimeRange};

/// Fewer points than this part of a full block never become blocks of their own at once.
const BLOCK_PART_MIN: usize = 16;
/// The largest block in bytes, unless it holds one point.
pub(crate) const BLOCK_BYTES_MAX: usize = 1024 * 1024;
/// The most points of one block, whatever the options say.
const BLOCK_POINTS_LIMIT: usize = 65_535;

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
pub(crate) struct Rules {
    pub(crate) options: StrandOptions,
    pub(crate) limits: Limits,
    /// Points of a layer that take more bytes go ahead of their commit.
    pub(crate) inline_bytes_max: usize,
}

impl Rules {
    pub(crate) fn new(options: StrandOptions, limits: Limits) -> Self {
        // A write may put an overlay and keep it, beside the state and rows of the caller.
        Self { options, limits, inline_bytes_max: limits.commit_bytes / 4 }
    }
}

impl Rules {
    /// The most points of a block.
    pub(crate) fn block_points_max(&self) -> usize {
        self.options.block_points_max.clamp(1, BLOCK_POINTS_LIMIT)
    }

    /// A block of more bytes is cut into smaller ones, unless it holds one point: a commit takes several.
    pub(crate) fn block_bytes_max(&self) -> usize {
        BLOCK_BYTES_MAX.min(self.limits.commit_bytes / 4)
    }

    /// Fewer points never become blocks of their own at once.
    pub(crate) fn block_points_min(&self) -> usize {
        (self.block_points_max() / BLOCK_PART_MIN).max(2)
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
    /// What goes to the feed, if anything.
    pub change: Option<ChangeRecord>,
    /// Only if the strand is still of this version: for writes that follow from what was read.
    pub expects: Option<StrandVersion>,
}

/// Which state of a strand was read: no two are alike, but for those in which there is no strand.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StrandVersion(pub(crate) Option<Stamp>);

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
