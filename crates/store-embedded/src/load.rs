//! Loads: rows that go to the engine as sorted tables, past log and memtable. Rows are gathered in memory, sorted and spilled as runs;
//! at the end the runs are merged to tables, as many at a time as there are processors, which the committer then has the engine take
//! in at once (`committer/ingest.rs`).

mod sorted;
mod runs;
mod merge;
mod tables;

use std::fs::OpenOptions;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use parking_lot::Mutex;
use rocksdb::{DEFAULT_COLUMN_FAMILY_NAME, properties};
use store_contract::limits::check_load;
use store_contract::load::is_over;
use store_contract::place::PlaceBytes;
use store_contract::{ChangeRecord, Commit, Epoch, Error, ErrorKind, LoadRows, Partition, WriteId, WriteIds};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinHandle;

use self::merge::Runs;
use self::runs::{Run, SpillFile, Spilled};
use self::sorted::{Sorted, memory_bytes};
use self::tables::{Common, TableWriter, Tables, write_one};
use super::disk::Disk;
use super::embedded::{Embedded, lost};
use super::failure::{engine_failed, family};
use super::folder::failed;
use super::load_folder::LoadFolder;
use super::loads::OpenLoad;
use super::marks::{mark_key, mark_of};
use super::request::{Ingest, Request};
use super::shared::Shared;
use super::tuning::table_of_rows;

/// A run is this part of a load's memory: one is gathered while others are sorted and written.
const RUN_PART: usize = 4;
/// The most of a load's memory that one add waits for.
const ADD_PART: usize = 2;
/// Memory is counted in units of this many bytes.
const UNIT_BYTES: usize = 1024;
/// The most parts in which runs are merged at a time.
const PARTS_MAX: usize = 8;
/// A memtable with more bytes is written out before a load comes in, so that the committer need not wait for that.
const MEMTABLE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// An open load.
#[derive(Debug)]
pub struct EmbeddedLoad {
    engine: Arc<Embedded>,
    partition: Partition,
    write_id: WriteId,
    number: u64,
    folder: Arc<LoadFolder>,
    spill: Arc<SpillFile>,
    /// The memory that is free.
    room: Arc<Semaphore>,
    gathering: Mutex<Option<Gathering>>,
}

/// What was added so far.
#[derive(Debug)]
struct Gathering {
    open: OpenLoad,
    chunks: Vec<LoadRows>,
    bytes: usize,
    room: Option<OwnedSemaphorePermit>,
    /// The oldest first.
    runs: Vec<JoinHandle<Result<Spilled, Error>>>,
}

impl Embedded {
    /// Begins a load.
    ///
    /// # Errors
    ///
    /// `Fenced`, `TenantRemoved`, `TooLarge`, `Misuse`, `NoSpace`, `Unavailable`.
    pub async fn load(self: &Arc<Self>, partition: &Partition, epoch: Epoch) -> Result<EmbeddedLoad, Error> {
        let shared = Arc::clone(self.shared());
        check_load(partition, shared.loads.len())?;
        shared.spaces.learn(partition.space)?;
        shared.check_writable()?;
        let (answer, outcome) = oneshot::channel();
        self.submit(0, Request::Load(partition.clone(), epoch, answer)).await?;
        let open = outcome.await.unwrap_or_else(|_| Err(lost()))?;
        let number = open.number();
        let create = move || {
            if !shared.check_folder() {
                return Err(shared.not_there());
            }
            let folder = LoadFolder::create(shared.path(), number)?;
            let path = folder.path().join("runs");
            let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
            let file = file.map_err(|error| failed(&path, "create", error))?;
            Ok((Arc::new(folder), Arc::new(SpillFile::new(file))))
        };
        let (folder, spill) = self.shared().block(create).await?;
        let room = Arc::new(Semaphore::new(self.load_units()));
        let (chunks, runs) = (Vec::new(), Vec::new());
        let gathering = Mutex::new(Some(Gathering { open, chunks, bytes: 0, room: None, runs }));
        let (engine, partition) = (Arc::clone(self), partition.clone());
        let write_id = WriteIds::new().next();
        Ok(EmbeddedLoad { engine, partition, write_id, number, folder, spill, room, gathering })
    }

