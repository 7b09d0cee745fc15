//! Doors for fuzzing: readers of stored forms, which are private. Not part of the API.

use crate::{graphs, keys, objects, state, tasks, work};

/// Reads a stored value of this kind (0 task, 1 object, 2 entry of the directory, 3 state, 4 cursor of a task, 5 key,
/// 6 counts of objects), and writes and reads
/// again what was read.
///
/// # Panics
///
/// If what is written again is refused, or means something else.
pub fn read_stored(kind: u8, bytes: &[u8]) {
    let again = |bytes: &[u8]| match kind % 7 {
        0 => tasks::printed_again(bytes),
        1 => objects::printed_again(bytes),
        2 => graphs::printed_again(bytes),
        3 => state::printed_again(bytes),
        4 => Ok(work::printed_again(bytes)),
        6 => objects::counts_printed_again(bytes),
        _ => {
            read_key(bytes);
            Err(graph::Malformed)
        }
    };
    let Ok(written) = again(bytes) else { return };
    assert_eq!(again(&written), Ok(written.clone()), "what is written is read");
}

fn read_key(key: &[u8]) {
    if let Some(part) = keys::part_of_key(key) {
        assert_eq!(keys::part_of_key(&keys::part(part)), Some(part));
    }
    keys::number_of_task(key);
    keys::name_of_variable(key);
    keys::id_of_object_value(key);
    if let Some(id) = keys::id_of_object(key) {
        assert_eq!(keys::id_of_object(&keys::object("kind", &id)), Some(id));
    }
}

/// A stored value of each kind that [`read_stored`] knows, its kind before it.
pub fn stored_examples() -> Vec<Vec<u8>> {
    let time = [0; 16];
    let task = [&[1, 2, 1, b'n', 1, b'k', 2, b'{', b'}', 1, 1, 3, 7, 9, 2, 0][..], &time, &[0]].concat();
    let object = vec![1, 2, b'{', b'}', 1, 1, b'i', 1, b'v'];
    let info = [&[1, 0][..], &time[..8], &[1]].concat();
    let state = vec![0, 2, 1, 5, 4, 3, 2];
    let cursor = vec![3, 7, 1, 0, 2, b'e', b'k'];
    let key = b"okind\0id\0".to_vec();
    let counts = vec![1, 1, 1, b'k', 3];
    let forms = [task, object, info, state, cursor, key, counts];
    (0..).zip(forms).map(|(kind, form)| [&[kind], form.as_slice()].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_read() {
        for example in stored_examples() {
            let (kind, bytes) = example.split_first().expect("it has a kind");
            match kind {
                0 => assert!(tasks::printed_again(bytes).is_ok()),
                1 => assert!(objects::printed_again(bytes).is_ok()),
                2 => assert!(graphs::printed_again(bytes).is_ok()),
                3 => assert!(state::printed_again(bytes).is_ok()),
                4 => assert_eq!(work::printed_again(bytes), bytes),
                6 => assert!(objects::counts_printed_again(bytes).is_ok()),
                _ => assert!(keys::id_of_object(bytes).is_some()),
            }
            read_stored(*kind, bytes);
        }
    }
}
