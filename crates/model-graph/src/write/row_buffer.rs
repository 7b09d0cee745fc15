//! The memory that the rows of a request are made in.

use bytes::{Bytes, BytesMut};

/// Rows are made in pieces of memory of at most so many bytes.
const PIECE_BYTES_MAX: usize = 64 * 1024;
/// What the rows of an element are expected to take.
const ELEMENT_BYTES: usize = 256;

/// Makes keys and values in few allocations: those of several elements share one.
#[derive(Debug, Default)]
pub(super) struct RowBuffer {
    scratch: Vec<u8>,
    rest: BytesMut,
    piece_bytes: usize,
}

impl RowBuffer {
    /// One for the rows of so many elements.
    pub(super) fn for_elements(elements: usize) -> Self {
        // The rows of one have an allocation each, of the room that they need.
        let piece_bytes = if elements > 1 { (elements * ELEMENT_BYTES).min(PIECE_BYTES_MAX) } else { 0 };
        Self { piece_bytes, ..Self::default() }
    }

    /// What `put` appends to an empty buffer.
    #[inline]
    pub(super) fn make(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> Bytes {
        self.scratch.clear();
        put(&mut self.scratch);
        if self.piece_bytes == 0 {
            return Bytes::copy_from_slice(&self.scratch);
        }
        if self.rest.capacity() < self.scratch.len() {
            self.rest = BytesMut::with_capacity(self.piece_bytes.max(self.scratch.len()));
        }
        self.rest.extend_from_slice(&self.scratch);
        self.rest.split().freeze()
    }
}
