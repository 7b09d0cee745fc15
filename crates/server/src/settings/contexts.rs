//! Where JSON-LD contexts come from.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::units::{ByteCount, Span};

use super::table::{Field, Table, settings_table};

settings_table! {
    /// Where JSON-LD contexts come from.
    pub(crate) struct Contexts, table "contexts", flags "context_", heading "Contexts" {
        /// Folder of JSON-LD contexts that need no fetching; its `contexts.toml` maps URLs to files
        folder as "contexts": PathBuf = none, "DIR";

        /// Whether contexts are fetched: `off`, from `public` addresses, or from `any`, private ones too
        fetch: ContextFetch = "off", "FROM";

        /// How long a fetch may take
        duration_max: Span = "5s", "SPAN";

        /// The largest context
        bytes_max: ByteCount = "1MiB", "SIZE";

        /// Redirects a fetch may follow
        redirects_max: usize = "3", "COUNT";

        /// Parsed contexts cached in memory
        cached_max as "contexts_cached_max": usize = "1000", "COUNT";
    }
}

/// From where contexts are fetched.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ContextFetch {
    /// From nowhere: only built-in, preloaded and hosted contexts.
    Off,
    /// From public addresses.
    Public,
    /// From any address, also of this machine and private networks.
    Any,
}
