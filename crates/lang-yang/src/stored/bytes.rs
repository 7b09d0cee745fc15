//! Numbers, texts and lists as bytes, and a reader that checks every length.

/// Stored bytes that are not what they should be: cut off, changed, or of another version.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the stored schema is malformed")]
pub struct Malformed;

/// Bytes under way.
#[derive(Debug, Default)]
pub(super) struct Writer {
    out: Vec<u8>,
}

impl Writer {
    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }

    pub(super) fn u8(&mut self, number: u8) {
        self.out.push(number);
    }

    pub(super) fn flag(&mut self, flag: bool) {
        self.u8(u8::from(flag));
    }

    pub(super) fn u16(&mut self, number: u16) {
        self.out.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn u32(&mut self, number: u32) {
        self.out.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn i32(&mut self, number: i32) {
        self.out.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn u64(&mut self, number: u64) {
        self.out.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn i64(&mut self, number: i64) {
        self.out.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn i128(&mut self, number: i128) {
        self.out.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn u128(&mut self, number: u128) {
        self.out.extend_from_slice(&number.to_le_bytes());
    }

    fn length(&mut self, length: usize) {
        self.u32(u32::try_from(length).expect("tables and texts of a schema have limits"));
    }

    pub(super) fn text(&mut self, text: &str) {
        self.length(text.len());
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.length(items.len());
        for item in items {
            write(self, item);
        }
    }
}

/// Reads one part after the other; every method answers [`Malformed`] where the bytes end too early or say what cannot be.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*array)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn flag(&mut self) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }

    pub(super) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, Malformed> {
        self.array().map(i64::from_le_bytes)
    }

    pub(super) fn i128(&mut self) -> Result<i128, Malformed> {
        self.array().map(i128::from_le_bytes)
    }

    pub(super) fn u128(&mut self) -> Result<u128, Malformed> {
        self.array().map(u128::from_le_bytes)
    }

    pub(super) fn text(&mut self) -> Result<Box<str>, Malformed> {
        let length = self.u32()? as usize;
        std::str::from_utf8(self.bytes(length)?).map(Into::into).map_err(|_| Malformed)
    }

    /// Nothing is reserved for a length that the bytes do not bear out.
    pub(super) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Box<[T]>, Malformed> {
        let length = self.u32()? as usize;
        if length > self.rest.len() {
            return Err(Malformed);
        }
        let mut items = Vec::new();
        for _ in 0..length {
            items.push(read(self)?);
        }
        Ok(items.into())
    }

    pub(super) fn end(&self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}
