//! What a request of the CPS API may ask for.

use crate::units::{ByteCount, Switch};

use super::table::{Field, Table, at_least_one, settings_table};

settings_table! {
    /// What a request of the CPS API may ask for.
    pub(crate) struct Cps, table "cps", flags "cps_", heading "CPS" {
        /// Whether the CPS API is served
        served as "cps": Switch = "on", "WHETHER";

        /// The largest upload of a schema set or of data, as it is sent
        upload_bytes_max: ByteCount = "100MiB", "SIZE";

        /// The most nodes and values of one body
        body_nodes_max: usize = "5000000", "COUNT";

        /// The most nodes that a query may find in one anchor
        query_nodes_max: usize = "1000000", "COUNT";

        /// The most anchors that a query across anchors may look at
        query_anchors_max: usize = "100000", "COUNT";
    }
}

impl Cps {
    /// Checks the values.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        at_least_one(&[
            ("cps_upload_bytes_max", self.upload_bytes_max.as_usize()),
            ("cps_body_nodes_max", self.body_nodes_max),
            ("cps_query_nodes_max", self.query_nodes_max),
            ("cps_query_anchors_max", self.query_anchors_max),
        ])
    }
}
