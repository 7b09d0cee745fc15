//! How the committer takes a load in: between two batches, so that each commit comes before the load or behind it.
//!
//! What a crash leaves at each step: before the engine has taken the tables in, nothing of the load (`manifest.rs` has the one case in which
//! that needs help). Then its rows are there with its
//! mark, and the next opening has the feed tell it (`marks.rs`). The last batch, which does so and removes the mark, ends it.

use rocksdb::{DEFAULT_COLUMN_FAMILY_NAME, IngestExternalFileOptions};
use store_contract::place::PlaceBytes;
use store_contract::{Condition, Error, ErrorKind};

use super::Committer;
use crate::failure::{engine_failed, family};
use crate::options::Durability;
use crate::reply::Reply;
use crate::request::{Answer, Ingest};

/// No write of the engine has this number: what is cached of a range in flight does not count.
const NEVER: u64 = u64::MAX;

impl Committer {
    /// Takes a load in, and answers.
    pub(super) fn ingest(&mut self, load: &Ingest, answer: Answer<()>) {
        let outcome = self.take_in(load);
        self.is_to_sync = outcome.is_ok();
        self.replies.push(Reply::Done(answer, outcome));
        self.write();
    }

    fn take_in(&mut self, load: &Ingest) -> Result<(), Error> {
        let shared = self.shared.clone();
        load.said.partition.tenant.check()?;
        shared.check_writable()?;
        if load.load.is_fenced() {
            return Err(Condition::Fence(shared.fence()).refusal());
        }
        // What came before is settled, and what the mark names is durable.
        self.batch.note_said(&load.said)?;
        if !self.write() || !self.look_at_folder() {
            shared.check_writable()?;
            return Err(Error::new(ErrorKind::Unavailable, "load: a write before it failed"));
        }
        if let Some(range) = &load.range {
            self.ingest_tables(load, range)?;
        }
        self.batch.tell_load(load.load.number(), &load.said)
    }

    fn ingest_tables(&self, load: &Ingest, range: &(PlaceBytes, PlaceBytes)) -> Result<(), Error> {
        let shared = &self.shared;
        let engine = shared.engine()?;
        if shared.options.durability != Durability::Sync {
            engine.flush_wal(true).map_err(|error| engine_failed(shared.path(), "sync", error))?;
        }
        let mut options = IngestExternalFileOptions::default();
        options.set_move_files(true);
        load.folder.begin_ingest()?;
        let ranges = std::slice::from_ref(range);
        shared.cache.announce(NEVER, ranges, std::iter::empty());
        let rows = family(&engine, DEFAULT_COLUMN_FAMILY_NAME);
        let ingested = engine.ingest_external_file_cf_opts(rows, &options, load.tables.iter().collect());
        shared.counted.touch_range(&range.0, &range.1);
        shared.cache.publish_ranges(ranges);
        let Err(error) = ingested else {
            load.folder.end_ingest();
            return Ok(());
        };
        // Whether it is in the manifest is not known until the store is opened again.
        let error = engine_failed(load.folder.path(), "take in the tables of", error);
        shared.note_failure(&error);
        Err(error)
    }
}
