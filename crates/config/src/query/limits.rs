//! The limits of a query.

/// How many ways a step may give the keys of a list; beyond it the list is gone through.
pub(super) const LOOK_UPS_MAX: usize = 4_096;

/// The most bytes of memory for the distinct values of an attribute axis, as they are reckoned: a million short ones. What the allocator adds is not counted.
pub const VALUES_BYTES_MAX: usize = 64 << 20;
