//! Connections: accepted, refused, ended for their age; and TLS.

use super::table::counters;

counters! {
    /// Connections: accepted, refused, ended for their age; and TLS.
    pub(crate) struct ConnectionCounters {
        accepted: "twinfold_connections_accepted_total", "Connections accepted.";
        refused: "twinfold_connections_refused_total", "Connections refused beyond connections_max.";
        overdue: "twinfold_connections_overdue_total", "Connections closed beyond header_duration_max or idle_duration_max.";
        tls_failed: "twinfold_tls_failed_total", "TLS handshakes that failed.";
        tls_reloads: "twinfold_tls_reloads_total", "Certificates read anew.";
        tls_reloads_failed: "twinfold_tls_reloads_failed_total", "Certificates not read anew.";
    }
}
