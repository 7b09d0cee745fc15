//! What is logged, and how it looks.

use clap::ValueEnum;

use super::table::{Field, Table, settings_table};

settings_table! {
    /// What is logged, and how it looks.
    pub(crate) struct Log, table "log", flags "log_", heading "Log" {
        /// Form of the log on standard error
        format: LogFormat = "text", "FORMAT";

        /// What is logged: error, warn, info, debug, trace, or by part: `info,access=debug` logs requests
        level: String = "info", "LEVEL";
    }
}

/// How the log looks.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
