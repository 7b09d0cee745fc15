//! Doors for fuzzing: readers of stored rows, which are private. Not part of the API.

use bytes::Bytes;
use store::{Cursor, Store};

use crate::positions::Position;
use crate::queue::Message;
use crate::status::Status;

/// Reads the value of a row of this kind (0 status of a receiver, 1 message, 2 position of a follower in the feed of `store`), and
/// writes and reads again what was read.
///
/// # Panics
///
/// If what is written again is refused, or means something else.
pub fn read_stored(store: &Store, kind: u8, bytes: &[u8]) {
    let again = |bytes: &[u8]| match kind % 3 {
        0 => Status::of_value(bytes).map(|status| status.to_value()),
        1 => Message::of_row(1, bytes).map(|message| message.to_value()),
        _ => Position::of_value(store, bytes).map(|position| position.to_value()),
    };
    let Some(written) = again(bytes) else { return };
    assert_eq!(again(&written), Some(written.clone()), "what is written is read");
}

/// A value of each kind that [`read_stored`] knows, its kind before it.
pub fn stored_examples() -> Vec<Vec<u8>> {
    let status = Status { next: 7, failures: 2, last_error: "503".into(), ..Status::default() };
    let message = Message { sequence: 1, key: 9, payload: Bytes::from_static(b"payload") };
    let position = Position { advance: 3, cursors: vec![Cursor::from_bytes([1; 16]); 2] };
    let values = [status.to_value(), message.to_value(), position.to_value()];
    (0..).zip(values).map(|(kind, value)| [&[kind], &value[..]].concat()).collect()
}
