//! How configuration (YANG data) is stored, and how much of it there may be.

use crate::units::{ByteCount, Span};

use super::table::{Field, Table, above_zero, at_least_one, settings_table};

settings_table! {
    /// How configuration (YANG data) is stored, and how much of it there may be.
    pub(crate) struct Config, table "config", flags "config_", heading "Configuration" {
        /// The most dataspaces of a tenant
        dataspaces_max: usize = "1000", "COUNT";

        /// The most schema sets of a dataspace
        schema_sets_max: usize = "50000", "COUNT";

        /// The most bytes of all modules of a schema set
        schema_set_bytes_max: ByteCount = "64MiB", "SIZE";

        /// The largest tree of an anchor, as it is stored
        tree_bytes_max: ByteCount = "256MiB", "SIZE";

        /// The largest tree of an anchor of a strict schema set, as it is stored: each change has all of it checked
        strict_tree_bytes_max: ByteCount = "64MiB", "SIZE";

        /// The most versions of an anchor that are kept
        versions_max: usize = "100", "COUNT";

        /// A version that is older goes, except the newest
        version_age_max: Span = "7d", "SPAN";

        /// Memory for pages of trees
        page_cache_bytes: ByteCount = "64MiB", "SIZE";

        /// Memory for compiled schemas; one that is in use is never given up
        schema_cache_bytes: ByteCount = "64MiB", "SIZE";

        /// How often versions that are too old, and pages and texts that nothing names, are looked for
        tidy_interval: Span = "10m", "SPAN";
    }
}

impl Config {
    /// Checks the values.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        at_least_one(&[
            ("config_dataspaces_max", self.dataspaces_max),
            ("config_schema_sets_max", self.schema_sets_max),
            ("config_schema_set_bytes_max", self.schema_set_bytes_max.as_usize()),
            ("config_tree_bytes_max", self.tree_bytes_max.as_usize()),
            ("config_strict_tree_bytes_max", self.strict_tree_bytes_max.as_usize()),
            ("config_versions_max", self.versions_max),
        ])?;
        above_zero(&[("config_tidy_interval", self.tidy_interval)])
    }
}
