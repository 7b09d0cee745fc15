//! Looks through the engine's log before the engine reads it, for damage that the engine would take
//! for the torn end of a last write and silently cut off there, with all acknowledged commits behind.
//!
//! With [`Durability::Sync`] at most one record is ever unsynced, for the committer waits for
//! each. So a loss of power can tear the last record only: where a whole beginning of another record
//! follows a place that makes no sense, synced bytes were damaged, and that must be said.
//!
//! But for a log that the engine was writing over: it gives the file its new name, writes and syncs the first record, and only
//! then syncs the folder. A loss of power before that may take the new name and leave what was written, in front of records of
//! the old name. The engine's manifest, synced long before, says that it needs no log of that name: it is passed over.
//!
//! The layout is RocksDB's: blocks of 32 KiB; in them records of a masked CRC32C (u32), a length
//! (u16), a type (u8), in files that are written over the low half of the log's number (u32), all
//! little-endian, and the bytes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::folder::failed;
use super::options::Durability;
use store_contract::{Error, ErrorKind};

const BLOCK_BYTES: usize = 32 * 1024;
const HEADER_BYTES: usize = 7;
const NUMBERED_HEADER_BYTES: usize = 11;
const CRC_MASK: u32 = 0xa282_ead8;

/// Refuses logs with damage before their end, if each record was synced before the next was written; and cuts off, whatever
/// the durability, a torn end that only empty logs follow.
///
/// Such an end is left where a write failed for want of room: the engine then writes its memtables out and begins a new
/// log. If it is stopped amid that, some of its families do without the old log already, and it would take the torn
/// end of that log for a loss of theirs and refuse to open. The end is of a write that was never acknowledged.
///
/// `oldest_needed` tells the number of the oldest log that the engine will read; it is asked only if a log is damaged.
///
/// True if it passed over damage, behind which acknowledged commits are lost.
///
/// # Errors
///
/// `Corrupt` naming the file and the place; `Unavailable` or `NoSpace` with what the file system said.
pub(crate) fn check(
    rows: &Path,
    durability: Durability,
    oldest_needed: impl Fn() -> Result<u64, Error>,
) -> Result<bool, Error> {
    let (mut is_followed, mut is_damaged) = (false, false);
    for (place, (number, path)) in logs(rows)?.into_iter().rev().enumerate() {
        let file = File::open(&path).map_err(|error| failed(&path, "open", error))?;
        let look = Look::at(file, number).map_err(|error| failed(&path, "read", error))?;
        if look.damaged.is_some() && number < oldest_needed()? {
            tracing::info!(path = %path.display(), "a log that is not needed was being written over when power was lost");
            continue;
        }
        // Of several records that were not synced, a loss of power may tear any.
        if let Some(at) = look.damaged.filter(|_| durability == Durability::Sync) {
            let action = format!(
                "open {}: its log is damaged at byte {at}, and acknowledged commits follow; restore a backup \
                 (or, if it ran with interval durability and lost power, open it once with interval durability \
                 to cut the log off there)",
                path.display()
            );
            return Err(Error::new(ErrorKind::Corrupt, action));
        }
        if let Some(at) = look.torn.filter(|_| place > 0 && !is_followed) {
            cut(&path, at).map_err(|error| failed(&path, "cut", error))?;
        }
        is_followed |= look.has_records;
        is_damaged |= look.damaged.is_some();
    }
    Ok(is_damaged)
}

/// Cuts a log off, durably.
fn cut(path: &Path, at: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(at)?;
    file.sync_all()
}

/// Cuts the last record off a file that is laid out as logs are, durably; whether there was one.
pub(crate) fn cut_last_record(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let (mut last, mut before) = (None, 0);
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    loop {
        block.clear();
        file.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block)?;
        if block.is_empty() {
            break;
        }
        walk(&block, 0, 0, |at, part| match part {
            Part::Whole | Part::First => last = Some(before + at as u64),
            Part::Middle | Part::Last | Part::Note => {}
        });
        before += block.len() as u64;
    }
    last.map_or(Ok(false), |last| cut(path, last).map(|()| true))
}

/// The logs and their numbers, oldest first; none if there is no such folder.
fn logs(rows: &Path) -> Result<Vec<(u64, PathBuf)>, Error> {
    let entries = match fs::read_dir(rows) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(rows, "read", error)),
    };
    let mut logs = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| failed(rows, "read", error))?.path();
        logs.extend(number_of(&path).map(|number| (number, path)));
    }
    logs.sort();
    Ok(logs)
}

/// The number of a log, by its name.
fn number_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_suffix(".log")?.parse().ok()
}

/// Removes the logs that the engine keeps to write over them, all but the newest: for a store that closes, whose every row
/// was flushed. They hold nothing that is needed, and the next opening would remove them; a closed store is as large as
/// its rows. What cannot be removed stays: it does no harm.
pub(crate) fn remove_spent(rows: &Path) {
    let Ok(mut logs) = logs(rows) else { return };
    logs.pop();
    for (_, path) in logs {
        if let Err(error) = fs::remove_file(&path) {
            tracing::debug!(%error, path = %path.display(), "a spent log cannot be removed");
        }
    }
}

/// What a look through a log found.
#[derive(Debug, Default, Eq, PartialEq)]
struct Look {
    /// Whether a record begins in it.
    has_records: bool,
    /// The first place that makes no sense, if a record begins behind it.
    damaged: Option<u64>,
    /// Where the last record begins that has no end, or what follows the last record and is none; nothing begins behind it.
    torn: Option<u64>,
}

