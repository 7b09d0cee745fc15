//! The store on the embedded engine: the contract, and stores as bytes.

mod format;

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use bytes::Bytes;
use tempfile::TempDir;

use crate::{Clock, Cursor, EmbeddedOptions, Partition, Store, WriteId, testing};

/// Small, so that flushes, trims and evictions happen in tests.
fn options(clock: Clock) -> EmbeddedOptions {
    EmbeddedOptions {
        clock,
        feed: testing::FEED,
        cache_bytes: 8 << 20,
        block_cache_bytes: 8 << 20,
        memtable_bytes: 1 << 20,
        ballast_bytes_max: 64 << 10,
        // Whatever the disk that the tests run on has left.
        disk_free_min: Some(0),
        ..EmbeddedOptions::recommended()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_embedded_engine_keeps_the_contract() {
    let folders: RefCell<Vec<TempDir>> = RefCell::default();
    let make = |clock| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), options(clock)).unwrap();
        folders.borrow_mut().push(folder);
        store
    };
    testing::contract(make).await;
}
