//! Stored values, byte by byte: numbers of variable length, texts with their length, and a reader that checks every
//! length. Keys, whose order matters, are spelled by [`crate::key`].
//!
//! ```text
//! varint  = seven bits a byte, the lowest first; a set high bit says that more follow (LEB128)
//! zigzag  = varint of 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
//! bytes   = varint length, then so many bytes;  text = bytes in UTF-8
//! i64, f64 = eight bytes, little-endian
//! ```
//!
//! ```
//! use store::wire::{Malformed, Reader, put_text, put_varint};
//!
//! let mut stored = Vec::new();
//! put_varint(&mut stored, 300);
//! put_text(&mut stored, "pm10");
//!
//! let mut reader = Reader::new(&stored);
//! assert_eq!((reader.varint()?, reader.text()?), (300, "pm10"));
//! reader.end()?;
//! # Ok::<(), Malformed>(())
//! ```

#[cfg(test)]
mod tests;

/// Stored bytes that are not what they should be: cut off, too long, or beyond a number's range.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("stored bytes are malformed")]
pub struct Malformed;

/// Appends an unsigned number; 1 to 10 bytes.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Appends a signed number; small magnitudes are short.
#[inline]
pub fn put_zigzag(out: &mut Vec<u8>, number: i64) {
    put_varint(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

/// Appends bytes with their length before them.
#[inline]
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a text with its length in bytes before it.
#[inline]
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// Appends a signed number as eight bytes.
#[inline]
pub fn put_i64(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends a float as eight bytes, bit for bit.
#[inline]
pub fn put_f64(out: &mut Vec<u8>, number: f64) {
    out.extend_from_slice(&number.to_bits().to_le_bytes());
}

/// Reads one part after the other off the front of stored bytes. It never panics, and never reserves memory that the
/// bytes do not bear out. After an error it is at an unspecified byte.
///
/// Every method reads in constant time but [`Reader::text`], which checks the text; all of them answer [`Malformed`]
/// where the bytes end too early or say what cannot be.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

#[expect(clippy::missing_errors_doc, reason = "said once, at the type")]
impl<'a> Reader<'a> {
    /// Begins at the first byte.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What was not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether everything was read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Demands that everything was read.
    #[inline]
    pub fn end(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    /// One byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*first)
    }

    /// So many bytes, where they lie.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    /// `N` bytes, copied.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// A number of variable length. One that has more than 64 bits is malformed, however it is spelled.
    #[inline]
    pub fn varint(&mut self) -> Result<u64, Malformed> {
        match *self.rest {
            [low, ref rest @ ..] if low < 0x80 => {
                self.rest = rest;
                Ok(u64::from(low))
            }
            [low, high, ref rest @ ..] if high < 0x80 => {
                self.rest = rest;
                Ok(u64::from(low & 0x7f) | u64::from(high) << 7)
            }
            _ => self.long_varint(),
        }
    }

    /// Out of line, so that numbers below 16,384, which most are, are read where they are asked for.
    #[inline(never)]
    fn long_varint(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        // The tenth byte has room for one bit.
        match self.byte()? {
            last @ 0..=1 => Ok(number | u64::from(last) << 63),
            _ => Err(Malformed),
        }
    }

    /// A [varint](Self::varint) of at most 32 bits.
    #[inline]
    pub fn varint_u32(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.varint()?).map_err(|_| Malformed)
    }

    /// A signed number of variable length.
    #[inline]
    pub fn zigzag(&mut self) -> Result<i64, Malformed> {
        let number = self.varint()?;
        Ok((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    /// A [varint](Self::varint) that is a length or count of at most `max`.
    #[inline]
    pub fn length(&mut self, max: usize) -> Result<usize, Malformed> {
        let length = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
        if length > max { Err(Malformed) } else { Ok(length) }
    }

    /// How many things follow, each of at least one byte: so memory for them may be reserved.
    #[inline]
    pub fn count(&mut self) -> Result<usize, Malformed> {
        let count = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
        if count > self.rest.len() { Err(Malformed) } else { Ok(count) }
    }

    /// Bytes with their length before them, where they lie.
    #[inline]
    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
        self.take(length)
    }

    /// A text with its length before it, where it lies.
    #[inline]
    pub fn text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }

    /// A signed number of eight bytes.
    #[inline]
    pub fn i64(&mut self) -> Result<i64, Malformed> {
        self.array().map(i64::from_le_bytes)
    }

    /// A float of eight bytes, bit for bit.
    #[inline]
    pub fn f64(&mut self) -> Result<f64, Malformed> {
        self.array().map(|bits| f64::from_bits(u64::from_le_bytes(bits)))
    }
}
