//! What is done with histories of entities in the background.

use super::table::counters;

counters! {
    /// What is done with histories of entities in the background.
    pub(crate) struct HistoryCounters {
        folds: "twinfold_history_folds_total", "Histories of entities folded into blocks.";
        folds_failed: "twinfold_history_folds_failed_total", "Folds that failed.";
        trimmed: "twinfold_history_trimmed_total", "Histories of attributes that lost instances beyond retention.";
        recompressed: "twinfold_history_recompressed_total", "Old blocks of histories packed smaller.";
    }
}
