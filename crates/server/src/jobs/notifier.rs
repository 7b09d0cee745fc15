//! What notifies hooks: whom they may call and how, and the client that calls them.

use std::sync::Arc;
use std::time::Duration;

use delivery::BackOff;

use super::sender::Sender;

/// Whom hooks may call, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HooksPolicy {
    /// Whether loopback, private and link-local addresses may be called.
    pub(crate) private_addresses: bool,
    /// How long a hook may take to answer.
    pub(crate) duration_max: Duration,
    /// How long a hook that failed rests.
    pub(crate) back_off: BackOff,
    /// The most changes of one notification.
    pub(crate) changes_max: usize,
    /// The most notifications at once, each to another hook.
    pub(crate) sends_max: usize,
    /// The most changes of one hook in memory.
    pub(crate) window_changes_max: usize,
    /// How long changes may wait in memory; then they are stored in the outbox, so that the position of all can move.
    pub(crate) patience: Duration,
    /// The most bytes of changes in memory, of all hooks together.
    pub(crate) memory_bytes_max: usize,
    /// The most changes in the outbox of one hook.
    pub(crate) outbox_changes_max: u64,
    /// The most bytes in the outbox of one hook.
    pub(crate) outbox_bytes_max: u64,
}

/// How hooks are notified, and the client that calls them.
#[derive(Clone)]
pub(crate) struct Notifier {
    pub(super) policy: HooksPolicy,
    pub(super) sender: Arc<Sender>,
}

impl Notifier {
    /// A notifier.
    ///
    /// # Errors
    ///
    /// If there can be no client for HTTP.
    pub(crate) fn new(policy: HooksPolicy) -> anyhow::Result<Self> {
        let sender = Sender::new(policy.private_addresses, policy.duration_max)?;
        Ok(Self { policy, sender: Arc::new(sender) })
    }
}
