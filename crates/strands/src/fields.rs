//! Fields that rows of several kinds have: generations of blocks, and spans of time. Pure.

use store::wire::{Malformed, Reader, put_varint};
use store::{LimitExceeded, WriteId};

use crate::error::Error;

/// Low bits of a generation: the attempt.
const ATTEMPT_BITS: u32 = 36;
/// The others: how many changes of blocks there were.
const COUNT_BITS: u32 = u64::BITS - ATTEMPT_BITS;
/// The most changes of a strand's blocks.
const GENERATIONS_MAX: u64 = (1 << COUNT_BITS) - 1;
/// Bits of where that begins.
const FIRST_COUNT_BITS: u32 = COUNT_BITS - 1;

/// Tells an attempt to write apart from others of the same generation; zero where losers leave nothing behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt(u64);

impl Attempt {
    /// Of a write that leaves nothing behind if another comes first.
    pub(crate) const CLEAN: Self = Self(0);

    /// Of a write that may.
    pub(crate) fn of(id: WriteId) -> Self {
        // Ids of one process count on; those of two differ in their high half.
        let (low, high) = halves(id);
        let mixed = (high.rotate_left(17) ^ low).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self((mixed >> (u64::BITS - ATTEMPT_BITS)).max(1))
    }
}

/// The low and the high half of an id.
pub(crate) fn halves(WriteId(id): WriteId) -> (u64, u64) {
    let [a, b, c, d, e, f, g, h, high @ ..] = id.to_le_bytes();
    (u64::from_le_bytes([a, b, c, d, e, f, g, h]), u64::from_le_bytes(high))
}

/// The generation behind another, in an attempt to write. What an attempt leaves behind lies under no key of another.
///
/// # Errors
///
/// [`Error::Limit`] after some 100 million of one strand.
pub(crate) fn next_generation(held: u64, Attempt(attempt): Attempt) -> Result<u64, Error> {
    let count = count_of(held) + 1;
    if count > GENERATIONS_MAX {
        return Err(LimitExceeded { name: "GENERATIONS_MAX", max: GENERATIONS_MAX, got: count }.into());
    }
    Ok(count << ATTEMPT_BITS | attempt)
}

/// Where the generations of a new strand begin: not at zero, so that a reader of a strand that was erased and written anew
/// meanwhile does not take new rows for old ones, nor does who removes the old ones.
pub(crate) fn first_generation(id: WriteId) -> u64 {
    Attempt::of(id).0 >> (ATTEMPT_BITS - FIRST_COUNT_BITS) << ATTEMPT_BITS
}

/// How many changes of blocks lead to a generation.
pub(crate) fn count_of(generation: u64) -> u64 {
    generation >> ATTEMPT_BITS
}

/// Appends a generation: short where attempts are clean.
pub(crate) fn put_generation(out: &mut Vec<u8>, generation: u64) {
    let attempt = generation & ((1 << ATTEMPT_BITS) - 1);
    put_varint(out, count_of(generation) << 1 | u64::from(attempt != 0));
    if attempt != 0 {
        put_varint(out, attempt);
    }
}

/// Reads what [`put_generation`] wrote.
pub(crate) fn read_generation(reader: &mut Reader<'_>) -> Result<u64, Malformed> {
    let count = reader.varint()?;
    let (count, attempt) = (count >> 1, if count & 1 == 0 { 0 } else { reader.varint()? });
    let is_one = count >> COUNT_BITS == 0 && attempt >> ATTEMPT_BITS == 0;
    is_one.then_some(count << ATTEMPT_BITS | attempt).ok_or(Malformed)
}

/// Appends the last time of a span that begins at `first`, as its distance.
pub(crate) fn put_last(out: &mut Vec<u8>, first: i64, last: i64) {
    put_varint(out, last.wrapping_sub(first).cast_unsigned());
}

/// Reads what [`put_last`] wrote. No point lies at the end of time.
pub(crate) fn read_last(reader: &mut Reader<'_>, first: i64) -> Result<i64, Malformed> {
    first.checked_add_unsigned(reader.varint()?).filter(|last| *last < i64::MAX).ok_or(Malformed)
}
