//! What a delivery did, and what it has now: for metrics and for tests that count.

/// What a delivery did since it began.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Pages of the feed that were read.
    pub pages: u64,
    /// Changes in them.
    pub changes: u64,
    /// Matches of them.
    pub matches: u64,
    /// Batches that were acknowledged.
    pub batches: u64,
    /// Messages in them.
    pub messages: u64,
    /// Batches that failed.
    pub failures: u64,
    /// Batches that were sent to a receiver whose last batch had failed.
    pub retries: u64,
    /// Messages that were stored in outboxes.
    pub stored: u64,
    /// Messages lost because an outbox was full.
    pub overflowed: u64,
    /// Times that the feed was cut before it was read.
    pub cuts: u64,
    /// Statuses of receivers that were looked up.
    pub statuses_read: u64,
}

/// What a delivery has now.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Gauges {
    /// Commits of the feed that were not read yet, over all shards.
    pub unread_commits: u64,
    /// Commits of the feed behind the stored position, over all shards: what a follower that begins anew reads again.
    pub unpassed_commits: u64,
    /// Receivers whose outbox was not looked for yet, since the follower began.
    pub unseen: u64,
    /// Batches under way.
    pub sending: u64,
    /// Bytes of messages in memory.
    pub memory_bytes: u64,
    /// Receivers whose outbox is full, or was lately.
    pub overflowing: u64,
    /// Receivers that keep up and have messages in memory.
    pub direct: Backlog,
    /// Receivers that are sent from their outboxes.
    pub behind: Backlog,
    /// Receivers that failed, and are tried again after a pause.
    pub failing: Backlog,
    /// Receivers that are switched off.
    pub paused: Backlog,
}

/// What receivers of one state have not acknowledged.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Backlog {
    /// Receivers with messages.
    pub receivers: u64,
    /// Messages that they have not acknowledged.
    pub messages: u64,
}

impl Backlog {
    pub(crate) fn add(&mut self, messages: u64) {
        self.receivers += u64::from(messages > 0);
        self.messages += messages;
    }
}
