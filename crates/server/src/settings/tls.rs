//! The certificate of the listener.

use std::path::PathBuf;

use super::table::{Field, Table, settings_table};

settings_table! {
    /// The certificate of the listener.
    pub(crate) struct Tls, table "tls", flags "tls_", heading "TLS" {
        /// Certificate chain (PEM); with it the listener speaks TLS
        cert: PathBuf = none, "FILE";

        /// Private key of the certificate (PEM)
        key: PathBuf = none, "FILE";
    }
}

impl Tls {
    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.cert.is_some() == self.key.is_some(),
            "tls_cert and tls_key belong together: one of them is missing"
        );
        Ok(())
    }
}