    fn load_units(&self) -> usize {
        (self.shared().options.load_bytes / UNIT_BYTES).clamp(ADD_PART, Semaphore::MAX_PERMITS)
    }
}

impl EmbeddedLoad {
    /// Adds rows.
    ///
    /// # Errors
    ///
    /// `TooLarge`, `Misuse`, `TenantRemoved`, `NoSpace`, `Unavailable`.
    pub async fn add(&self, rows: LoadRows) -> Result<(), Error> {
        rows.check(&self.partition)?;
        self.partition.tenant.check()?;
        let shared = self.engine.shared();
        shared.check_writable()?;
        if rows.is_empty() {
            return Ok(());
        }
        let bytes = memory_bytes(&rows);
        let units = bytes.div_ceil(UNIT_BYTES).min(self.engine.load_units() / ADD_PART);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        // It is never closed.
        let room = Arc::clone(&self.room).acquire_many_owned(units).await.map_err(|_| is_over())?;
        let mut gathering = self.gathering.lock();
        let gathering = gathering.as_mut().ok_or_else(is_over)?;
        gathering.chunks.push(rows);
        gathering.bytes += bytes;
        match &mut gathering.room {
            Some(taken) => taken.merge(room),
            None => gathering.room = Some(room),
        }
        if gathering.bytes >= shared.options.load_bytes / RUN_PART {
            self.end_run(gathering);
        }
        Ok(())
    }

    /// Has what was gathered sorted and spilled.
    fn end_run(&self, gathering: &mut Gathering) {
        let chunks = std::mem::take(&mut gathering.chunks);
        let room = gathering.room.take();
        gathering.bytes = 0;
        let shared = Arc::clone(self.engine.shared());
        let (spill, folder) = (Arc::clone(&self.spill), Arc::clone(&self.folder));
        gathering.runs.push(tokio::task::spawn_blocking(move || {
            let sorted = Sorted::new(chunks);
            check_room(&shared, 0)?;
            let run = spill.spill(&sorted).map_err(|error| failed(folder.path(), "write", error))?;
            drop((sorted, room));
            Ok(run)
        }));
    }

