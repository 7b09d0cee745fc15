//! How series of points are stored.

use crate::units::Span;

use super::table::{Field, Table, above_zero, at_least_one, settings_table};

settings_table! {
    /// How series of points are stored.
    pub(crate) struct Series, table "series", flags "series_", heading "Series" {
        /// The most points of a sealed block
        block_points_max: usize = "4096", "COUNT";

        /// Overwrites of a series from which they are folded into its blocks
        overlays_max: usize = "32", "COUNT";

        /// Overwritten points of a series from which they are folded into its blocks
        overlay_points_max: usize = "16384", "COUNT";

        /// Definitions of series cached in memory, about 1 KiB each
        definitions_cached_max: usize = "50000", "COUNT";

        /// Series that are folded at once
        folds_max: usize = "1", "COUNT";

        /// How often points are removed that are older than the retention of their series
        retention_interval: Span = "5m", "SPAN";

        /// How often old blocks of series and of histories of attributes are looked for, to pack them smaller
        recompress_interval: Span = "24h", "SPAN";

        /// How old the newest point of such a block is (of a history: when it was written) when it is packed smaller
        recompress_age: Span = "90d", "SPAN";
    }
}

impl Series {
    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let block = self.block_points_max;
        anyhow::ensure!(
            (16..=65_535).contains(&block),
            "series_block_points_max must be between 16 and 65535, not {block}"
        );
        at_least_one(&[
            ("series_overlays_max", self.overlays_max),
            ("series_overlay_points_max", self.overlay_points_max),
            ("series_definitions_cached_max", self.definitions_cached_max),
            ("series_folds_max", self.folds_max),
        ])?;
        above_zero(&[
            ("series_retention_interval", self.retention_interval),
            ("series_recompress_interval", self.recompress_interval),
        ])
    }
}
