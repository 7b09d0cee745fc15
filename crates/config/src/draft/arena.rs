//! Memory for what a draft holds.

use bytes::{Bytes, BytesMut};

/// The first piece of a draft's memory, and the largest.
const PIECE_BYTES_MIN: usize = 4 * 1024;
const PIECE_BYTES_MAX: usize = 64 * 1024;
/// More bytes have memory of their own: when they are replaced, it is free, whatever else lives.
const SHARED_BYTES_MAX: usize = 2 * 1024;

/// Memory for what a draft holds, in pieces that many keys and values share.
#[derive(Debug, Default)]
pub(super) struct Arena {
    free: BytesMut,
    /// Bytes of the last piece.
    piece: usize,
}

impl Arena {
    /// A copy. Cost: the bytes; memory is asked for once in many calls.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Bytes {
        if bytes.len() > SHARED_BYTES_MAX {
            return Bytes::copy_from_slice(bytes);
        }
        if self.free.capacity() < bytes.len() {
            self.piece = (2 * self.piece).clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX);
            self.free = BytesMut::with_capacity(self.piece);
        }
        self.free.extend_from_slice(bytes);
        self.free.split().freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::{Arena, SHARED_BYTES_MAX};

    #[test]
    fn large_values_do_not_live_as_long_as_small_ones_beside_them() {
        let mut arena = Arena::default();
        let small = [arena.keep(b"one"), arena.keep(b"two")];
        assert!(small.iter().all(|bytes| !bytes.is_unique()), "they share a piece");
        let large = arena.keep(&[7; SHARED_BYTES_MAX + 1]);
        let after = arena.keep(b"three");
        assert!(large.is_unique() && !after.is_unique());
        assert!(
            large.iter().all(|byte| *byte == 7) && [&small[0][..], &after] == [b"one" as &[u8], b"three"]
        );
    }
}
