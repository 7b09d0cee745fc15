//! The store as the settings want it.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use store::{Clock, EmbeddedOptions, FeedOptions, MemoryOptions, Store};

use crate::settings::{Engine, Settings};
use crate::units::{Durability, FreeSpace};

/// Opens the store. Cost: for the embedded engine, reading what its log holds.
///
/// # Errors
///
/// If the folder is in use, damaged, of another format or cannot be written to.
pub(crate) async fn open(settings: &Settings, clock: Clock) -> anyhow::Result<Store> {
    match settings.general.store {
        Engine::Memory => {
            // Age fills memory: only the newest changes are stored, and those that hooks have not read.
            let feed = FeedOptions { age_min: Duration::ZERO, ..feed(settings) };
            Ok(Store::memory(MemoryOptions { clock, feed }))
        }
        Engine::Embedded => open_folder(settings.general.data.clone(), options(settings, clock)).await,
    }
}

fn feed(settings: &Settings) -> FeedOptions {
    FeedOptions {
        bytes_min: settings.engine.feed_bytes_min.0,
        age_min: settings.engine.feed_age_min.0,
        bytes_max: settings.engine.feed_bytes_max.0,
    }
}

fn options(settings: &Settings, clock: Clock) -> EmbeddedOptions {
    EmbeddedOptions {
        durability: match settings.general.durability {
            Durability::Sync => store::Durability::Sync,
            Durability::Interval(interval) => store::Durability::Interval(interval),
        },
        clock,
        feed: feed(settings),
        cache_bytes: settings.engine.cache_bytes.as_usize(),
        disk_free_min: match settings.engine.disk_free_min {
            FreeSpace::Auto => None,
            FreeSpace::Bytes(bytes) => Some(bytes.0),
        },
        block_cache_bytes: settings.engine.block_cache_bytes.as_usize(),
        ..EmbeddedOptions::recommended()
    }
}

/// Opens the store of a folder; there must be one.
///
/// # Errors
///
/// If there is none, or as [`open`].
pub(crate) async fn open_existing(data: &Path) -> anyhow::Result<Store> {
    let holds_something = std::fs::read_dir(data).is_ok_and(|mut entries| entries.next().is_some());
    anyhow::ensure!(holds_something, "data folder {} is missing or empty", data.display());
    let opened = open_folder(data.to_owned(), EmbeddedOptions::recommended()).await;
    opened.map_err(|error| match error.downcast_ref::<store::Error>().map(store::Error::kind) {
        Some(store::ErrorKind::Locked) => {
            error.context("a running server is asked for its backup with --server URL")
        }
        _ => error,
    })
}

async fn open_folder(folder: std::path::PathBuf, options: EmbeddedOptions) -> anyhow::Result<Store> {
    // Opening blocks while the log is read. What the store says names the folder.
    let opened = tokio::task::spawn_blocking(move || Store::open(&folder, options)).await;
    Ok(opened.context("opening the store met a bug")??)
}

/// Puts a backup into an empty or missing folder.
///
/// # Errors
///
/// If the folder holds something, or the backup is none.
pub(crate) fn restore(from: &Path, data: &Path) -> anyhow::Result<()> {
    Ok(store::restore(from, data)?)
}
