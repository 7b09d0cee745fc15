//! The limits of a path and of a composite query.

/// The longest path in bytes.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// The most steps of a path, those of its ancestor axis included.
pub const STEPS_MAX: usize = 256;
/// The most conditions of a path, those of all its steps together.
pub const CONDITIONS_MAX: usize = 4_096;
/// How deep the conditions of a composite query nest.
pub const COMPOSITE_DEPTH_MAX: usize = 10;
/// The most paths of a composite query, those of nested conditions included.
pub const COMPOSITE_QUERIES_MAX: usize = 1_024;
