//! Who receives messages.

use store::{Cursor, Tenant};

/// Who receives messages.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Never given again, not even under the same name: what one was sent says nothing of another.
    pub id: u128,
    /// Whose rows its outbox is among.
    pub tenant: Tenant,
    /// By shard, the end of the feed when it was made: changes before are not for it.
    pub since: Vec<Cursor>,
    /// Whether it is sent nothing for now; its messages wait.
    pub is_paused: bool,
}
