//! What hooks are notified of, and what waits for them.

use delivery::{Backlog, Gauges};
use parking_lot::Mutex;

use super::exposition::Exposition;
use super::table::counters;

counters! {
    /// What hooks were notified of.
    pub(crate) struct HookCounters {
        notifications: "twinfold_hook_notifications_total", "Notifications accepted by hooks.";
        changes: "twinfold_hook_changes_total", "Changes in notifications accepted by hooks.";
        failures: "twinfold_hook_failures_total", "Notifications that failed.";
        retries: "twinfold_hook_retries_total", "Notifications sent to a hook that had failed last.";
        cuts: "twinfold_hook_cuts_total", "Times that changes were removed from the feed before they were read for hooks.";
        stored: "twinfold_hook_stored_total", "Changes stored in outboxes of hooks.";
        overflowed: "twinfold_hook_overflowed_total", "Changes lost because the outbox of a hook was full.";
    }
}

/// What hooks were notified of, and what waits for them.
#[derive(Debug, Default)]
pub(crate) struct HookMetrics {
    pub(crate) counters: HookCounters,
    now: Mutex<Now>,
}

/// What waits, as of the last flush.
#[derive(Clone, Copy, Debug, Default)]
struct Now {
    /// Whether this node notifies hooks; else there is nothing.
    is_following: bool,
    gauges: Gauges,
}

impl HookMetrics {
    /// Brings the gauges up to date; `None`: another node notifies hooks, or none does.
    pub(crate) fn set_gauges(&self, gauges: Option<Gauges>) {
        *self.now.lock() = gauges.map_or_else(Now::default, |gauges| Now { is_following: true, gauges });
    }

    /// Appends all of them.
    pub(crate) fn write(&self, out: &mut Exposition) {
        self.counters.write(out);
        let Now { is_following, gauges } = *self.now.lock();
        let help = "1 if this node notifies hooks; of several nodes one does.";
        out.gauge("twinfold_hook_following", help, u8::from(is_following));
        let Gauges {
            unread_commits,
            unpassed_commits,
            unseen,
            sending,
            memory_bytes,
            overflowing,
            direct,
            behind,
            failing,
            paused,
        } = gauges;
        let help = "Commits that were not yet read for hooks.";
        out.gauge("twinfold_hook_unread_commits", help, unread_commits);
        let help = "Commits after the stored position of the reader: read again after a restart.";
        out.gauge("twinfold_hook_unpassed_commits", help, unpassed_commits);
        let help = "Hooks whose outbox was not yet looked for, after this node began to notify.";
        out.gauge("twinfold_hook_unseen", help, unseen);
        out.gauge("twinfold_hook_sending", "Notifications under way.", sending);
        let help = "Memory of changes that wait for hooks.";
        out.gauge("twinfold_hook_memory_bytes", help, memory_bytes);
        let help = "Hooks whose outbox is full, or more than half full since it was.";
        out.gauge("twinfold_hook_overflowing", help, overflowing);
        let states = [("direct", direct), ("outbox", behind), ("failing", failing), ("paused", paused)];
        by_state(out, "twinfold_hook_waiting", "Hooks for which changes wait.", states.map(receivers));
        by_state(
            out,
            "twinfold_hook_pending_changes",
            "Changes that hooks have not accepted.",
            states.map(messages),
        );
    }
}

fn receivers((state, backlog): (&'static str, Backlog)) -> (&'static str, u64) {
    (state, backlog.receivers)
}

fn messages((state, backlog): (&'static str, Backlog)) -> (&'static str, u64) {
    (state, backlog.messages)
}

fn by_state<const STATES: usize>(
    out: &mut Exposition,
    name: &str,
    help: &str,
    samples: [(&'static str, u64); STATES],
) {
    out.family(name, "gauge", help);
    for (state, value) in samples {
        out.sample(name, &format!("state=\"{state}\""), value);
    }
}
