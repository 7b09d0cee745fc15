//! Whom hooks may call, and how.

use clap::ValueEnum;

use crate::units::Span;

use super::table::{Field, Table, above_zero, at_least_one, settings_table};

settings_table! {
    /// Whom hooks may call, and how.
    pub(crate) struct Hooks, table "hooks", flags "hook_", heading "Hooks" {
        /// Whether hooks are sent: `off`, to `public` addresses, or to `any`, private ones too
        send: HookSend = "off", "TO";

        /// How long a hook may take to answer
        duration_max: Span = "10s", "SPAN";

        /// The longest pause before a hook that failed is tried again
        pause_max: Span = "5m", "SPAN";

        /// The most changes of one notification
        changes_max: usize = "500", "COUNT";
    }
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

impl Hooks {
    /// Checks what no single value can tell.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        at_least_one(&[("hook_changes_max", self.changes_max)])?;
        above_zero(&[("hook_duration_max", self.duration_max), ("hook_pause_max", self.pause_max)])
    }
}
