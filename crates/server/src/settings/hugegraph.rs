//! What a request of the HugeGraph API may ask for.

use crate::units::{ByteCount, Switch};

use super::table::{Field, Table, at_least_one, settings_table};

settings_table! {
    /// What a request of the HugeGraph API may ask for.
    pub(crate) struct HugeGraph, table "hugegraph", flags "hugegraph_", heading "HugeGraph" {
        /// Whether the HugeGraph API is served
        served as "hugegraph": Switch = "on", "WHETHER";

        /// The most graphs and graph spaces of a tenant, beside `DEFAULT` and its graph `hugegraph`
        graphs_max as "graphs_max": usize = "1000", "COUNT";

        /// The most vertices or edges of one request
        batch_elements_max as "batch_elements_max": usize = "2500", "COUNT";

        /// Memory for what one walk remembers
        walk_memory_bytes_max as "walk_memory_bytes_max": ByteCount = "512MiB", "SIZE";

        /// Memory for the graph that an algorithm is at work on
        algorithm_memory_bytes_max as "algorithm_memory_bytes_max": ByteCount = "512MiB", "SIZE";
    }
}

impl HugeGraph {
    /// Checks the values.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let (walk, most) = (self.walk_memory_bytes_max.as_usize(), api_hugegraph::WALK_BYTES_MAX);
        anyhow::ensure!(walk <= most, "walk_memory_bytes_max must be at most {} MiB", most >> 20);
        at_least_one(&[("batch_elements_max", self.batch_elements_max)])
    }
}
