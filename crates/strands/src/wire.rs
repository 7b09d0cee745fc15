//! Numbers as stored rows spell them: variable-length integers and eight-byte floats; a reader that never panics.

use crate::Malformed;

/// Appends a number, seven bits a byte, least significant first.
pub(super) fn put_u64(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

/// Appends a signed number; small magnitudes are short.
pub(super) fn put_i64(out: &mut Vec<u8>, number: i64) {
    put_u64(out, (number << 1 ^ number >> 63).cast_unsigned());
}

/// Appends a float, bit for bit.
pub(super) fn put_f64(out: &mut Vec<u8>, number: f64) {
    out.extend_from_slice(&number.to_bits().to_le_bytes());
}

/// Reads what the functions above wrote.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                return Err(Malformed);
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.u64()?).map_err(|_| Malformed)
    }

    /// A count of things of which each takes at least one byte: never more than the bytes bear out.
    pub(super) fn count(&mut self) -> Result<usize, Malformed> {
        let count = usize::try_from(self.u64()?).map_err(|_| Malformed)?;
        if count > self.rest.len() { Err(Malformed) } else { Ok(count) }
    }

    pub(super) fn i64(&mut self) -> Result<i64, Malformed> {
        let number = self.u64()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// The last time of what begins at `first`, told by its distance. The end of time is behind all that is held.
    pub(super) fn last_from(&mut self, first: i64) -> Result<i64, Malformed> {
        first.checked_add_unsigned(self.u64()?).filter(|last| *last < i64::MAX).ok_or(Malformed)
    }

    pub(super) fn f64(&mut self) -> Result<f64, Malformed> {
        let (bits, rest) = self.rest.split_first_chunk().ok_or(Malformed)?;
        self.rest = rest;
        Ok(f64::from_bits(u64::from_le_bytes(*bits)))
    }

    pub(super) fn bytes(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(Malformed)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// What was not read.
    pub(super) fn rest(self) -> &'a [u8] {
        self.rest
    }

    /// Everything must have been read.
    pub(super) fn end(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(unsigned: u64, signed: i64, float: f64) {
            let mut bytes = Vec::new();
            put_u64(&mut bytes, unsigned);
            put_i64(&mut bytes, signed);
            put_f64(&mut bytes, float);
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.u64(), Ok(unsigned));
            prop_assert_eq!(reader.i64(), Ok(signed));
            prop_assert_eq!(reader.f64().unwrap().to_bits(), float.to_bits());
            prop_assert!(reader.end().is_ok());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let mut reader = Reader::new(&bytes);
            let _ = (reader.u64(), reader.i64(), reader.count(), reader.f64(), reader.bytes(3));
        }
    }
}
