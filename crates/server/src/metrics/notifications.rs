//! What receivers of one kind were notified of, and what waits for them.

use std::sync::atomic::{AtomicU64, Ordering};

use delivery::{Backlog, Gauges};
use parking_lot::Mutex;

use super::exposition::Exposition;

/// What a kind of receivers is called on the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiverWords {
    /// What the names of its families begin with.
    pub(crate) prefix: &'static str,
    /// One of them.
    pub(crate) receiver: &'static str,
    /// All of them.
    pub(crate) receivers: &'static str,
}

/// Hooks of series.
pub(crate) const HOOKS: ReceiverWords =
    ReceiverWords { prefix: "twinfold_hook", receiver: "hook", receivers: "hooks" };

/// Receivers of change events of configuration.
pub(crate) const CONFIG_EVENTS: ReceiverWords = ReceiverWords {
    prefix: "twinfold_config_event",
    receiver: "receiver of config events",
    receivers: "receivers of config events",
};

/// Counters of one kind of receivers.
#[derive(Debug, Default)]
pub(crate) struct NotificationCounters {
    pub(crate) notifications: AtomicU64,
    pub(crate) changes: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) cuts: AtomicU64,
    pub(crate) stored: AtomicU64,
    pub(crate) overflowed: AtomicU64,
}

/// What receivers of one kind were notified of, and what waits for them.
#[derive(Debug)]
pub(crate) struct NotificationMetrics {
    pub(crate) counters: NotificationCounters,
    words: ReceiverWords,
    now: Mutex<Now>,
}

/// What waits, as of the last flush.
#[derive(Clone, Copy, Debug, Default)]
struct Now {
    /// Whether this node notifies; else there is nothing.
    is_following: bool,
    gauges: Gauges,
}

impl NotificationCounters {
    fn write(&self, ReceiverWords { prefix, receiver, receivers }: ReceiverWords, out: &mut Exposition) {
        let families = [
            ("notifications", &self.notifications, format!("Notifications accepted by {receivers}.")),
            ("changes", &self.changes, format!("Changes in notifications accepted by {receivers}.")),
            ("failures", &self.failures, format!("Notifications to {receivers} that failed.")),
            ("retries", &self.retries, format!("Notifications sent to a {receiver} that had failed last.")),
            (
                "cuts",
                &self.cuts,
                format!(
                    "Times that changes were removed from the feed before they were read for {receivers}."
                ),
            ),
            ("stored", &self.stored, format!("Changes stored in outboxes of {receivers}.")),
            (
                "overflowed",
                &self.overflowed,
                format!("Changes lost because the outbox of a {receiver} was full."),
            ),
        ];
        for (name, counter, help) in families {
            out.counter(&format!("{prefix}_{name}_total"), &help, counter.load(Ordering::Relaxed));
        }
    }
}

impl NotificationMetrics {
    /// Of receivers of this kind; nothing counted yet.
    pub(crate) fn new(words: ReceiverWords) -> Self {
        Self { counters: NotificationCounters::default(), words, now: Mutex::default() }
    }

    /// Brings the gauges up to date; `None`: another node notifies, or none does.
    pub(crate) fn set_gauges(&self, gauges: Option<Gauges>) {
        *self.now.lock() = gauges.map_or_else(Now::default, |gauges| Now { is_following: true, gauges });
    }

    /// Appends all of them.
    pub(crate) fn write(&self, out: &mut Exposition) {
        self.counters.write(self.words, out);
        let Now { is_following, gauges } = *self.now.lock();
        let ReceiverWords { prefix, receiver, receivers } = self.words;
        let mut gauge =
            |name: &str, help: String, value: u64| out.gauge(&format!("{prefix}_{name}"), &help, value);
        let help = format!("1 if this node notifies {receivers}; of several nodes one does.");
        gauge("following", help, is_following.into());
        let help = format!("Commits that were not yet read for {receivers}.");
        gauge("unread_commits", help, gauges.unread_commits);
        let help = "Commits after the stored position of the reader: read again after a restart.".to_owned();
        gauge("unpassed_commits", help, gauges.unpassed_commits);
        let help = format!(
            "Count of {receivers} whose outbox was not yet looked for, after this node began to notify."
        );
        gauge("unseen", help, gauges.unseen);
        gauge("sending", format!("Notifications to {receivers} under way."), gauges.sending);
        gauge("memory_bytes", format!("Memory of changes that wait for {receivers}."), gauges.memory_bytes);
        let help =
            format!("Count of {receivers} with a full outbox, or one more than half full since it was.");
        gauge("overflowing", help, gauges.overflowing);
        let Gauges { direct, behind, failing, paused, .. } = gauges;
        let states = [("direct", direct), ("outbox", behind), ("failing", failing), ("paused", paused)];
        let help = format!("Count of {receivers} for which changes wait.");
        by_state(out, &format!("{prefix}_waiting"), &help, states.map(receivers_of));
        let help = format!("Changes that a {receiver} has not accepted.");
        by_state(out, &format!("{prefix}_pending_changes"), &help, states.map(messages_of));
    }
}

fn receivers_of((state, backlog): (&'static str, Backlog)) -> (&'static str, u64) {
    (state, backlog.receivers)
}

fn messages_of((state, backlog): (&'static str, Backlog)) -> (&'static str, u64) {
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