impl Look {
    fn at(mut file: impl Read, number: u64) -> io::Result<Self> {
        let number = u32::try_from(number & u64::from(u32::MAX)).expect("its low half");
        let mut look = Self::default();
        let mut senseless = None;
        // Where the record began that goes on.
        let mut open = None;
        let mut before: u64 = 0;
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        loop {
            block.clear();
            file.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block)?;
            if block.is_empty() {
                look.torn = senseless.map(|place| open.unwrap_or(place)).or(open);
                return Ok(look);
            }
            let (end, begins) = walk(&block, 0, number, |at, part| match part {
                _ if senseless.is_some() => {}
                Part::First => open = Some(before + at as u64),
                Part::Whole | Part::Last => open = None,
                Part::Middle | Part::Note => {}
            });
            look.has_records |= begins;
            look.damaged = senseless.filter(|_| begins);
            if senseless.is_none() && !is_filler(block.get(end..).expect("a walk ends within its block")) {
                let place = before + end as u64;
                senseless = Some(place);
                if (end + 1..block.len()).any(|at| walk(&block, at, number, |_, _| {}).1) {
                    look.damaged = Some(place);
                }
            }
            if look.damaged.is_some() {
                return Ok(look);
            }
            before += block.len() as u64;
        }
    }
}

/// Whether this is what a writer leaves at the end of a block that has no room for a header.
fn is_filler(rest: &[u8]) -> bool {
    rest.len() < HEADER_BYTES || (rest.len() < NUMBERED_HEADER_BYTES && rest.iter().all(|byte| *byte == 0))
}

/// Goes from fragment to fragment; where that ends, and whether any was the beginning of a record.
fn walk(block: &[u8], start: usize, number: u32, mut pass: impl FnMut(usize, Part)) -> (usize, bool) {
    let (mut at, mut begins) = (start, false);
    while let Some(fragment) = block.get(at..).and_then(|rest| Fragment::parse(rest, number)) {
        begins |= matches!(fragment.part, Part::Whole | Part::First);
        pass(at, fragment.part);
        at += fragment.bytes;
    }
    (at, begins)
}

/// Which part of a record a fragment is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Whole,
    First,
    Middle,
    Last,
    /// Something that the engine notes of the log itself.
    Note,
}

/// A whole fragment of a record.
struct Fragment {
    bytes: usize,
    part: Part,
}

impl Fragment {
    fn parse(rest: &[u8], number: u32) -> Option<Self> {
        let (header, _) = rest.split_first_chunk::<HEADER_BYTES>()?;
        let [c0, c1, c2, c3, l0, l1, kind] = *header;
        let (header_bytes, part) = match kind {
            1 => (HEADER_BYTES, Part::Whole),
            2 => (HEADER_BYTES, Part::First),
            3 => (HEADER_BYTES, Part::Middle),
            4 => (HEADER_BYTES, Part::Last),
            5 => (NUMBERED_HEADER_BYTES, Part::Whole),
            6 => (NUMBERED_HEADER_BYTES, Part::First),
            7 => (NUMBERED_HEADER_BYTES, Part::Middle),
            8 => (NUMBERED_HEADER_BYTES, Part::Last),
            9 | 10 | 130 => (HEADER_BYTES, Part::Note),
            11 | 131 => (NUMBERED_HEADER_BYTES, Part::Note),
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
        (masked == u32::from_le_bytes([c0, c1, c2, c3])).then_some(Self { bytes, part })
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
    let at = |table: &[u32; 256], byte: u8| *table.get(usize::from(byte)).expect("an entry for each byte");
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

    use super::*;

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
        assert_eq!(Look::at(log, 9).unwrap().damaged, expected);
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
    fn a_torn_end_is_cut_off_where_its_record_began_unless_records_follow() {
        for (full, first, middle) in [(1, 2, 3), (5, 6, 7)] {
            let one = fragment(full, 9, 1_000);
            let head = one.len() - 1_000;
            let (begin, on) = (fragment(first, 9, BLOCK_BYTES - head), fragment(middle, 9, 500));
            let empty = Look::default();
            let check = |log: &[u8], torn: Option<u64>| {
                let expected = Look { has_records: true, damaged: None, torn };
                assert_eq!(Look::at(log, 9).unwrap(), expected);
            };
            assert_eq!(Look::at(&b""[..], 9).unwrap(), empty);
            check(&one.repeat(3), None);
            check(&[&one.repeat(3)[..], &one[..600]].concat(), Some(3 * one.len() as u64));
            // A record that ends in the middle of it, between two blocks or within one.
            check(&begin, Some(0));
            check(&[&begin[..], &on].concat(), Some(0));
            check(&[&begin[..], &on[..200]].concat(), Some(0));

            let folder = tempfile::tempdir().unwrap();
            let log = |number: u64| folder.path().join(format!("{number:06}.log"));
            let torn = [&fragment(full, 9, 1_000)[..], &one[..600]].concat();
            for (follower, left) in [(Vec::new(), one.len()), (fragment(full, 10, 10), torn.len())] {
                fs::write(log(9), &torn).unwrap();
                fs::write(log(10), follower).unwrap();
                super::check(folder.path(), Durability::Sync, || Ok(0)).unwrap();
                assert_eq!(fs::metadata(log(9)).unwrap().len(), left as u64);
            }
            // The newest is left to the engine.
            fs::remove_file(log(10)).unwrap();
            super::check(folder.path(), Durability::Sync, || Ok(0)).unwrap();
            assert_eq!(fs::metadata(log(9)).unwrap().len(), torn.len() as u64);
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
