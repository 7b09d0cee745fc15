//! What is done with series in the background.

use super::table::counters;

counters! {
    /// What is done with series in the background.
    pub(crate) struct SeriesCounters {
        folds: "twinfold_series_folds_total", "Series folded.";
        folds_failed: "twinfold_series_folds_failed_total", "Folds that failed.";
        trimmed: "twinfold_series_trimmed_total", "Series that lost points beyond retention.";
        recompressed: "twinfold_series_recompressed_total", "Old blocks of series packed smaller.";
    }
}
