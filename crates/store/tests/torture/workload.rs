//! What the tormented process does: writers that read, change and commit things with index rows,
//! and say on standard output what was acknowledged.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::{
    Append, ChangeRecord, Clock, Commit, Condition, Durability, EmbeddedOptions, Error, ErrorKind,
    FeedOptions, LoadRows, Model, Partition, Range, Row, Space, SpaceKind, Store, Tenant, Write, WriteId,
};

pub(crate) const MODEL: Model = Model { id: 1, name: "torture" };
pub(crate) const THINGS: Space = Space { id: 1, kind: SpaceKind::Commit, name: "things" };
pub(crate) const BLOCKS: Space = Space { id: 2, kind: SpaceKind::Append, name: "blocks" };
pub(crate) const IDS: u32 = 300;
pub(crate) const BUCKETS: u32 = 4;
const WRITERS: u64 = 8;
const PAYLOAD_BYTES_MAX: usize = 3_000;

/// Small, so that flushes, compactions and trims of logs happen within a round.
pub(crate) fn options(durability: Durability, log_files_kept: usize) -> EmbeddedOptions {
    EmbeddedOptions {
        durability,
        clock: Clock::System,
        feed: FeedOptions { bytes_min: 1 << 32, age_min: Duration::ZERO, bytes_max: 1 << 32 },
        cache_bytes: 1 << 20,
        block_cache_bytes: 4 << 20,
        memtable_bytes: 512 << 10,
        load_bytes: 64 << 10,
        log_bytes_max: 2 << 20,
        log_files_kept,
        // Merges come between commits, too.
        rest: Duration::from_millis(2),
        look: Duration::from_millis(10),
        disk_free_min: Some(0),
        ballast_bytes_max: 64 << 10,
        background_jobs: 2,
    }
}

pub(crate) fn partition(id: u32) -> Partition {
    Partition { tenant: Tenant::default(), space: THINGS, bucket: id % BUCKETS }
}

pub(crate) fn blocks() -> Partition {
    Partition { space: BLOCKS, ..partition(0) }
}

/// What the feed calls a load.
pub(crate) const LOADED: u32 = u32::MAX;
/// Rows of a load, each time under the same keys.
pub(crate) const LOADED_ROWS: u32 = 2_000;

pub(crate) fn loaded() -> Partition {
    Partition { bucket: LOADED, ..partition(0) }
}

/// The rows of a load, in no order, so many at a time.
fn loaded_rows(id: u64, at_once: u32) -> Vec<LoadRows> {
    let numbers: Vec<u32> = (0..LOADED_ROWS).map(|n| n * 7 % LOADED_ROWS).collect();
    let value = [&id.to_be_bytes()[..], &[7; 40]].concat();
    let put = |numbers: &[u32]| {
        let mut rows = LoadRows::default();
        for n in numbers {
            match n % 2 {
                0 => rows.put(&key(b'l', *n), &value),
                _ => rows.put_stamped(&key(b'l', *n), &value),
            }
        }
        rows
    };
    numbers.chunks(at_once as usize).map(put).collect()
}

pub(crate) fn key(kind: u8, id: u32) -> Bytes {
    Bytes::from([&[kind], &id.to_be_bytes()[..]].concat())
}

/// The rows that must stand beside a thing whose value has this digest.
pub(crate) fn index_rows(id: u32, digest: u64) -> Vec<(Bytes, Bytes)> {
    let mut rows = Vec::new();
    for n in 0..3_u8 {
        rows.push((
            Bytes::from([&[b'I', n], &digest.to_be_bytes()[..], &id.to_be_bytes()].concat()),
            Bytes::new(),
        ));
    }
    rows.push((key(b'c', id), Bytes::copy_from_slice(&digest.to_be_bytes())));
    for n in 0..2_u8 {
        rows.push((Bytes::from([&key(b'd', id)[..], &[n]].concat()), Bytes::from(vec![n; 40])));
    }
    rows
}

pub(crate) fn digest(value: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(value).max(1)
}

/// Works until it is killed or the store fails; if it `goes_on`, a full disk is no failure.
pub(crate) fn run(folder: &Path, seed: u64, durability: Durability, log_files_kept: usize, goes_on: bool) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let store = match Store::open(folder, options(durability, log_files_kept)) {
        Ok(store) => store,
        Err(error) => return say(&format!("E open {:?} {error}", error.kind())),
    };
    say("ready");
    runtime.block_on(async {
        let next_block = Arc::new(AtomicU64::new(seed << 24));
        let writers = (0..WRITERS).map(|writer| {
            let worker = Worker {
                store: store.clone(),
                random: StdRng::seed_from_u64(seed.wrapping_mul(31).wrapping_add(writer)),
                next_block: Arc::clone(&next_block),
                goes_on,
            };
            tokio::spawn(worker.run())
        });
        let mut was_full = false;
        for writer in writers.collect::<Vec<_>>() {
            match writer.await {
                Ok(kind) => was_full |= kind == ErrorKind::NoSpace,
                Err(_) => say("BUG a writer panicked"),
            }
        }
        // Only a failed store brings us here: it must refuse writes and still read. One that was full may have room again.
        let refused = store.commit(put(0, None, b"late".to_vec(), 1).1).await;
        match refused {
            Err(error) if error.kind() == ErrorKind::Unavailable => {}
            Ok(_) if was_full => {}
            Err(error) if was_full && matches!(error.kind(), ErrorKind::NoSpace | ErrorKind::Conflict) => {}
            other => say(&format!("BUG a failed store answered {other:?}")),
        }
    });
}

/// One whole line in one write, so that a kill never leaves half of one... or the reader drops it.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}

