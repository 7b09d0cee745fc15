//! What change events of configuration do not tell.

use super::table::counters;

counters! {
    /// What change events of configuration do not tell.
    pub(crate) struct ConfigEventCounters {
        data_left_out: "twinfold_config_event_data_left_out_total", "Change events without data, which were too large or no longer there.";
    }
}
