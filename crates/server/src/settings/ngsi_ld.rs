//! What a request of the NGSI-LD API may ask for.

use crate::units::ByteCount;

use super::table::{Field, Table, at_least_one, settings_table};

settings_table! {
    /// What a request of the NGSI-LD API may ask for.
    pub(crate) struct NgsiLd, table "ngsi_ld", flags "", heading "NGSI-LD" {
        /// Name by which this broker is known to others (NGSI-LD contextSourceAlias)
        alias: String = "twinfold", "NAME";

        /// The most entities of a batch operation
        batch_entities_max: usize = "10000", "COUNT";

        /// The most terms of a query's `q`
        q_nodes_max: usize = "256", "COUNT";

        /// The most values in the lists of a query's `q`
        q_values_max: usize = "10000", "COUNT";

        /// The most positions of a geometry to query with
        geo_positions_max: usize = "10000", "COUNT";

        /// How far `join` follows relationships
        join_level_max: usize = "10", "LEVELS";

        /// The most linked entities in one answer
        join_entities_max: usize = "10000", "COUNT";

        /// The most instances of attributes in one answer about history; more of them come in parts (206)
        temporal_instances_max: usize = "100000", "COUNT";

        /// A page of entities ends with the entity that makes it so large, as they are stored
        page_bytes_max: ByteCount = "16MiB", "SIZE";
    }
}

impl NgsiLd {
    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        at_least_one(&[
            ("page_bytes_max", self.page_bytes_max.as_usize()),
            ("q_values_max", self.q_values_max),
            ("geo_positions_max", self.geo_positions_max),
        ])
    }
}