/// Whether the disk is full, or was until a moment ago.
fn is_full(error: &Error) -> bool {
    error.kind() == ErrorKind::NoSpace
        || error.action().contains("being opened again after its disk was full")
}

struct Worker {
    store: Store,
    random: StdRng,
    next_block: Arc<AtomicU64>,
    goes_on: bool,
}

impl Worker {
    /// What ended it.
    async fn run(mut self) -> ErrorKind {
        let mut was_full = false;
        loop {
            let outcome = match self.random.random_range(0..100) {
                0..69 => self.change_one().await,
                69 => self.load().await,
                70..85 => self.change_many().await,
                85..95 => self.delete().await,
                _ => self.append().await,
            };
            match outcome {
                Ok(()) if was_full => {
                    was_full = false;
                    say("R");
                }
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                Err(error) if self.goes_on && is_full(&error) => {
                    was_full = true;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                Err(error) => {
                    say(&format!("E {:?} {error}", error.kind()));
                    return error.kind();
                }
            }
            if self.random.random_ratio(1, 50) {
                tokio::time::sleep(Duration::from_micros(self.random.random_range(0..500))).await;
            }
        }
    }

    async fn read(&self, id: u32) -> Result<Option<Row>, Error> {
        self.store.get(&partition(id), &key(b'e', id)).await
    }

    fn payload(&mut self) -> Vec<u8> {
        let mut value = vec![0; self.random.random_range(8..PAYLOAD_BYTES_MAX)];
        self.random.fill(&mut value[..]);
        value
    }

    async fn change_one(&mut self) -> Result<(), Error> {
        let id = self.random.random_range(0..IDS);
        let row = self.read(id).await?;
        let (digest, commit) = put(id, row, self.payload(), self.random.random());
        let stamp = self.store.commit(commit).await?;
        say(&format!("A {id} {stamp} {digest}"));
        Ok(())
    }

    async fn change_many(&mut self) -> Result<(), Error> {
        let mut said = Vec::new();
        let mut commits = Vec::new();
        for _ in 0..self.random.random_range(2..40) {
            let id = self.random.random_range(0..IDS);
            let row = self.read(id).await?;
            let (digest, commit) = put(id, row, self.payload(), self.random.random());
            said.push((id, digest));
            commits.push(commit);
        }
        let mut failed = None;
        for ((id, digest), outcome) in said.into_iter().zip(self.store.commit_all(commits).await) {
            match outcome {
                Ok(stamp) => say(&format!("A {id} {stamp} {digest}")),
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    async fn delete(&mut self) -> Result<(), Error> {
        let id = self.random.random_range(0..IDS);
        let Some(row) = self.read(id).await? else { return self.change_one().await };
        let mut writes = remove_index(id, digest(&row.value));
        writes.push(Write::Delete(key(b'e', id)));
        let commit =
            commit(id, Condition::Version(key(b'e', id), row.stamp), writes, 0, self.random.random());
        let stamp = self.store.commit(commit).await?;
        say(&format!("A {id} {stamp} 0"));
        Ok(())
    }

    /// Loads all rows of the loaded partition anew. Now and then it is given up.
    async fn load(&mut self) -> Result<(), Error> {
        let id: u64 = self.random.random();
        let load = self.store.load(&loaded(), self.store.fence(&loaded())).await?;
        for rows in loaded_rows(id, self.random.random_range(1..LOADED_ROWS)) {
            load.add(rows).await?;
        }
        if self.random.random_ratio(1, 8) {
            return Ok(());
        }
        let change = [&LOADED.to_be_bytes()[..], &id.to_be_bytes()].concat();
        load.finish(Some(ChangeRecord::new(MODEL, 1, 1, change))).await?;
        say(&format!("L {id}"));
        Ok(())
    }

    async fn append(&mut self) -> Result<(), Error> {
        let number = self.next_block.fetch_add(1, Ordering::Relaxed);
        let row = (Bytes::copy_from_slice(&number.to_be_bytes()), Bytes::from(vec![7; 100]));
        let epoch = self.store.fence(&partition(0));
        self.store.append(Append { partition: blocks(), rows: vec![row] }, epoch).await?;
        say(&format!("B {number}"));
        Ok(())
    }
}

fn put(id: u32, row: Option<Row>, value: Vec<u8>, write_id: u128) -> (u64, Commit) {
    let condition = match &row {
        Some(row) => Condition::Version(key(b'e', id), row.stamp),
        None => Condition::Absent(key(b'e', id)),
    };
    let mut writes = row.map_or_else(Vec::new, |row| remove_index(id, digest(&row.value)));
    let digest = digest(&value);
    writes.push(Write::PutStamped(key(b'e', id), value.into()));
    writes.extend(index_rows(id, digest).into_iter().map(|(key, value)| Write::Put(key, value)));
    (digest, commit(id, condition, writes, digest, write_id))
}

fn remove_index(id: u32, digest: u64) -> Vec<Write> {
    let mut writes: Vec<Write> =
        index_rows(id, digest).into_iter().map(|(key, _)| Write::Delete(key)).collect();
    writes.truncate(4);
    writes.push(Write::DeleteRange(Range::prefix(key(b'd', id))));
    writes
}

fn commit(id: u32, condition: Condition, mut writes: Vec<Write>, digest: u64, write_id: u128) -> Commit {
    store::later_wins(&mut writes);
    let change = [&id.to_be_bytes()[..], &digest.to_be_bytes()].concat();
    Commit {
        partition: partition(id),
        write_id: WriteId(write_id),
        conditions: vec![condition],
        writes,
        change: Some(ChangeRecord::new(MODEL, 1, 1, change)),
        reclaims: false,
    }
}
