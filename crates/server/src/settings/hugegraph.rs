//! What a request of the HugeGraph API may ask for.

use crate::units::Switch;

use super::table::{Field, Table, settings_table};

settings_table! {
    /// What a request of the HugeGraph API may ask for.
    pub(crate) struct HugeGraph, table "hugegraph", flags "hugegraph_", heading "HugeGraph" {
        /// Whether the HugeGraph API is served
        served as "hugegraph": Switch = "on", "WHETHER";
    }
}
