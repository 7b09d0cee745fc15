//! What hooks are notified of.

use super::table::counters;

counters! {
    /// What hooks are notified of.
    pub(crate) struct HookMetrics {
        notifications: "twinfold_hook_notifications_total", "Notifications taken by hooks.";
        changes: "twinfold_hook_changes_total", "Changes in notifications taken by hooks.";
        failures: "twinfold_hook_failures_total", "Notifications that failed.";
        cuts: "twinfold_hook_cuts_total", "Times that changes were gone from the feed before they were read for hooks.";
        stored: "twinfold_hook_stored_total", "Changes stored in outboxes of hooks.";
        overflowed: "twinfold_hook_overflowed_total", "Changes lost because the outbox of a hook was full.";
    }
}
