//! Settings of time series: how they are kept, what a request may ask for, who is told of changes.

use clap::{Args, ValueEnum};

use crate::units::{ByteCount, Span};

/// How series are kept and served.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Series")]
pub(crate) struct Series {
    /// Whether the TSM API is served
    #[arg(long, env = "TWINFOLD_TSM", value_name = "WHETHER", default_value = "on")]
    pub(crate) tsm: Switch,

    /// The most points of a sealed block
    #[arg(long, env = "TWINFOLD_SERIES_BLOCK_POINTS_MAX", value_name = "COUNT", default_value = "4096")]
    pub(crate) series_block_points_max: usize,

    /// Overwrites of a series from which they are folded into its blocks
    #[arg(long, env = "TWINFOLD_SERIES_OVERLAYS_MAX", value_name = "COUNT", default_value = "32")]
    pub(crate) series_overlays_max: usize,

    /// Overwritten points of a series from which they are folded into its blocks
    #[arg(long, env = "TWINFOLD_SERIES_OVERLAY_POINTS_MAX", value_name = "COUNT", default_value = "16384")]
    pub(crate) series_overlay_points_max: usize,

    /// Definitions of series kept in memory, about 1 KiB each
    #[arg(
        long,
        env = "TWINFOLD_SERIES_DEFINITIONS_CACHED_MAX",
        value_name = "COUNT",
        default_value = "50000"
    )]
    pub(crate) series_definitions_cached_max: usize,

    /// Series that are folded at once
    #[arg(long, env = "TWINFOLD_SERIES_FOLDS_MAX", value_name = "COUNT", default_value = "1")]
    pub(crate) series_folds_max: usize,

    /// How often points are removed that are older than their series keeps them
    #[arg(long, env = "TWINFOLD_SERIES_RETENTION_INTERVAL", value_name = "SPAN", default_value = "5m")]
    pub(crate) series_retention_interval: Span,

    /// How often old blocks of series and of histories of attributes are looked for, to pack them smaller
    #[arg(long, env = "TWINFOLD_SERIES_COLD_INTERVAL", value_name = "SPAN", default_value = "24h")]
    pub(crate) series_cold_interval: Span,

    /// How old the newest point of such a block is (of a history: when it was written) when it is packed smaller
    #[arg(long, env = "TWINFOLD_SERIES_COLD_DURATION", value_name = "SPAN", default_value = "90d")]
    pub(crate) series_cold_duration: Span,

    /// The most series of one request
    #[arg(long, env = "TWINFOLD_REQUEST_SERIES_MAX", value_name = "COUNT", default_value = "50000")]
    pub(crate) request_series_max: usize,

    /// The most slots of one answer: of all its series, with points or without
    #[arg(long, env = "TWINFOLD_ANSWER_SLOTS_MAX", value_name = "COUNT", default_value = "1000000000")]
    pub(crate) answer_slots_max: u64,

    /// The most points of one body
    #[arg(long, env = "TWINFOLD_WRITE_POINTS_MAX", value_name = "COUNT", default_value = "10000000")]
    pub(crate) write_points_max: usize,

    /// The largest row or line of a body of points
    #[arg(long, env = "TWINFOLD_WRITE_ITEM_BYTES_MAX", value_name = "SIZE", default_value = "1MiB")]
    pub(crate) write_item_bytes_max: ByteCount,

    /// The largest Arrow message of a body of points
    #[arg(long, env = "TWINFOLD_WRITE_BATCH_BYTES_MAX", value_name = "SIZE", default_value = "64MiB")]
    pub(crate) write_batch_bytes_max: ByteCount,

    /// Whether hooks are sent: `off`, to `public` addresses, or to `any`, private ones too
    #[arg(long, env = "TWINFOLD_HOOK_SEND", value_name = "TO", default_value = "off")]
    pub(crate) hook_send: HookSend,

    /// How long a hook may take to answer
    #[arg(long, env = "TWINFOLD_HOOK_DURATION_MAX", value_name = "SPAN", default_value = "10s")]
    pub(crate) hook_duration_max: Span,

    /// The longest pause before a hook that failed is tried again
    #[arg(long, env = "TWINFOLD_HOOK_PAUSE_MAX", value_name = "SPAN", default_value = "5m")]
    pub(crate) hook_pause_max: Span,

    /// The most changes of one notification
    #[arg(long, env = "TWINFOLD_HOOK_CHANGES_MAX", value_name = "COUNT", default_value = "500")]
    pub(crate) hook_changes_max: usize,
}

/// On or off.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Switch {
    /// It is there.
    On,
    /// It is not.
    Off,
}

/// Whom hooks may call.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum HookSend {
    /// Nobody: hooks are kept, and told later.
    Off,
    /// Public addresses.
    Public,
    /// Any address, also of this machine and private networks.
    Any,
}

impl Series {
    /// Checks what no single value can tell.
    ///
    /// # Errors
    ///
    /// What does not fit, and how to mend it.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let block = self.series_block_points_max;
        anyhow::ensure!(
            (16..=65_535).contains(&block),
            "series_block_points_max must be between 16 and 65535, not {block}"
        );
        for (name, value) in [
            ("series_overlays_max", self.series_overlays_max),
            ("series_overlay_points_max", self.series_overlay_points_max),
            ("series_definitions_cached_max", self.series_definitions_cached_max),
            ("series_folds_max", self.series_folds_max),
            ("request_series_max", self.request_series_max),
            ("write_points_max", self.write_points_max),
            ("hook_changes_max", self.hook_changes_max),
        ] {
            anyhow::ensure!(value > 0, "{name} must be at least 1");
        }
        anyhow::ensure!(self.answer_slots_max > 0, "answer_slots_max must be at least 1");
        for (name, span) in [
            ("series_retention_interval", self.series_retention_interval),
            ("series_cold_interval", self.series_cold_interval),
            ("hook_duration_max", self.hook_duration_max),
            ("hook_pause_max", self.hook_pause_max),
        ] {
            anyhow::ensure!(!span.0.is_zero(), "{name} must be above 0");
        }
        Ok(())
    }
}
