//! Doors for fuzzing: stored bytes that are read, whatever they are.

use bytes::Bytes;
use lang_yang::testing::{SchemaBuilder, string};
use lang_yang::{Content as Given, DataNode, Leaf, Schema, Value, ValueKind};

use crate::page::{Content, Page, PageKind};
use crate::record::{Record, check};
use crate::{Attempt, Edit, Label, PageCache, PageLimits, Pages, Place, Position, Root, Tree, apply_with};

fn schema() -> Schema {
    SchemaBuilder::new("m", "m")
        .top(|top| {
            top.list("l", &["k"], |list| {
                let list = list.leaf("k", string()).leaf_list("v", string());
                list.container("c", |inner| inner.list("e", &[], |entry| entry.leaf("t", string())))
            })
        })
        .build()
}

/// Examples for [`read_stored`]: roots, pages, records and labels that were written.
///
/// # Panics
///
/// If edits of a small tree are refused.
pub fn stored_examples() -> Vec<Vec<u8>> {
    let schema = schema();
    let leaf = |name: &str, texts: Vec<String>| {
        let node = schema.by_name(name).first().expect("a node of the schema");
        let value = |text: String| Value { kind: ValueKind::Text, text: text.into() };
        Leaf { schema: *node, values: texts.into_iter().map(value).collect() }
    };
    let list = *schema.by_name("l").first().expect("a node of the schema");
    let entry = |number: usize| {
        let leaves =
            vec![leaf("k", vec![number.to_string()]), leaf("v", vec!["x".repeat(number); number % 4])];
        DataNode { schema: list, content: Given { leaves, children: Vec::new() } }
    };
    let mut examples = Vec::new();
    for count in [3, 60] {
        let edit = Edit::Create {
            parent: Place::Label(Label::top()),
            nodes: (0..count).map(entry).collect(),
            at: Position::Last,
        };
        let root = Root::empty();
        let pages = Pages::new(std::sync::Arc::new(PageCache::new(0)));
        let limits = PageLimits { inline_bytes_max: 300, leaf_bytes_max: 300, interior_bytes_max: 300 };
        let attempt = Attempt { version: 1, nonce: 2 };
        let applied = apply_with(&Tree::new(&schema, &root, &pages), &[edit], attempt, limits);
        let applied = applied.expect("entries are added to an empty tree");
        examples.push([&[0], applied.root.encode().as_slice()].concat());
        examples.extend(applied.pages.iter().map(|(_, bytes)| [&[1], bytes.as_ref()].concat()));
    }
    examples.push([&[2], crate::record::encode(&schema, &entry(7).content.leaves).as_slice()].concat());
    examples.push(vec![3, 1, 0x80, 3, 1, 0x80, 0xFE, 0x7F]);
    examples
}

/// Reads stored bytes: by the first one a root, a page, a record or a label.
///
/// # Panics
///
/// If what was taken for whole is read otherwise than it lies there.
pub fn read_stored(kind: u8, bytes: &[u8]) {
    let stored = Bytes::copy_from_slice(bytes);
    match kind {
        0 => {
            if let Ok(root) = Root::decode(&stored) {
                let again = Root::decode(&root.encode().into()).expect("what is written is read");
                assert_eq!(again, root, "what is written is read");
                assert!(root.records() == again.records() && root.bytes() == again.bytes());
            }
        }
        1 => {
            if let Ok(page) = Page::from_bytes(stored) {
                read_page(&page);
            }
        }
        2 => {
            if check(bytes).is_ok() {
                let schema = schema();
                let list = schema.by_name("l").first().copied();
                let record = Record::new(&schema, list, stored);
                let keys = list.map_or(&[][..], |list| schema.keys(list));
                for key in keys {
                    let _ = record.leaf(*key).map(Iterator::count);
                }
                assert!(record.is_empty() == bytes.is_empty());
            }
        }
        _ => {
            let schema = schema();
            if let Some(label) = Label::from_bytes(&schema, bytes) {
                assert_eq!(label.as_bytes(), bytes);
                let parent = label.parent(&schema);
                assert!(parent.is_none_or(|parent| label.is_within(&parent) && parent < label));
            }
        }
    }
}

/// Every entry is found by its key, in ascending order.
fn read_page(page: &Page) {
    if page.kind() == PageKind::Overflow {
        return;
    }
    let (mut entries, mut found, mut floor) = (page.entries(), page.entries(), page.entries());
    let mut before: Option<Vec<u8>> = None;
    while entries.next() {
        let key = entries.key().to_vec();
        assert!(before.as_ref().is_none_or(|before| *before < key), "keys ascend");
        assert!(found.find(&key) && found.content() == entries.content(), "a key is found");
        assert!(floor.seek_floor(&key) && floor.key() == key, "a key is its own floor");
        let has_before = floor.seek_last_below(&key);
        assert_eq!(has_before.then(|| floor.key().to_vec()), before, "the key before is found");
        if let Content::Value(value) = entries.content() {
            assert_eq!(entries.value().as_deref(), Some(value));
        }
        before = Some(key);
    }
}

#[cfg(test)]
mod tests {
    use super::{read_stored, stored_examples};
    use crate::Root;
    use crate::page::Page;

    #[test]
    fn examples_are_whole_and_read() {
        let examples = stored_examples();
        let kinds: Vec<u8> = examples.iter().map(|example| example[0]).collect();
        assert!([0, 1, 2, 3].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
        for example in &examples {
            let rest = bytes::Bytes::copy_from_slice(&example[1..]);
            match example[0] {
                0 => drop(Root::decode(&rest).unwrap()),
                1 => drop(Page::from_bytes(rest).unwrap()),
                2 => crate::record::check(&rest).unwrap(),
                _ => {}
            }
            read_stored(example[0], &example[1..]);
        }
    }

    #[test]
    fn a_page_cut_off_or_of_another_version_is_none() {
        for example in stored_examples().iter().filter(|example| example[0] == 1) {
            let bytes = &example[1..];
            Page::from_bytes(bytes::Bytes::copy_from_slice(&bytes[..bytes.len() - 1])).unwrap_err();
            let other = [&[bytes[0] + 1], &bytes[1..]].concat();
            Page::from_bytes(other.into()).unwrap_err();
        }
    }
}
