//! Rows of a load, packed: what `store::Store::load` is given. No engine is here, and nothing of how a load is carried out.

use crate::limits::{check_load_rows, check_loaded};
use crate::{Error, ErrorKind, Partition};

/// Rows to be put by a load, packed into one buffer: no allocation per row. Keys come in any order; of rows with the same key the
/// later one counts.
#[derive(Clone, Debug, Default)]
pub struct LoadRows {
    bytes: Vec<u8>,
    ends: Vec<RowEnds>,
}

/// Where a row ends in the buffer; it begins where the one before ends.
#[derive(Clone, Copy, Debug)]
struct RowEnds {
    key: u32,
    value: u32,
    is_stamped: bool,
}

/// One of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoadRow<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The value.
    pub value: &'a [u8],
    /// Whether it carries stamp and write id of the load, so that conditions can name its version.
    pub is_stamped: bool,
}

impl LoadRows {
    /// None yet, with room for so many bytes of keys and values, and so many rows.
    pub fn with_capacity(bytes: usize, rows: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(rows) }
    }

    /// Adds a plain row, as [`crate::Write::Put`] puts one. Cost: a copy.
    ///
    /// # Panics
    ///
    /// If all rows are 4 GiB or more: they are refused from [`crate::limits::LOAD_ADD_BYTES_MAX`] on.
    #[inline]
    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.push(LoadRow { key, value, is_stamped: false });
    }

    /// Adds a stamped row, as [`crate::Write::PutStamped`] puts one. Cost: a copy.
    ///
    /// # Panics
    ///
    /// As [`LoadRows::put`].
    #[inline]
    pub fn put_stamped(&mut self, key: &[u8], value: &[u8]) {
        self.push(LoadRow { key, value, is_stamped: true });
    }

    #[inline]
    fn push(&mut self, row: LoadRow<'_>) {
        self.bytes.extend_from_slice(row.key);
        let key = self.end();
        self.bytes.extend_from_slice(row.value);
        self.ends.push(RowEnds { key, value: self.end(), is_stamped: row.is_stamped });
    }

    #[inline]
    fn end(&self) -> u32 {
        u32::try_from(self.bytes.len()).expect("rows of a load are refused long before 4 GiB")
    }

    /// How many rows there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of keys and values.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of memory that they take.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<RowEnds>()
    }

    /// The row at an index.
    #[inline]
    pub fn row(&self, index: usize) -> Option<LoadRow<'_>> {
        let start = match index.checked_sub(1) {
            None => 0,
            Some(before) => self.ends.get(before)?.value,
        };
        let RowEnds { key: key_end, value: end, is_stamped } = *self.ends.get(index)?;
        let key = self.bytes.get(start as usize..key_end as usize)?;
        Some(LoadRow { key, value: self.bytes.get(key_end as usize..end as usize)?, is_stamped })
    }

    /// All rows, as they were added.
    #[inline]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = LoadRow<'_>> {
        (0..self.len()).map(|index| self.row(index).expect("an index below the length"))
    }

    /// Refuses rows that no load takes, or not in this partition. Cost: a look at each row. For engines.
    ///
    /// # Errors
    ///
    /// `TooLarge`, which names the limit; `Misuse`.
    pub fn check(&self, partition: &Partition) -> Result<(), Error> {
        check_load_rows(partition, self.bytes())?;
        self.rows().try_for_each(|row| check_loaded(row.key, row.value, row.is_stamped))
    }
}

/// The refusal of a load that was finished, or has failed. For engines.
pub fn is_over() -> Error {
    Error::new(ErrorKind::Misuse, "load: it was finished, or has failed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{KEY_BYTES_MAX, LOAD_ADD_BYTES_MAX};
    use crate::testing::{BLOCKS, things};

    #[test]
    fn rows_are_read_as_they_were_added() {
        let mut rows = LoadRows::with_capacity(8, 2);
        assert!(rows.is_empty() && rows.row(0).is_none());
        rows.put(b"", b"");
        rows.put_stamped(b"key", b"value");
        rows.put(b"T", b"");
        let read: Vec<_> = rows.rows().collect();
        let row = |key, value, is_stamped| LoadRow { key, value, is_stamped };
        assert_eq!(read, [row(b"", b"", false), row(b"key", b"value", true), row(b"T", b"", false)]);
        assert_eq!((rows.len(), rows.bytes(), rows.row(3)), (3, 9, None));
        assert!(rows.memory_bytes() >= 9 && rows.check(&things(0)).is_ok());
    }

    #[test]
    fn what_no_load_takes_is_refused() {
        let check = |partition: &Partition, fill: &dyn Fn(&mut LoadRows)| {
            let mut rows = LoadRows::default();
            fill(&mut rows);
            rows.check(partition).map_err(|error| error.kind())
        };
        let appends = Partition { space: BLOCKS, ..things(0) };
        assert_eq!(check(&appends, &|rows| rows.put(b"a", b"")), Err(ErrorKind::Misuse));
        assert_eq!(check(&things(0), &|rows| rows.put_stamped(b"T", b"")), Err(ErrorKind::Misuse));
        let long = vec![b'k'; KEY_BYTES_MAX + 1];
        assert_eq!(check(&things(0), &|rows| rows.put(&long, b"")), Err(ErrorKind::TooLarge));
        let large = vec![0; LOAD_ADD_BYTES_MAX / 3];
        let many = |rows: &mut LoadRows| (0..4).for_each(|_| rows.put(b"k", &large));
        assert_eq!(check(&things(0), &many), Err(ErrorKind::TooLarge));
    }
}
