//! The feed: what it stores, and its pages.

use std::time::Duration;

use crate::{Change, Commit, Cursor};

/// What the feed stores: the newest changes, young ones, and those that a registered reader has not seen; all that only up to a
/// cap. Older changes may be there for a while.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FeedOptions {
    /// So many bytes of the newest changes.
    pub bytes_min: u64,
    /// Changes that are younger.
    pub age_min: Duration,
    /// The cap: of more bytes the oldest go, whoever has not seen them.
    pub bytes_max: u64,
}

impl FeedOptions {
    /// The recommended options.
    pub fn recommended() -> Self {
        Self {
            bytes_min: 64 * 1024 * 1024,
            age_min: Duration::from_secs(3600),
            bytes_max: 1024 * 1024 * 1024,
        }
    }
}

/// A page of the feed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FeedPage {
    /// Changes, those of each partition oldest first.
    pub changes: Vec<Change>,
    /// Where to go on: behind all that was looked at, which may be more than is in the page. The cursor that was asked with: there
    /// is nothing more.
    pub cursor: Cursor,
}

/// Bytes of a change in the feed beside its record.
const CHANGE_BYTES: usize = 33;
/// Bytes that a commit without payload leaves.
const HIDDEN_BYTES: usize = 32;

/// Bytes that a commit takes in the feed.
pub fn bytes_of(commit: &Commit) -> usize {
    match &commit.change {
        None => HIDDEN_BYTES,
        Some(record) => CHANGE_BYTES + record.bytes(),
    }
}
