//! The key page of deliveries: every row, how its key is built, and how it is read back.
//!
//! ```text
//! partition                             row                     value
//! deliveries/{default tenant}/0         p name                  position of a follower (positions.rs), stamped
//!                                       v name                  nothing, stamped: written anew when its receivers change
//!                                       G name 0 receiver       number of the tenant of a receiver that is being removed
//! outboxes/{tenant}/{hash of receiver}  s receiver              status of the receiver (status.rs), stamped
//!                                       M receiver sequence     a message that it has not acknowledged (queue.rs)
//! ```
//!
//! A receiver is 16 bytes, a sequence number 8, big-endian. A receiver's rows lie in the tenant that it belongs to, and go with it.

use bytes::Bytes;
use store::{Partition, Range, Space, SpaceKind, Tenant, bucket_of};

/// Followers, and versions of the sets of receivers.
pub(crate) const DELIVERIES: Space = Space { id: 48, kind: SpaceKind::Commit, name: "deliveries" };
/// What receivers have not acknowledged.
pub(crate) const OUTBOXES: Space = Space { id: 49, kind: SpaceKind::Commit, name: "outboxes" };

const POSITION: u8 = b'p';
const VERSION: u8 = b'v';
const STATUS: u8 = b's';
/// Found by scans only.
const REMOVAL: u8 = b'G';
/// Found by scans only.
const MESSAGE: u8 = b'M';

/// Where followers keep their positions.
pub(crate) fn deliveries() -> Partition {
    Partition { tenant: Tenant::default(), space: DELIVERIES, bucket: 0 }
}

/// Where all rows of a receiver lie.
pub(crate) fn outbox(tenant: &Tenant, receiver: u128) -> Partition {
    Partition { tenant: tenant.clone(), space: OUTBOXES, bucket: bucket_of(&receiver.to_be_bytes(), 1 << 31) }
}

/// Row `p`.
pub(crate) fn position(name: &str) -> Bytes {
    [&[POSITION], name.as_bytes()].concat().into()
}

/// Row `v`.
pub(crate) fn version(name: &str) -> Bytes {
    [&[VERSION], name.as_bytes()].concat().into()
}

/// Row `G`.
pub(crate) fn removal(name: &str, receiver: u128) -> Bytes {
    [&removals_prefix(name)[..], &receiver.to_be_bytes()].concat().into()
}

/// All rows `G` of a name.
pub(crate) fn removals(name: &str) -> Range {
    Range::prefix(removals_prefix(name))
}

fn removals_prefix(name: &str) -> Vec<u8> {
    [&[REMOVAL], name.as_bytes(), &[0]].concat()
}

/// The receiver in a key of row `G`.
pub(crate) fn receiver_of_removal(key: &[u8]) -> Option<u128> {
    key.last_chunk().map(|bytes| u128::from_be_bytes(*bytes))
}

/// Row `s`.
pub(crate) fn status(receiver: u128) -> Bytes {
    [&[STATUS], &receiver.to_be_bytes()[..]].concat().into()
}

/// Row `M`.
pub(crate) fn message(receiver: u128, sequence: u64) -> Bytes {
    [&[MESSAGE], &receiver.to_be_bytes()[..], &sequence.to_be_bytes()].concat().into()
}

/// The messages of a receiver from this number on.
pub(crate) fn messages_from(receiver: u128, sequence: u64) -> Range {
    let mut range = Range::prefix([&[MESSAGE], &receiver.to_be_bytes()[..]].concat());
    range.start = message(receiver, sequence);
    range
}

/// The sequence number in a key of row `M`.
pub(crate) fn sequence_of(key: &[u8]) -> Option<u64> {
    key.get(17..)?.try_into().ok().map(u64::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_in_the_order_of_their_numbers() {
        let keys = [0, 1, 255, 256, u64::MAX].map(|sequence| message(7, sequence));
        assert!(keys.is_sorted());
        assert_eq!(keys.map(|key| sequence_of(&key)), [0, 1, 255, 256, u64::MAX].map(Some));
        let range = messages_from(7, 2);
        let inside = |key: &Bytes| range.start <= *key && range.end.as_ref().is_none_or(|end| key < end);
        assert!(inside(&message(7, 2)) && inside(&message(7, u64::MAX)));
        assert!(!inside(&message(7, 1)) && !inside(&message(8, 2)) && !inside(&message(6, 3)));
    }
}
