//! The limits of a formula.

/// The longest formula in bytes.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// How deep parentheses, calls, signs and powers nest.
pub const DEPTH_MAX: usize = 64;
/// The most operators, calls, numbers and references of a formula.
pub const STEPS_MAX: usize = 4_096;
/// The most values on the stack when a formula is evaluated.
pub const STACK_MAX: usize = 128;
/// The most different references of a formula.
pub const REFERENCES_MAX: usize = 256;
