//! How much the feed holds, and what of it may go: counted in marks, each of which says how many bytes lie before it. A
//! mark is stored with the batch that it ends, so that what is counted is what is there, however the store was left; only what lies behind
//! the newest mark is counted anew when it is opened.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use rocksdb::{DB, Direction, IteratorMode};

use super::failure::{engine_failed, family};
use super::format::{FEED, MARK, META, Mark, READER, damaged, parse_mark, parse_sequence, sequence_of_key};
use store_contract::{Error, FeedOptions, Timestamp};

/// There is a mark for each such part of the most bytes that the feed stores.
const MARK_PART: u64 = 4_096;
/// Changes go when there are so many of them: this part of the most that is stored, or of the least.
const TRIM_PART: u64 = 16;

/// What the feed holds.
#[derive(Debug, Default)]
pub(crate) struct FeedLog {
    /// Oldest first.
    marks: VecDeque<Mark>,
    /// Bytes behind the newest mark.
    behind: u64,
    bytes: u64,
    /// The last commit that each registered reader has seen.
    readers: BTreeMap<Box<str>, u64>,
}

impl FeedLog {
    /// What the feed of an engine holds that was opened. Cost: the marks, and the changes behind the newest.
    ///
    /// # Errors
    ///
    /// What the engine says; `Corrupt`.
    pub(crate) fn recover(db: &DB) -> Result<Self, Error> {
        let failed = |error| engine_failed(db.path(), "open", error);
        let mut log = Self::default();
        let rows = |prefix: &'static [u8]| {
            let rows = db.iterator_cf(family(db, META), IteratorMode::From(prefix, Direction::Forward));
            rows.take_while(move |row| row.as_ref().map_or(true, |(key, _)| key.starts_with(prefix)))
        };
        for row in rows(MARK) {
            let (key, value) = row.map_err(failed)?;
            let mark = parse_mark(&key, &value).ok_or_else(|| damaged("a mark of the feed"))?;
            log.bytes += mark.bytes;
            log.marks.push_back(mark);
        }
        for row in rows(READER) {
            let (key, value) = row.map_err(failed)?;
            let name = key.get(READER.len()..).and_then(|name| std::str::from_utf8(name).ok());
            let reader = name.zip(parse_sequence(&value)).ok_or_else(|| damaged("a reader of the feed"))?;
            log.readers.insert(reader.0.into(), reader.1);
        }
        let newest = log.marks.back().map_or(0, |mark| mark.sequence);
        let start = newest.saturating_add(1).to_be_bytes();
        for row in db.iterator_cf(family(db, FEED), IteratorMode::From(&start, Direction::Forward)) {
            let (key, value) = row.map_err(failed)?;
            sequence_of_key(&key).ok_or_else(|| damaged("the feed"))?;
            log.behind += (key.len() + value.len()) as u64;
        }
        log.bytes += log.behind;
        Ok(log)
    }

    /// Counts the changes of a batch that ends with this commit; the mark to be stored with it, if one is due. Cost: none to speak of.
    pub(crate) fn add(
        &mut self,
        bytes: u64,
        sequence: u64,
        now: Timestamp,
        options: FeedOptions,
    ) -> Option<Mark> {
        self.behind += bytes;
        self.bytes += bytes;
        if self.behind == 0 || self.behind < options.bytes_max / MARK_PART {
            return None;
        }
        let mark = Mark { sequence, bytes: std::mem::take(&mut self.behind), at: now };
        self.marks.push_back(mark);
        Some(mark)
    }

    /// Takes away the oldest marks whose changes are no longer needed. Cost: none to speak of, if there are none.
    pub(crate) fn trim(&mut self, now: Timestamp, options: FeedOptions) -> Vec<Mark> {
        let FeedOptions { bytes_min, age_min, bytes_max } = options;
        let (mut count, mut bytes) = (0, 0);
        if self.bytes > bytes_max {
            let rest = bytes_max - bytes_max / TRIM_PART;
            while let Some(mark) = self.marks.get(count).filter(|_| self.bytes - bytes > rest) {
                bytes += mark.bytes;
                count += 1;
            }
        }
        let (forced, slowest) = (count, self.readers.values().copied().min().unwrap_or(u64::MAX));
        while let Some(mark) = self.marks.get(count) {
            let is_kept = mark.sequence > slowest
                || age(mark, now) < age_min
                || self.bytes - bytes < bytes_min.saturating_add(mark.bytes);
            if is_kept {
                break;
            }
            bytes += mark.bytes;
            count += 1;
        }
        if forced == 0 && (count == 0 || bytes < bytes_min / TRIM_PART) {
            return Vec::new();
        }
        self.bytes -= bytes;
        self.marks.drain(..count).collect()
    }

    /// Notes how far a reader has come; `None`: there is no such reader any more. Whether that is news.
    pub(crate) fn note_reader(&mut self, name: &str, sequence: Option<u64>) -> bool {
        match sequence {
            Some(sequence) => self.readers.insert(name.into(), sequence) != Some(sequence),
            None => self.readers.remove(name).is_some(),
        }
    }

    /// Bytes that the feed holds.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many readers there are beside this one.
    pub(crate) fn readers_beside(&self, name: &str) -> usize {
        self.readers.len() - usize::from(self.readers.contains_key(name))
    }
}

fn age(mark: &Mark, now: Timestamp) -> Duration {
    Duration::from_micros(u64::try_from(now.0.saturating_sub(mark.at.0)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: FeedOptions =
        FeedOptions { bytes_min: 1_000, age_min: Duration::from_secs(100), bytes_max: 10_000 };

    fn seconds(seconds: i64) -> Timestamp {
        Timestamp(seconds * 1_000_000)
    }

    /// Ten commits of 100 bytes in each of so many seconds.
    fn filled(span: i64) -> FeedLog {
        let mut log = FeedLog::default();
        for second in 0..span {
            let sequence = u64::try_from(second).unwrap() * 10 + 10;
            assert!(log.add(1_000, sequence, seconds(second), OPTIONS).is_some());
        }
        log
    }

    fn check(mut log: FeedLog, now: i64, expected_last: Option<u64>) {
        let before = log.bytes;
        let gone = log.trim(seconds(now), OPTIONS);
        assert_eq!(gone.last().map(|mark| mark.sequence), expected_last);
        assert_eq!(log.bytes, before - gone.iter().map(|mark| mark.bytes).sum::<u64>());
        assert!(log.bytes <= OPTIONS.bytes_max);
    }

    #[test]
    fn what_is_new_or_young_or_unread_is_kept_up_to_the_cap() {
        check(FeedLog::default(), 0, None);
        check(filled(8), 8, None);
        // Three are old enough, then all; the newest stay.
        check(filled(8), 102, Some(30));
        check(filled(8), 1_000, Some(70));
        let mut read = filled(8);
        assert!(read.note_reader("one", Some(100)) && read.note_reader("other", Some(45)));
        check(read, 1_000, Some(40));
        let mut read = filled(8);
        assert!(read.note_reader("one", Some(0)) && !read.note_reader("one", Some(0)));
        assert!(read.note_reader("one", None));
        check(read, 1_000, Some(70));
        // Beyond the cap the oldest go, young and unread.
        let mut read = filled(11);
        read.note_reader("one", Some(0));
        check(read, 11, Some(20));
        // A clock that was set back ages nothing.
        check(filled(8), -1_000_000, None);
    }
}
