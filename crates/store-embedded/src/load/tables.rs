//! The tables of a load: sorted rows as files that the engine takes in.

use std::path::{Path, PathBuf};

use rocksdb::{Options, SstFileWriter};
use store_contract::place::place;
use store_contract::{Error, LoadRow, Partition, WriteId};

use crate::failure::engine_failed;
use crate::format::{plain_head, stamped_head};

/// A table ends at the row that reaches this many bytes, as they lie on disk: about what the engine's own have.
const TABLE_BYTES: u64 = 64 * 1024 * 1024;
/// Rows between two looks at the size of a table.
const ROWS_A_LOOK: u32 = 1_024;

/// What the rows of a load have in common.
#[derive(Debug)]
pub(super) struct Common {
    /// What all places begin with.
    head: Vec<u8>,
    /// What the stored values of stamped rows begin with.
    stamp: Vec<u8>,
}

impl Common {
    pub(super) fn new(partition: &Partition, number: u64, write_id: WriteId) -> Self {
        Self { head: place(partition, &[]).to_vec(), stamp: stamped_head(number, write_id) }
    }
}

/// Tables that were written.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) paths: Vec<PathBuf>,
    /// The places of the first and the last row.
    pub(super) bounds: Option<(Vec<u8>, Vec<u8>)>,
}

impl Tables {
    /// Takes in the tables of the next part.
    pub(super) fn extend(&mut self, next: Self) {
        self.paths.extend(next.paths);
        self.bounds = match (self.bounds.take(), next.bounds) {
            (Some((first, _)), Some((_, last))) => Some((first, last)),
            (before, after) => before.or(after),
        };
    }
}

/// Writes tables of sorted rows into a folder, one behind another.
pub(super) struct TableWriter<'a> {
    common: &'a Common,
    options: &'a Options,
    folder: &'a Path,
    part: usize,
    writer: Option<SstFileWriter<'a>>,
    rows: u32,
    tables: Tables,
    place: Vec<u8>,
    value: Vec<u8>,
}

impl<'a> TableWriter<'a> {
    pub(super) fn new(common: &'a Common, options: &'a Options, folder: &'a Path, part: usize) -> Self {
        let tables = Tables::default();
        let place = common.head.clone();
        Self { common, options, folder, part, writer: None, rows: 0, tables, place, value: Vec::new() }
    }

    /// Adds the next row.
    ///
    /// # Errors
    ///
    /// What the engine says.
    #[inline]
    pub(super) fn put(&mut self, row: LoadRow<'_>) -> Result<(), Error> {
        self.place.truncate(self.common.head.len());
        self.place.extend_from_slice(row.key);
        self.value.clear();
        if row.is_stamped {
            self.value.extend_from_slice(&self.common.stamp);
            self.value.extend_from_slice(row.value);
        } else if !row.value.is_empty() {
            self.value.extend_from_slice(plain_head());
            self.value.extend_from_slice(row.value);
        }
        if self.writer.is_none() {
            self.begin()?;
        }
        let writer = self.writer.as_mut().expect("begun above");
        let put = writer.put(&self.place, &self.value);
        put.map_err(|error| engine_failed(self.folder, "write a table of a load into", error))?;
        self.rows = self.rows.wrapping_add(1);
        if self.rows.is_multiple_of(ROWS_A_LOOK) && writer.file_size() >= TABLE_BYTES {
            self.end()?;
        }
        Ok(())
    }

    /// Ends the last table, durably; answers with all.
    ///
    /// # Errors
    ///
    /// What the engine says.
    pub(super) fn finish(mut self) -> Result<Tables, Error> {
        self.end()?;
        if let Some((_, last)) = &mut self.tables.bounds {
            last.clone_from(&self.place);
        }
        Ok(self.tables)
    }

    #[cold]
    fn begin(&mut self) -> Result<(), Error> {
        let path = self.folder.join(format!("{}-{}.sst", self.part, self.tables.paths.len()));
        self.writer = Some(open(self.options, &path)?);
        self.tables.paths.push(path);
        self.tables.bounds.get_or_insert_with(|| (self.place.clone(), Vec::new()));
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        writer.finish().map_err(|error| engine_failed(self.folder, "write a table of a load into", error))
    }
}

fn open<'a>(options: &'a Options, path: &Path) -> Result<SstFileWriter<'a>, Error> {
    let writer = SstFileWriter::create(options);
    writer.open(path).map_err(|error| engine_failed(path, "write the table of a load", error))?;
    Ok(writer)
}

/// Writes a table of one row, durably.
///
/// # Errors
///
/// What the engine says.
pub(super) fn write_one(options: &Options, path: &Path, key: &[u8], value: &[u8]) -> Result<(), Error> {
    let mut writer = open(options, path)?;
    let written = writer.put(key, value).and_then(|()| writer.finish());
    written.map_err(|error| engine_failed(path, "write the table of a load", error))
}
