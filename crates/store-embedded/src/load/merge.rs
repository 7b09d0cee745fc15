//! Runs of a load merged to one: rows in the order of their keys, of each key that of the newest run.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;
use std::sync::Arc;

use store_contract::{Error, LoadRow};

use super::runs::{Reader, Run, SpillFile};
use crate::rows::prefix_of;

/// All runs of a load, the oldest first.
#[derive(Debug)]
pub(super) struct Runs {
    pub(super) file: Arc<SpillFile>,
    pub(super) runs: Vec<Run>,
    /// Bytes of memory for reading them again, for each part.
    pub(super) read_bytes: usize,
}

/// Of a spilled run not more is read at once; it was written in pieces as large.
const READ_BYTES_MAX: usize = 1024 * 1024;

/// The run with the least key that is left.
struct Head<'a> {
    prefix: u128,
    run: usize,
    reader: Reader<'a>,
}

impl Head<'_> {
    #[inline]
    fn key(&self) -> &[u8] {
        self.reader.row().expect("a run without a row is left out").key
    }
}

/// The greatest is what comes first: the least key, of equal ones that of the newest run.
impl Ord for Head<'_> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = other.prefix.cmp(&self.prefix).then_with(|| other.key().cmp(self.key()));
        by_key.then_with(|| self.run.cmp(&other.run))
    }
}

impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head<'_> {}

impl Runs {
    /// Keys that divide all rows into so many parts of as many bytes, about; fewer, if there are few rows.
    pub(super) fn dividers(&self, parts: usize) -> Vec<Box<[u8]>> {
        let mut samples: Vec<&[u8]> = self.runs.iter().flat_map(Run::samples).collect();
        samples.sort_unstable();
        let divider = |part: usize| samples.get(part * samples.len() / parts.max(1)).copied();
        let mut dividers: Vec<Box<[u8]>> = (1..parts).filter_map(divider).map(Into::into).collect();
        dividers.dedup();
        dividers
    }

    /// Gives each row from a key on, up to another, to `take`. Blocks.
    ///
    /// # Errors
    ///
    /// What `take` says; what the file system says, by `failed`.
    pub(super) fn merge(
        &self,
        (from, upto): (Option<&[u8]>, Option<&[u8]>),
        failed: impl Fn(io::Error) -> Error,
        mut take: impl FnMut(LoadRow<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let buffer_bytes = (self.read_bytes / self.runs.len().max(1)).min(READ_BYTES_MAX);
        let mut heads = BinaryHeap::with_capacity(self.runs.len());
        for (run, of) in self.runs.iter().enumerate() {
            let reader = of.read(&self.file, from, buffer_bytes).map_err(&failed)?;
            if let Some(prefix) = prefix_within(&reader, upto) {
                heads.push(Box::new(Head { prefix, run, reader }));
            }
        }
        let mut last: Vec<u8> = Vec::new();
        let mut is_first = true;
        while let Some(mut head) = heads.peek_mut() {
            let row = head.reader.row().expect("a run without a row is left out");
            if is_first || last != row.key {
                is_first = false;
                last.clear();
                last.extend_from_slice(row.key);
                take(row)?;
            }
            head.reader.advance().map_err(&failed)?;
            match prefix_within(&head.reader, upto) {
                Some(prefix) => head.prefix = prefix,
                None => drop(PeekMut::pop(head)),
            }
        }
        Ok(())
    }
}

/// The first bytes of the next key, if it is before the end.
#[inline]
fn prefix_within(reader: &Reader<'_>, upto: Option<&[u8]>) -> Option<u128> {
    let row = reader.row()?;
    upto.is_none_or(|upto| row.key < upto).then(|| prefix_of(row.key))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use store_contract::{ErrorKind, LoadRows};

    use super::super::sorted::Sorted;
    use super::*;

    fn failed(error: io::Error) -> Error {
        Error::new(ErrorKind::Unavailable, "read").with_source(error)
    }

    proptest! {
        #[test]
        fn all_parts_together_are_all_rows(
            runs in prop::collection::vec((prop::collection::vec("[ab]{0,4}", 0..60), any::<bool>()), 0..7),
            parts in 1..5_usize,
        ) {
            let file = SpillFile::new(tempfile::tempfile().unwrap());
            let (mut expected, mut all) = (BTreeMap::new(), Vec::new());
            for (run, (keys, is_spilled)) in runs.iter().enumerate() {
                let mut rows = LoadRows::default();
                for key in keys {
                    rows.put(key.as_bytes(), run.to_string().as_bytes());
                    expected.insert(key.clone().into_bytes(), run.to_string().into_bytes());
                }
                let sorted = Sorted::new(vec![rows]);
                all.push(match is_spilled {
                    true => Run::Spilled(file.spill(&sorted).unwrap()),
                    false => Run::Memory(sorted),
                });
            }
            let runs = Runs { file: Arc::new(file), runs: all, read_bytes: 100 };
            let dividers = runs.dividers(parts);
            prop_assert!(dividers.len() < parts);
            let mut found = Vec::new();
            let mut from = None;
            for upto in dividers.iter().map(|it| Some(&**it)).chain([None]) {
                let take = |row: LoadRow<'_>| {
                    found.push((row.key.to_vec(), row.value.to_vec()));
                    Ok(())
                };
                runs.merge((from, upto), failed, take).unwrap();
                from = upto;
            }
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
