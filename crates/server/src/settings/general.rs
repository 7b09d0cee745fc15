//! What the server is, and where its data lies: keys at the top of the settings file, before all tables.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::units::Durability;

use super::table::{Field, Table, settings_table};

settings_table! {
    /// What the server is, and where its data lies: keys at the top of the settings file, before all tables.
    pub(crate) struct General, table "", flags "", heading "Server" {
        /// Address to listen on; port 0 takes a free one and prints it
        listen: String = "127.0.0.1:1026", "ADDR";

        /// Folder that holds the data; made if it is missing
        data: PathBuf = "./data", "DIR";

        /// Engine: `embedded` stores data in the folder, `memory` loses it at exit
        store: Engine = "embedded", "ENGINE";

        /// When a write is acknowledged: `sync`, on disk; `interval:100ms`, before, synced so often
        durability: Durability = "sync", "WHEN";

        /// Parts a tenant's entities are spread over (they move when it changes), and a new repository's series: a power of two
        buckets: u32 = "1", "COUNT";

        /// Threads that serve; 0: as many as there are cores
        threads: usize = "0", "COUNT";
    }
}

/// Where data is stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Engine {
    /// In the data folder (RocksDB).
    Embedded,
    /// In memory only, for tests and trials.
    Memory,
}

impl General {
    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.buckets.is_power_of_two(),
            "buckets must be a power of two, not {}",
            self.buckets
        );
        Ok(())
    }
}
