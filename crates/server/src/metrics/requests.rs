//! Requests that were not answered as usual.

use super::table::counters;

counters! {
    /// Requests that were not answered as usual.
    pub(crate) struct RequestCounters {
        timed_out: "twinfold_requests_timed_out_total", "Requests beyond request_duration_max.";
        busy: "twinfold_requests_busy_total", "Requests refused beyond requests_max.";
        panics: "twinfold_request_panics_total", "Requests that met a bug.";
        damaged: "twinfold_requests_damaged_total", "Requests that met damaged data.";
    }
}
