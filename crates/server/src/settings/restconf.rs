//! What RESTCONF serves.

use crate::units::Switch;

use super::table::{Field, Table, at_least_one, settings_table};

settings_table! {
    /// What RESTCONF serves.
    pub(crate) struct Restconf, table "restconf", flags "restconf_", heading "RESTCONF" {
        /// Whether RESTCONF is served
        served as "restconf": Switch = "on", "WHETHER";

        /// The dataspace of the anchor whose data `/restconf/data` is
        dataspace: String = none, "NAME";

        /// The anchor whose data `/restconf/data` is
        anchor: String = none, "NAME";

        /// The most nodes and values of one body
        body_nodes_max: usize = "5000000", "COUNT";
    }
}

impl Restconf {
    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.dataspace.is_some() == self.anchor.is_some(),
            "restconf_dataspace and restconf_anchor name one anchor: set both or none"
        );
        at_least_one(&[("restconf_body_nodes_max", self.body_nodes_max)])
    }
}
