//! Doors for fuzzing: readers of stored rows, which are private. Not part of the API.

use crate::format::{
    Stored, change_tenant, change_write_id, parse_incarnation, parse_mark, parse_sequence, sequence_of_key,
};

/// Reads bytes as a value of every kind that the engine stores, and as keys: the first twelve as a key, the rest as its value.
pub fn read_stored(bytes: &[u8]) {
    if let Some(stored) = Stored::parse(bytes) {
        assert!(bytes.ends_with(stored.value), "a value ends its row");
    }
    let _ = (parse_sequence(bytes), parse_incarnation(bytes), sequence_of_key(bytes));
    let _ = (change_write_id(bytes), change_tenant(bytes));
    let (key, value) = bytes.split_at(bytes.len().min(12));
    let _ = parse_mark(key, value);
}
