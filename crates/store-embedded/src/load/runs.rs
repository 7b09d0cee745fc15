//! Runs of a load: rows in the order of their keys, in memory or in the file to which they were spilled.
//!
//! A spilled row: length of the key (u16, little-endian, with the highest bit for stamped ones), length of the value (u32), key,
//! value. The file belongs to this process alone and goes with the load.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering};

use store_contract::LoadRow;

use super::sorted::Sorted;

/// Of a spilled run a key is noted for each such part, by which it is divided.
const NOTE_BYTES: u64 = 256 * 1024;
/// Spilled rows are written so many bytes at a time.
const WRITE_BYTES: usize = 1024 * 1024;
const HEADER_BYTES: usize = 6;
const IS_STAMPED: u16 = 1 << 15;

/// The file of spilled runs.
#[derive(Debug)]
pub(super) struct SpillFile {
    file: File,
    end: AtomicU64,
}

/// Sorted rows.
#[derive(Debug)]
pub(super) enum Run {
    Memory(Sorted),
    Spilled(Spilled),
}

/// Where spilled rows lie.
#[derive(Debug)]
pub(super) struct Spilled {
    start: u64,
    end: u64,
    /// Keys and where their rows begin, in order; the first is that of the first row.
    notes: Vec<(Box<[u8]>, u64)>,
}

fn spilled_bytes(row: &LoadRow<'_>) -> u64 {
    (HEADER_BYTES + row.key.len() + row.value.len()) as u64
}

impl SpillFile {
    pub(super) fn new(file: File) -> Self {
        Self { file, end: AtomicU64::new(0) }
    }

    /// Bytes that were spilled.
    pub(super) fn bytes(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Writes sorted rows. Blocks.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub(super) fn spill(&self, sorted: &Sorted) -> io::Result<Spilled> {
        let bytes = sorted.rows().map(|row| spilled_bytes(&row)).sum();
        let start = self.end.fetch_add(bytes, Ordering::AcqRel);
        let mut run = Spilled { start, end: start + bytes, notes: Vec::new() };
        let (mut at, mut written, mut noted) = (start, start, None);
        let mut buffer = Vec::with_capacity(WRITE_BYTES);
        for row in sorted.rows() {
            if noted.is_none_or(|noted| at - noted >= NOTE_BYTES) {
                noted = Some(at);
                run.notes.push((row.key.into(), at));
            }
            put_row(&mut buffer, row);
            at += spilled_bytes(&row);
            if buffer.len() >= WRITE_BYTES {
                self.file.write_all_at(&buffer, written)?;
                written = at;
                buffer.clear();
            }
        }
        self.file.write_all_at(&buffer, written)?;
        Ok(run)
    }
}

fn put_row(buffer: &mut Vec<u8>, row: LoadRow<'_>) {
    let key = u16::try_from(row.key.len()).expect("keys have a limit");
    let value = u32::try_from(row.value.len()).expect("values have a limit");
    buffer.extend_from_slice(&(key | if row.is_stamped { IS_STAMPED } else { 0 }).to_le_bytes());
    buffer.extend_from_slice(&value.to_le_bytes());
    buffer.extend_from_slice(row.key);
    buffer.extend_from_slice(row.value);
}

impl Run {
    /// Keys by which it can be divided, each standing for as many bytes, about.
    pub(super) fn samples(&self) -> Vec<&[u8]> {
        match self {
            Self::Spilled(run) => run.notes.iter().map(|(key, _)| &**key).collect(),
            Self::Memory(sorted) => {
                let mut samples = Vec::new();
                let mut bytes = NOTE_BYTES;
                for row in sorted.rows() {
                    bytes += spilled_bytes(&row);
                    if bytes >= NOTE_BYTES {
                        bytes = 0;
                        samples.push(row.key);
                    }
                }
                samples
            }
        }
    }

    /// Reads its rows from a key on (`None`: the first); of what is spilled so many bytes at a time.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub(super) fn read<'a>(
        &'a self,
        file: &'a SpillFile,
        from: Option<&[u8]>,
        buffer_bytes: usize,
    ) -> io::Result<Reader<'a>> {
        match self {
            Self::Memory(sorted) => {
                Ok(Reader::Memory { sorted, at: from.map_or(0, |from| sorted.find(from)) })
            }
            Self::Spilled(run) => {
                let before = from.map_or(0, |from| run.notes.partition_point(|(key, _)| **key <= *from));
                let note = run.notes.get(before.saturating_sub(1));
                let start = note.map_or(run.start, |(_, start)| *start);
                let buffer = vec![0; buffer_bytes.max(HEADER_BYTES)];
                let mut reader = SpillReader {
                    file: &file.file,
                    unread: start..run.end,
                    buffer,
                    row: 0..0,
                    key_end: 0,
                    filled: 0,
                    is_stamped: false,
                };
                reader.advance()?;
                while let Some(from) = from
                    && reader.row().is_some_and(|row| row.key < from)
                {
                    reader.advance()?;
                }
                Ok(Reader::Spilled(reader))
            }
        }
    }
}

/// Reads the rows of a run, one after another.
pub(super) enum Reader<'a> {
    Memory { sorted: &'a Sorted, at: usize },
    Spilled(SpillReader<'a>),
}

impl Reader<'_> {
    /// The row that it is at; `None` behind the last.
    #[inline]
    pub(super) fn row(&self) -> Option<LoadRow<'_>> {
        match self {
            Self::Memory { sorted, at } => sorted.row(*at),
            Self::Spilled(reader) => reader.row(),
        }
    }

    /// Goes on to the next row.
    ///
    /// # Errors
    ///
    /// What the file system says.
    #[inline]
    pub(super) fn advance(&mut self) -> io::Result<()> {
        match self {
            Self::Memory { at, .. } => {
                *at += 1;
                Ok(())
            }
            Self::Spilled(reader) => reader.advance(),
        }
    }
}

