//! Blocks: points to bytes and back, bit for bit. Pure.
//!
//! [`encode_block`] turns up to 65,535 points into one block; [`Block`] reads it: the [`Summary`] from the header
//! alone, the points when asked for. Every column has a file and a few codecs of its own; the writer takes the
//! one that fits, so a raster's times cost nothing, and flags that are all the same a byte.
//!
//! Invariant: what was written comes back bit for bit (but for the values of points that have none), whatever
//! the encoding. Invariant: no bytes make a reader panic, or take more memory than their points need.

mod bits;
mod integers;
mod decimals;
mod pcodec;
mod doubles;
mod flags;
mod notes;
mod observed;
mod summary;
mod times;
mod block;

#[cfg(test)]
mod tests;

use crate::points::Points;

pub use store::wire::Malformed;

pub use block::Block;
pub(crate) use block::encode_part;
pub use summary::Summary;

/// How hard to pack.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// Eight bytes a value, times as they are: for series with compression switched off.
    Raw,
    /// Fast to write and to read: decimals as bit-packed deltas, else the better of `pco` level 4 and raw.
    Hot,
    /// Small: `pco` level 8 wherever it is smaller. For folded blocks that are old.
    Cold,
}

/// Encodes points (at least one, at most 65,535). Cost on one core: 3 ns a point for decimals when hot,
/// 70 ns when cold (`benches/codec.rs`).
///
/// # Panics
///
/// If there is no point, or too many.
pub fn encode_block(points: &Points, encoding: Encoding) -> Vec<u8> {
    encode_part(points, 0..points.len(), encoding)
}
