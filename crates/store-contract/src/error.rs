//! Why the store refuses.

/// A refusal, and what was being done.
#[derive(Debug, thiserror::Error)]
#[error("{kind}: {action}")]
pub struct Error {
    kind: ErrorKind,
    action: String,
    ticket: Option<Ticket>,
    limit: Option<Box<LimitExceeded>>,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// More than a limit allows: of whatever has a limit with a name. Whoever words it says what was counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("at most {max} are allowed ({name})")]
pub struct LimitExceeded {
    /// The name of the limit: that of a constant or a setting.
    pub name: &'static str,
    /// The most that it allows.
    pub max: u64,
    /// What there was; at least so much, if it was not counted to its end.
    pub got: u64,
}

impl LimitExceeded {
    /// Refuses more than `max`.
    ///
    /// # Errors
    ///
    /// The limit, with what there was.
    #[inline]
    pub fn check(name: &'static str, max: usize, got: usize) -> Result<(), Self> {
        if got > max { Err(Self { name, max: max as u64, got: got as u64 }) } else { Ok(()) }
    }
}

/// What an engine remembers a commit by whose outcome it does not know, and asks for when it is resolved. Engines differ in
/// what they keep there; some have none.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Ticket(pub u64);

/// The decision a caller can take on a refusal.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum ErrorKind {
    /// A condition did not hold: nothing was written; read again and retry.
    #[error("conflict")]
    Conflict,
    /// A commit names an epoch of its partition that is over: nothing was written. Read again, append again in the new epoch
    /// what goes ahead of the commit, and retry.
    #[error("fenced off")]
    Fenced,
    /// A read of several pages met a commit in its partition: read again, from the first page
    /// (`store::ReadAttempts`).
    #[error("changed meanwhile")]
    Changed,
    /// What a stamp or a cursor names is of another life of the store: before a restore, or before an end that may have lost
    /// commits. Read again; a reader of the feed begins at its beginning or its end.
    #[error("of another incarnation of the store")]
    OtherIncarnation,
    /// The outcome is not known: ask `store::Store::resolve`.
    #[error("outcome unknown")]
    Unknown,
    /// The engine cannot serve now (closed, failed disk): nothing was acknowledged.
    #[error("store unavailable")]
    Unavailable,
    /// The disk is full: nothing was acknowledged, and writes are taken again once there is room. A write that was under
    /// way when it became full may be found later, as after a loss of power.
    #[error("disk full")]
    NoSpace,
    /// The store's folder was removed, renamed or replaced while it was open: nothing is written until it is opened again.
    #[error("data folder lost")]
    FolderLost,
    /// A row, commit or page beyond its named limit.
    #[error("too large")]
    TooLarge,
    /// Stored bytes are damaged, or of another format version.
    #[error("store damaged or of another format")]
    Corrupt,
    /// Another server has locked the folder.
    #[error("store in use by another process")]
    Locked,
    /// The tenant was removed: nothing was done. The action is its name.
    #[error("tenant removed")]
    TenantRemoved,
    /// The call asks for what cannot be (an append into a commit space, a restore onto what holds
    /// something): the caller's mistake; nothing was done.
    #[error("refused")]
    Misuse,
}

/// What the system says where there is no room, for the file system as a whole or for who writes.
const NO_SPACE: [&str; 2] = ["No space left on device", "Disk quota exceeded"];

impl ErrorKind {
    /// Whether a commit was refused because another came first: it is to be thought again, and committed anew.
    pub fn is_lost_race(self) -> bool {
        matches!(self, Self::Conflict | Self::Fenced)
    }

    /// Whether a refusal is of the store as a whole, not of what was read or written: a job has nothing to go on with then.
    pub fn is_outage(self) -> bool {
        matches!(self, Self::Unavailable | Self::NoSpace | Self::FolderLost | Self::Locked)
    }

    /// `NoSpace` if that is what an engine or the system says, else the kind itself: some engines tell it by words alone.
    pub fn or_no_space(self, said: &str) -> Self {
        if NO_SPACE.iter().any(|words| said.contains(words)) { Self::NoSpace } else { self }
    }
}

impl Error {
    /// A refusal of `kind` while doing `action`.
    pub fn new(kind: ErrorKind, action: impl Into<String>) -> Self {
        Self { kind, action: action.into(), ticket: None, limit: None, source: None }
    }

    /// The refusal to do `action` for its size. The text of the limit follows that of the action.
    pub fn too_large(action: impl std::fmt::Display, limit: LimitExceeded) -> Self {
        let refusal = Self::new(ErrorKind::TooLarge, format!("{action}: {limit}"));
        Self { limit: Some(Box::new(limit)), ..refusal }
    }

    /// The same, with what lies beneath.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same, with what the engine remembers the commit by.
    #[must_use]
    pub fn with_ticket(mut self, ticket: Ticket) -> Self {
        self.ticket = Some(ticket);
        self
    }

    /// What to resolve a commit with whose outcome is not known, if the engine has it.
    pub fn ticket(&self) -> Option<Ticket> {
        self.ticket
    }

    /// The limit that was exceeded, of what is `TooLarge` and was counted.
    pub fn limit(&self) -> Option<LimitExceeded> {
        self.limit.as_deref().copied()
    }

    /// What was being done.
    pub fn action(&self) -> &str {
        &self.action
    }

    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
