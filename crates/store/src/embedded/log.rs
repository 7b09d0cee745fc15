//! Looks through the engine's log before the engine reads it, for damage that the engine would take
//! for the torn end of a last write and silently cut off there, with all acknowledged commits behind.
//!
//! With [`super::Durability::Sync`] at most one record is ever unsynced, for the committer waits for
//! each. So a loss of power can tear the last record only: where a whole beginning of another record
//! follows a place that makes no sense, synced bytes were damaged, and that must be said.
//!
//! The layout is RocksDB's: blocks of 32 KiB; in them records of a masked CRC32C (u32), a length
//! (u16), a type (u8), in files that are written over the low half of the log's number (u32), all
//! little-endian, and the bytes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::folder::failed;
use crate::{Error, ErrorKind};

const BLOCK_BYTES: usize = 32 * 1024;
const HEADER_BYTES: usize = 7;
const NUMBERED_HEADER_BYTES: usize = 11;
const CRC_MASK: u32 = 0xa282_ead8;

/// Refuses logs with damage before their end.
///
/// # Errors
///
/// `Corrupt` naming the file and the place; `Unavailable` with what the file system said.
pub(crate) fn check(rows: &Path) -> Result<(), Error> {
    let entries = match fs::read_dir(rows) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(rows, "read", error)),
    };
    for entry in entries {
        let path = entry.map_err(|error| failed(rows, "read", error))?.path();
        let Some(number) = number_of(&path) else { continue };
        let file = File::open(&path).map_err(|error| failed(&path, "open", error))?;
        if let Some(place) = damage_before_end(file, number).map_err(|error| failed(&path, "read", error))? {
            let action = format!(
                "open {}: its log is damaged at byte {place}, and acknowledged commits follow; restore a backup \
                 (or, if it ran with interval durability and lost power, open it once with interval durability \
                 to cut the log off there)",
                path.display()
            );
            return Err(Error::new(ErrorKind::Corrupt, action));
        }
    }
    Ok(())
}

/// The number of a log, by its name.
fn number_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_suffix(".log")?.parse().ok()
}

/// Removes the logs that the engine keeps to write over them, all but the newest: for a store that closes, whose every row
/// was flushed. They hold nothing that is needed, and the next opening would remove them; a closed store is as large as
/// its rows. What cannot be removed stays: it does no harm.
pub(crate) fn remove_spent(rows: &Path) {
    let Ok(entries) = fs::read_dir(rows) else { return };
    let mut logs: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter_map(|path| number_of(&path).map(|number| (number, path)))
        .collect();
    logs.sort();
    logs.pop();
    for (_, path) in logs {
        if let Err(error) = fs::remove_file(&path) {
            tracing::debug!(%error, path = %path.display(), "a spent log cannot be removed");
        }
    }
}

/// The place of the first damage, if a record begins behind it.
fn damage_before_end(mut file: impl Read, number: u64) -> io::Result<Option<u64>> {
    let number = u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
    let mut damaged = None;
    let mut before: u64 = 0;
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    loop {
        block.clear();
        file.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block)?;
        if block.is_empty() {
            return Ok(None);
        }
        let (end, begins) = walk(&block, 0, number);
        if let Some(place) = damaged.filter(|_| begins) {
            return Ok(Some(place));
        }
        if damaged.is_none() && !is_filler(block.get(end..).unwrap_or_default()) {
            damaged = Some(before + end as u64);
            if (end + 1..block.len()).any(|at| walk(&block, at, number).1) {
                return Ok(damaged);
            }
        }
        before += block.len() as u64;
    }
}

/// Whether this is what a writer leaves at the end of a block that has no room for a header.
fn is_filler(rest: &[u8]) -> bool {
    rest.len() < HEADER_BYTES || (rest.len() < NUMBERED_HEADER_BYTES && rest.iter().all(|byte| *byte == 0))
}

/// Goes from record to record; where that ends, and whether any was the beginning of one.
fn walk(block: &[u8], start: usize, number: u32) -> (usize, bool) {
    let (mut at, mut begins) = (start, false);
    while let Some(fragment) = block.get(at..).and_then(|rest| Fragment::parse(rest, number)) {
        begins |= fragment.begins;
        at += fragment.bytes;
    }
    (at, begins)
}

/// A whole fragment of a record.
struct Fragment {
    bytes: usize,
    begins: bool,
}

impl Fragment {
    fn parse(rest: &[u8], number: u32) -> Option<Self> {
        let (header, _) = rest.split_first_chunk::<HEADER_BYTES>()?;
        let [c0, c1, c2, c3, l0, l1, kind] = *header;
        let (header_bytes, begins) = match kind {
            1 | 2 => (HEADER_BYTES, true),
            3 | 4 | 9 | 10 | 130 => (HEADER_BYTES, false),
            5 | 6 => (NUMBERED_HEADER_BYTES, true),
            7 | 8 | 11 | 131 => (NUMBERED_HEADER_BYTES, false),
            _ => return None,
        };
        if header_bytes == NUMBERED_HEADER_BYTES {
            let written = rest.get(HEADER_BYTES..NUMBERED_HEADER_BYTES)?;
            if written != number.to_le_bytes() {
                return None;
            }
        }
        let bytes = header_bytes + usize::from(u16::from_le_bytes([l0, l1]));
        // The sum covers the type, the number and the bytes.
        let sum = crc32c(rest.get(HEADER_BYTES - 1..bytes)?);
        let masked = sum.rotate_right(15).wrapping_add(CRC_MASK);
        (masked == u32::from_le_bytes([c0, c1, c2, c3])).then_some(Self { bytes, begins })
    }
}

