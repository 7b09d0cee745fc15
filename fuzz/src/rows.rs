//! Rows of strands, of outboxes and of histories, and the keys of rows.

use std::sync::LazyLock;

use bytes::Bytes;
use delivery::testing as outboxes;
use entity::history::head::{What, entries};
use entity::history::header::Header;
use entity::{TermId, keys};
use store::key::{Reader, put_escaped, put_f64, put_i64, put_text, put_u32, put_u64};
use store::{Clock, FeedOptions, MemoryOptions, Store, Timestamp};

use store_contract::Model;
use store_contract::models::parse_record;
use store_contract::tenant_rows::{Entry, name_of_key, number_of_key, part_of_key};

use crate::Target;

/// Rows of strands: the first byte says which.
pub(crate) const STRANDS: Target = Target {
    name: "strand_rows",
    run: |bytes| with_kind(bytes, strands::testing::read_stored),
    seeds: strands::testing::stored_examples,
};
/// Rows of deliveries: the first byte says which.
pub(crate) const DELIVERIES: Target = Target {
    name: "delivery_rows",
    run: |bytes| with_kind(bytes, |kind, row| outboxes::read_stored(&STORE, kind, row)),
    seeds: outboxes::stored_examples,
};
/// The header of a history, and head rows.
pub(crate) const HISTORY: Target = Target { name: "history_rows", run: history, seeds: histories };
/// Keys in the order of their parts: each is read back, and ends where the next begins.
pub(crate) const KEY: Target = Target { name: "store_key", run: key, seeds: key_seeds };
/// Entries of the directory of tenants, and keys beside them.
pub(crate) const TENANTS: Target = Target { name: "tenant_rows", run: tenants, seeds: tenant_rows };
/// Rows of the embedded engine.
pub(crate) const ENGINE: Target = Target {
    name: "engine_rows",
    run: store_embedded::testing::read_stored,
    seeds: || vec![[&[1; 25], &b"value"[..]].concat(), [&b"m"[..], &[0; 40]].concat()],
};
/// Keys of entities.
pub(crate) const ENTITY_KEYS: Target =
    Target { name: "entity_keys", run: entity_keys, seeds: entity_key_seeds };

static STORE: LazyLock<Store> =
    LazyLock::new(|| Store::memory(MemoryOptions { clock: Clock::System, feed: FeedOptions::recommended() }));

fn with_kind(bytes: &[u8], run: impl FnOnce(u8, &[u8])) {
    if let Some((kind, row)) = bytes.split_first() {
        run(*kind, row);
    }
}

fn histories() -> Vec<Vec<u8>> {
    let header = Header {
        created: Timestamp(1),
        last: Timestamp(9),
        deleted: Some(Timestamp(7)),
        types: [TermId(3), TermId(400)].into_iter().collect(),
        scopes: vec!["/a/b".into()],
    };
    vec![header.encode(), vec![1, 3, 4, 0, 1, 2, 3]]
}

fn history(bytes: &[u8]) {
    if let Some(header) = Header::parse(bytes) {
        assert_eq!(Header::parse(&header.encode()), Some(header), "what is written is read");
    }
    for entry in entries(bytes).into_iter().flatten().flatten() {
        if let What::Written(instance) = entry.what {
            let _ = (instance.value(), instance.unit_code(), instance.extras().count());
        }
    }
}

fn key_seeds() -> Vec<Vec<u8>> {
    let mut key = vec![0];
    put_u32(&mut key, 7);
    key.push(1);
    put_text(&mut key, "urn:x:1");
    key.push(2);
    put_i64(&mut key, -5);
    key.push(3);
    put_f64(&mut key, -0.5);
    vec![key, b"\x01a\0b\x01\x01c\0\x04\xff\xff\xff\xff\xff\xff\xff\xff".to_vec()]
}

/// The first byte of each part says what it is.
fn key(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    while let Some(part) = reader.byte() {
        let before = reader.rest();
        let mut again = Vec::new();
        let is_read = match part % 5 {
            0 => reader.u32().map(|number| put_u32(&mut again, number)),
            1 => reader.text().map(|text| put_text(&mut again, &text)),
            2 => reader.i64().map(|number| put_i64(&mut again, number)),
            // Zero and minus zero are one key.
            3 => reader.f64().map(|number| put_f64(&mut again, number)),
            _ => reader.u64().map(|number| put_u64(&mut again, number)),
        };
        if is_read.is_none() {
            break;
        }
        let taken = before.len() - reader.rest().len();
        if part % 5 != 3 && part % 5 != 1 {
            assert_eq!(before.get(..taken), Some(&*again), "a number has one key");
        }
    }
    in_order(bytes);
}

/// Two texts and their keys are in the same order, whatever is in them.
fn in_order(bytes: &[u8]) {
    let (left, right) = bytes.split_at(bytes.len() / 2);
    let key = |bytes: &[u8]| {
        let mut key = Vec::new();
        put_escaped(&mut key, bytes);
        key.push(0);
        key
    };
    assert_eq!(key(left).cmp(&key(right)), left.cmp(right), "keys sort as what they are of");
    if let Ok(text) = std::str::from_utf8(left) {
        let mut key = Vec::new();
        put_text(&mut key, text);
        let mut reader = Reader::new(&key);
        assert_eq!(reader.text().as_deref(), Some(text));
        assert!(reader.rest().is_empty());
    }
}

fn tenant_rows() -> Vec<Vec<u8>> {
    let mut entry = Entry::new(7, Timestamp(-1));
    entry.put(Model { id: 1, name: "one" }, Bytes::from_static(b"kept"));
    vec![entry.to_bytes().to_vec(), vec![1, 1, 2, 9, 9]]
}

fn tenants(bytes: &[u8]) {
    if let Some(entry) = Entry::parse(bytes) {
        assert_eq!(Entry::parse(&entry.to_bytes()), Some(entry), "what is written is read");
    }
    let _ = (name_of_key(bytes, 1), part_of_key(bytes), number_of_key(bytes));
    let model = |id| Some(Model { id, name: "any" });
    let _ = parse_record(Bytes::copy_from_slice(bytes), model);
}

fn entity_key_seeds() -> Vec<Vec<u8>> {
    vec![
        keys::entity("urn:x:1").to_vec(),
        keys::consumer("alarms").to_vec(),
        keys::folded("urn:x:1").to_vec(),
        b"V\0\0\0\x03\0\0\0\x07s\x61\0urn:x:1".to_vec(),
        b"h urn:x:1\0\x80\0\0\0\0\0\0\x01".to_vec(),
    ]
}

fn entity_keys(bytes: &[u8]) {
    let _ = (keys::head_of_key(bytes), keys::type_of_key(bytes), keys::attribute_of_key(bytes));
    if let Some(name) = keys::consumer_of_key(bytes) {
        assert_eq!(keys::consumer(name), bytes);
    }
    if let Some(id) = keys::id_of_key(bytes) {
        assert!(bytes.ends_with(id.as_bytes()), "an id ends the key that it was read from");
        assert_eq!(keys::id_of_key(&keys::entity(id)), Some(id));
    }
}
