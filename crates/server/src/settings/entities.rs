//! How entities are stored, and how much of them there may be.

use clap::ValueEnum;

use crate::units::{ByteCount, Span};

use super::table::{Field, Table, settings_table};

settings_table! {
    /// How entities are stored, and how much of them there may be.
    pub(crate) struct Entities, table "entities", flags "", heading "Entities" {
        /// Attributes that are indexed: `by-use`, those that queries were slow without; `all`, every one, for writes that cost half as
        /// much again
        attribute_indexes: AttributeIndexes = "by-use", "WHICH";

        /// The largest stored entity
        entity_bytes_max: ByteCount = "8MiB", "SIZE";

        /// The most names of types and attributes in a tenant
        terms_max: usize = "100000", "COUNT";

        /// The most tenants beside the default one
        tenants_max: usize = "1000", "COUNT";

        /// The most entities a query may look at
        scan_entities_max: usize = "1000000", "COUNT";

        /// The most matches that can be sorted
        sort_entities_max: usize = "100000", "COUNT";

        /// How often expired entities and attributes are removed
        purge_interval: Span = "10s", "SPAN";
    }
}

/// Which attributes are indexed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum AttributeIndexes {
    /// Those that queries were slow without.
    ByUse,
    /// All.
    All,
}

impl Entities {
    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.purge_interval.0.is_zero(), "purge_interval must be above 0");
        Ok(())
    }
}
