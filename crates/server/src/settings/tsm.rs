//! What a request of the TSM API may ask for.

use crate::units::{ByteCount, Switch};

use super::table::{Field, Table, at_least_one, settings_table};

settings_table! {
    /// What a request of the TSM API may ask for.
    pub(crate) struct Tsm, table "tsm", flags "", heading "TSM" {
        /// Whether the TSM API is served
        served as "tsm": Switch = "on", "WHETHER";

        /// The most repositories of series in a tenant, beside `default`
        repositories_max: usize = "1000", "COUNT";

        /// The most series of one request
        request_series_max: usize = "50000", "COUNT";

        /// The most slots of one answer: of all its series, with points or without
        answer_slots_max: u64 = "1000000000", "COUNT";

        /// The most points of one body
        write_points_max: usize = "10000000", "COUNT";

        /// The largest row or line of a body of points
        write_item_bytes_max: ByteCount = "1MiB", "SIZE";

        /// The largest Arrow message of a body of points
        write_batch_bytes_max: ByteCount = "64MiB", "SIZE";
    }
}

impl Tsm {
    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(self.answer_slots_max > 0, "answer_slots_max must be at least 1");
        at_least_one(&[
            ("request_series_max", self.request_series_max),
            ("write_points_max", self.write_points_max),
        ])
    }
}
