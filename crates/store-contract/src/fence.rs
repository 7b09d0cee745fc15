//! Fences: what commits can be made to heed that follow from something read elsewhere, or point at rows that were written
//! before them. Each partition is in an epoch; a commit can name the one that was seen before that was read or written, and
//! is refused once there is a newer one.
//!
//! So one notion serves both who must be sure that all writers know something (a barrier), and who removes rows that no commit
//! points at, and must be sure that none will (a sweep).

/// The epoch of a partition, as its reader knows it. Of one store: a later one is newer, also over restarts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Epoch(pub(crate) u64);

/// The epoch that the commit of this number began. For engines.
#[inline]
pub fn epoch_of(number: u64) -> Epoch {
    Epoch(number)
}

/// The number of the commit that began an epoch. For engines.
#[inline]
pub fn number_of_epoch(Epoch(number): Epoch) -> u64 {
    number
}
