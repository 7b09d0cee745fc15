//! What hooks are told.

use super::table::counters;

counters! {
    /// What hooks are told.
    pub(crate) struct HookMetrics {
        notifications: "twinfold_hook_notifications_total", "Notifications taken by hooks.";
        changes: "twinfold_hook_changes_total", "Changes told to hooks.";
        failures: "twinfold_hook_failures_total", "Notifications that failed.";
        cuts: "twinfold_hook_cuts_total", "Times a hook lost unseen changes.";
    }
}