const TABLES: [[u32; 256]; 8] = tables();

#[expect(clippy::indexing_slicing, reason = "checked by the compiler, which runs it")]
#[expect(clippy::cast_possible_truncation, reason = "the index is below 256")]
const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut index = 0;
    while index < 256 {
        let mut sum = index as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = (sum >> 1) ^ if sum & 1 == 1 { 0x82f6_3b78 } else { 0 };
            bit += 1;
        }
        tables[0][index] = sum;
        index += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut index = 0;
        while index < 256 {
            let sum = tables[table - 1][index];
            tables[table][index] = (sum >> 8) ^ tables[0][(sum & 0xff) as usize];
            index += 1;
        }
        table += 1;
    }
    tables
}

/// The Castagnoli sum, eight bytes at a step.
fn crc32c(bytes: &[u8]) -> u32 {
    let [t0, t1, t2, t3, t4, t5, t6, t7] = &TABLES;
    let at = |table: &[u32; 256], byte: u8| table.get(usize::from(byte)).copied().unwrap_or_default();
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut sum = u32::MAX;
    for [b0, b1, b2, b3, b4, b5, b6, b7] in chunks {
        let [s0, s1, s2, s3] = sum.to_le_bytes();
        sum = at(t7, b0 ^ s0) ^ at(t6, b1 ^ s1) ^ at(t5, b2 ^ s2) ^ at(t4, b3 ^ s3);
        sum ^= at(t3, *b4) ^ at(t2, *b5) ^ at(t1, *b6) ^ at(t0, *b7);
    }
    for byte in rest {
        let [low, ..] = sum.to_le_bytes();
        sum = (sum >> 8) ^ at(t0, low ^ byte);
    }
    !sum
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_possible_truncation, reason = "test data wraps around on purpose")]

    use super::{BLOCK_BYTES, CRC_MASK, crc32c, damage_before_end};

    #[test]
    fn sums_are_castagnoli() {
        // The check value of the algorithm's catalogue.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(b""), 0);
    }

    fn fragment(kind: u8, number: u32, length: usize) -> Vec<u8> {
        let mut summed = vec![kind];
        if kind >= 5 {
            summed.extend(number.to_le_bytes());
        }
        summed.extend((0..length).map(|at| at as u8));
        let sum = crc32c(&summed).rotate_right(15).wrapping_add(CRC_MASK);
        [&sum.to_le_bytes()[..], &(length as u16).to_le_bytes(), &summed].concat()
    }

    fn check(log: &[u8], expected: Option<u64>) {
        assert_eq!(damage_before_end(log, 9).unwrap(), expected);
    }

    #[test]
    fn only_damage_before_a_record_is_damage() {
        for (full, first, last) in [(1, 2, 4), (5, 6, 8)] {
            let one = fragment(full, 9, 1_000);
            let log = one.repeat(20);
            check(&log, None);
            let head = one.len() - 1_000;
            // Torn at any place of the last record, with or without garbage or zeros behind.
            for cut in [1, head - 1, head, 500] {
                let torn = &log[..log.len() - one.len() + cut];
                check(torn, None);
                check(&[torn, &[0xa5; 300]].concat(), None);
                check(&[torn, &[0; 100_000]].concat(), None);
            }
            // A flipped byte in a record before the last, be it the header or the bytes.
            for at in [0, 5, 6, head + 3] {
                let mut log = log.clone();
                log[3 * one.len() + at] ^= 1;
                check(&log, Some(3 * one.len() as u64));
            }
            // A record of several blocks: torn inside it is torn, damaged before another is damage.
            let begin = fragment(first, 9, BLOCK_BYTES - head);
            let end = fragment(last, 9, 100);
            let mut long = [begin.clone(), end.clone()].concat();
            long[100] ^= 1;
            check(&long, None);
            check(&[&long[..], &one].concat(), Some(0));
        }
    }

    #[test]
    fn the_filler_at_the_end_of_a_block_is_no_damage() {
        for (kind, head) in [(1, 7), (5, 11)] {
            for rest in 0..head {
                let one = fragment(kind, 9, BLOCK_BYTES - head - rest);
                let log = [&one[..], &vec![0; rest], &fragment(kind, 9, 100)].concat();
                check(&log, None);
            }
        }
    }

    #[test]
    fn what_an_older_log_left_in_the_file_is_no_record() {
        let log = [fragment(5, 9, 100), fragment(5, 7, 100), fragment(5, 7, 40_000 % 30_000)].concat();
        check(&log, None);
    }
}
