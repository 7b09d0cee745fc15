//! The limits of a query.

/// How many ways a step may give the keys of a list; beyond it the list is gone through.
pub(super) const LOOK_UPS_MAX: usize = 4_096;