/// Reads spilled rows.
pub(super) struct SpillReader<'a> {
    file: &'a File,
    /// What of the file was not read yet.
    unread: std::ops::Range<u64>,
    buffer: Vec<u8>,
    /// Where in the buffer the row lies, its header apart; empty at zero: there is none.
    row: std::ops::Range<usize>,
    key_end: usize,
    filled: usize,
    is_stamped: bool,
}

impl SpillReader<'_> {
    #[inline]
    fn row(&self) -> Option<LoadRow<'_>> {
        if self.row.start == 0 {
            return None;
        }
        let key = self.buffer.get(self.row.start..self.key_end).expect("a row that was read");
        let value = self.buffer.get(self.key_end..self.row.end).expect("a row that was read");
        Some(LoadRow { key, value, is_stamped: self.is_stamped })
    }

    #[inline]
    fn advance(&mut self) -> io::Result<()> {
        let mut header = self.row.end;
        if !self.has(header, HEADER_BYTES) {
            if self.filled == header && self.unread.is_empty() {
                self.row = 0..0;
                return Ok(());
            }
            header = self.fill(header, HEADER_BYTES)?;
        }
        let (key_bytes, value_bytes, is_stamped) = self.header(header)?;
        let bytes = HEADER_BYTES + key_bytes + value_bytes;
        if !self.has(header, bytes) {
            header = self.fill(header, bytes)?;
        }
        let start = header + HEADER_BYTES;
        (self.row, self.key_end, self.is_stamped) = (start..header + bytes, start + key_bytes, is_stamped);
        Ok(())
    }

    #[inline]
    fn has(&self, at: usize, bytes: usize) -> bool {
        self.filled - at >= bytes
    }

    #[inline]
    fn header(&self, at: usize) -> io::Result<(usize, usize, bool)> {
        let header: Option<&[u8; HEADER_BYTES]> = self.buffer.get(at..).and_then(<[u8]>::first_chunk);
        let [k0, k1, v0, v1, v2, v3] = *header.ok_or(io::ErrorKind::UnexpectedEof)?;
        let (key, value) = (u16::from_le_bytes([k0, k1]), u32::from_le_bytes([v0, v1, v2, v3]));
        Ok((usize::from(key & !IS_STAMPED), value as usize, key & IS_STAMPED != 0))
    }

    /// Moves what is there from `at` on to the front and reads on, so that so many bytes are there; where `at` is then.
    #[cold]
    fn fill(&mut self, at: usize, bytes: usize) -> io::Result<usize> {
        self.buffer.copy_within(at..self.filled, 0);
        self.filled -= at;
        if self.buffer.len() < bytes {
            self.buffer.resize(bytes, 0);
        }
        let unread = usize::try_from(self.unread.end - self.unread.start).unwrap_or(usize::MAX);
        let more = unread.min(self.buffer.len() - self.filled);
        let room = self.buffer.get_mut(self.filled..self.filled + more).expect("as much as there is room");
        self.file.read_exact_at(room, self.unread.start)?;
        self.unread.start += more as u64;
        self.filled += more;
        if self.filled < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(0) }
    }
}

#[cfg(test)]
mod tests {
    use store_contract::LoadRows;

    use super::*;

    #[test]
    fn a_spilled_run_is_read_from_any_key_with_any_buffer() {
        let file = SpillFile::new(tempfile::tempfile().unwrap());
        let key = |n: u32| format!("key {n:06}");
        let value = |n: u32| "v".repeat(if n.is_multiple_of(997) { 5_000 } else { n as usize % 90 });
        let sorted = |first: u32| {
            let mut rows = LoadRows::default();
            for n in (first..20_000).step_by(2) {
                match n % 3 {
                    0 => rows.put_stamped(key(n).as_bytes(), value(n).as_bytes()),
                    _ => rows.put(key(n).as_bytes(), value(n).as_bytes()),
                }
            }
            Sorted::new(vec![rows])
        };
        let (even, odd) = (file.spill(&sorted(0)).unwrap(), file.spill(&sorted(1)).unwrap());
        assert_eq!(file.bytes(), odd.end);
        assert!(even.notes.len() > 1);
        let runs = [(0, Run::Spilled(even)), (1, Run::Spilled(odd)), (1, Run::Memory(sorted(1)))];
        for (first, run) in &runs {
            for (from, buffer_bytes) in [(0, 1), (9_999, 300), (10_000, 64 << 10), (19_999, 7), (20_001, 7)] {
                let start = key(from);
                let start = (from > 0).then_some(start.as_bytes());
                let mut reader = run.read(&file, start, buffer_bytes).unwrap();
                let mut expected = (*first..20_000).step_by(2).filter(|n| *n >= from);
                while let Some(row) = reader.row() {
                    let n = expected.next().unwrap();
                    assert_eq!((row.key, row.value), (key(n).as_bytes(), value(n).as_bytes()));
                    assert_eq!(row.is_stamped, n % 3 == 0);
                    reader.advance().unwrap();
                }
                assert_eq!(expected.next(), None);
            }
            assert!(!run.samples().is_empty());
        }
        let empty = Run::Spilled(file.spill(&Sorted::new(Vec::new())).unwrap());
        assert!(empty.read(&file, None, 9).unwrap().row().is_none() && empty.samples().is_empty());
    }
}