    /// Makes all rows seen and durable.
    ///
    /// # Errors
    ///
    /// `Fenced`, `TenantRemoved`, `NoSpace`, `Unavailable`, `Unknown`; `Misuse` if it was over.
    pub async fn finish(&self, change: Option<ChangeRecord>) -> Result<(), Error> {
        change.as_ref().map_or(Ok(()), |record| self.engine.shared().models.learn(record.model()))?;
        let gathered = self.gathering.lock().take().ok_or_else(is_over)?;
        let Gathering { open, chunks, room, runs: spilling, .. } = gathered;
        let last = tokio::task::spawn_blocking(move || Ok(Sorted::new(chunks)));
        let mut runs = Vec::with_capacity(spilling.len() + 1);
        for run in spilling {
            runs.push(Run::Spilled(joined(run).await?));
        }
        runs.push(Run::Memory(joined(last).await?));
        let tables = self.write_tables(runs).await?;
        drop(room);
        let said = Commit { change, write_id: self.write_id, ..Commit::of_bump(&self.partition, Vec::new()) };
        let ingest = self.prepare(open, said, tables).await?;
        let (answer, outcome) = oneshot::channel();
        self.engine.submit(0, Request::Ingest(Box::new(ingest), answer)).await?;
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Merges the runs to tables.
    async fn write_tables(&self, runs: Vec<Run>) -> Result<Tables, Error> {
        let shared = self.engine.shared();
        let (checked, spilled) = (Arc::clone(shared), self.spill.bytes());
        let parts = available_parallelism().map_or(1, NonZero::get).min(PARTS_MAX);
        let read_bytes = shared.options.load_bytes / RUN_PART / parts;
        let runs = Runs { file: Arc::clone(&self.spill), runs, read_bytes };
        let divide = move || {
            check_room(&checked, spilled)?;
            let dividers = runs.dividers(parts);
            Ok(Arc::new((runs, dividers)))
        };
        let divided = shared.block(divide).await?;
        let writing: Vec<_> = (0..=divided.1.len())
            .map(|part| {
                let (divided, folder) = (Arc::clone(&divided), Arc::clone(&self.folder));
                let common = Common::new(&self.partition, self.number, self.write_id);
                let options = shared.options.clone();
                tokio::task::spawn_blocking(move || {
                    let (runs, dividers) = &*divided;
                    let divider = |at: Option<usize>| at.and_then(|at| dividers.get(at)).map(|key| &**key);
                    let range = (divider(part.checked_sub(1)), divider(Some(part)));
                    let options = table_of_rows(&options)?;
                    let mut writer = TableWriter::new(&common, &options, folder.path(), part);
                    let failed = |error| failed(folder.path(), "read", error);
                    runs.merge(range, failed, |row| writer.put(row))?;
                    writer.finish()
                })
            })
            .collect();
        let mut tables = Tables::default();
        for part in writing {
            tables.extend(joined(part).await?);
        }
        Ok(tables)
    }

    /// What the committer is given: the tables with the mark of the load. What would keep it waiting is done here.
    async fn prepare(&self, load: OpenLoad, said: Commit, tables: Tables) -> Result<Ingest, Error> {
        let (shared, folder) = (Arc::clone(self.engine.shared()), Arc::clone(&self.folder));
        let prepare = move || {
            let Tables { paths: mut tables, bounds } = tables;
            let range = bounds.map(|(first, mut last)| {
                last.push(0);
                (PlaceBytes::from_vec(first), PlaceBytes::from_vec(last))
            });
            if range.is_some() {
                let (options, path) = (table_of_rows(&shared.options)?, folder.path().join("mark.sst"));
                write_one(&options, &path, &mark_key(load.number()), &mark_of(&said))?;
                tables.push(path);
                write_memtable_out(&shared)?;
            }
            Ok(Ingest { load, said, tables, range, folder })
        };
        self.engine.shared().block(prepare).await
    }
}

async fn joined<T>(work: JoinHandle<Result<T, Error>>) -> Result<T, Error> {
    let done = work.await;
    done.unwrap_or_else(|error| Err(Error::new(ErrorKind::Unavailable, "load").with_source(error)))
}

/// Refuses to write so many bytes more to a disk that would be nearly full then.
fn check_room(shared: &Shared, bytes: u64) -> Result<(), Error> {
    shared.check_writable()?;
    let reserved = |disk: &Disk| disk.reserved_bytes(&shared.options).saturating_add(bytes);
    match shared.disk().filter(|disk| disk.free_bytes() < reserved(disk)) {
        Some(_) => {
            let action = format!("load into {}: there is no room for its rows", shared.path().display());
            Err(Error::new(ErrorKind::NoSpace, action))
        }
        None => Ok(()),
    }
}

/// Writes the memtable of rows out if that takes long.
fn write_memtable_out(shared: &Shared) -> Result<(), Error> {
    let engine = shared.engine()?;
    let rows = family(&engine, DEFAULT_COLUMN_FAMILY_NAME);
    let failed = |error| engine_failed(shared.path(), "write rows out to", error);
    let bytes = engine.property_int_value_cf(rows, properties::CUR_SIZE_ACTIVE_MEM_TABLE).map_err(failed)?;
    if bytes.is_some_and(|bytes| bytes > MEMTABLE_BYTES_MAX) {
        engine.flush_cf(rows).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
