//! What background jobs did.

use super::table::counters;

counters! {
    /// What background jobs did.
    pub(crate) struct JobCounters {
        clock_jumps: "twinfold_clock_jumps_total", "Times that the machine's clock was set.";
        expired: "twinfold_expired_total", "Expired entities and attributes removed.";
        moved: "twinfold_entities_moved_total", "Entities moved to other buckets.";
        removals: "twinfold_removals_total", "Removed tenants and repositories whose data is gone.";
        indexed: "twinfold_entities_indexed_total", "Entities looked at to index attributes.";
        graph_elements: "twinfold_graph_elements_total", "Vertices and edges that jobs removed or entered into indexes.";
        config_rows: "twinfold_config_rows_removed_total", "Rows and pages of configuration that a job removed.";
    }
}
