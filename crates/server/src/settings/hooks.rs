//! Whom hooks may call, and how.

use clap::ValueEnum;

use crate::units::{ByteCount, Span};

use super::table::{Field, Table, above_zero, at_least_one, settings_table};

settings_table! {
    /// Whom hooks may call, and how.
    pub(crate) struct Hooks, table "hooks", flags "hook_", heading "Hooks" {
        /// Whether hooks are called: `off`, at `public` addresses, or at `any`, private ones too
        send: HookSend = "off", "TO";

        /// How long a hook may take to answer
        duration_max: Span = "10s", "SPAN";

        /// The longest pause before a hook that failed is tried again
        pause_max: Span = "5m", "SPAN";

        /// The most changes of one notification
        changes_max: usize = "500", "COUNT";

        /// The most notifications under way at once; hooks that failed last or never answered get a quarter of them together
        sends_max: usize = "64", "COUNT";

        /// The most notifications of one hook that wait in memory; further changes go to its outbox in the store
        window_notifications_max: usize = "4", "COUNT";

        /// How long changes may wait in memory for a hook to accept them; then they go to its outbox
        patience_duration_max: Span = "2s", "SPAN";

        /// Memory for changes that wait, of all hooks together; beyond half of it all of them go to outboxes
        memory_bytes_max: ByteCount = "64MiB", "SIZE";

        /// The most changes in the outbox of one hook; newer ones are lost, and counted
        outbox_changes_max: usize = "100000", "COUNT";

        /// The most bytes in the outbox of one hook; newer changes are lost, and counted
        outbox_bytes_max: ByteCount = "64MiB", "SIZE";
    }
}

/// Whom hooks may call.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum HookSend {
    /// Nobody: hooks are stored, but not called. Once they may be, they are sent what the feed still has
    Off,
    /// Public addresses.
    Public,
    /// Any address, also of this machine and private networks.
    Any,
}

impl Hooks {
    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        at_least_one(&[
            ("hook_changes_max", self.changes_max),
            ("hook_sends_max", self.sends_max),
            ("hook_window_notifications_max", self.window_notifications_max),
            ("hook_memory_bytes_max", self.memory_bytes_max.as_usize()),
            ("hook_outbox_changes_max", self.outbox_changes_max),
            ("hook_outbox_bytes_max", self.outbox_bytes_max.as_usize()),
        ])?;
        above_zero(&[
            ("hook_duration_max", self.duration_max),
            ("hook_pause_max", self.pause_max),
            ("hook_patience_duration_max", self.patience_duration_max),
        ])
    }
}
