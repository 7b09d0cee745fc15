//! Variable-length integers, and a reader that checks every length.

use super::Malformed;

/// Appends seven bits a byte, the lowest first; a set high bit says that more follow.
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Like [`put_varint`], for numbers that may be negative: 0, −1, 1, −2, ... become 0, 1, 2, 3, ...
pub(super) fn put_zigzag(out: &mut Vec<u8>, value: i64) {
    put_varint(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

/// Appends a length.
pub(super) fn put_len(out: &mut Vec<u8>, len: usize) {
    put_varint(out, len as u64);
}

/// Bytes not yet read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) fn eight(&mut self) -> Result<[u8; 8], Malformed> {
        let (first, rest) = self.rest.split_first_chunk().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(Malformed);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    pub(super) fn zigzag(&mut self) -> Result<i64, Malformed> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }

    /// A length, which must not exceed `max`.
    pub(super) fn len(&mut self, max: usize) -> Result<usize, Malformed> {
        let len = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
        if len > max { Err(Malformed) } else { Ok(len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back() {
        for value in [0, 1, -1, 63, 64, -64, -65, 1 << 40, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            put_zigzag(&mut out, value);
            put_varint(&mut out, value.cast_unsigned());
            let mut cursor = Cursor::new(&out);
            assert_eq!(cursor.zigzag(), Ok(value));
            assert_eq!(cursor.varint(), Ok(value.cast_unsigned()));
            assert!(cursor.is_empty());
        }
    }

    #[test]
    fn endless_and_cut_integers_are_malformed() {
        assert_eq!(Cursor::new(&[0xff; 12]).varint(), Err(Malformed));
        assert_eq!(Cursor::new(&[0x80, 0x80]).varint(), Err(Malformed));
        let past_64_bits = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert_eq!(Cursor::new(&past_64_bits).varint(), Err(Malformed));
        assert_eq!(Cursor::new(&[5]).len(4), Err(Malformed));
    }
}
