//! Doors for fuzzing: stored bytes that are read, whatever they are.

use std::sync::Arc;

use bytes::Bytes;
use lang_yang::testing::{SchemaBuilder, string};
use lang_yang::{Content as Given, DataNode, Leaf, Schema, Value, ValueKind};

use crate::page::{Child, Content, Page, PageKind, Summary};
use crate::record::{Record, check};
use crate::root::Body;
use crate::{
    Attempt, Depth, Edit, Label, PageCache, PageLimits, Pages, Place, Position, Root, Tree, apply_with,
    restore,
};

/// Labels of a damaged tree that are read one by one.
const LABELS_READ: usize = 100;
/// Small pages: few entries make a tree of several levels.
const LIMITS: PageLimits = PageLimits { inline_bytes_max: 300, leaf_bytes_max: 300, interior_bytes_max: 300 };
/// Levels that a root says a damaged tree has.
const HEIGHTS: [usize; 4] = [0, 1, 2, 64];

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

/// An entry of the list.
fn entry(schema: &Schema, number: usize) -> DataNode {
    let leaf = |name: &str, texts: Vec<String>| {
        let node = schema.by_name(name).first().expect("a node of the schema");
        let value = |text: String| Value { kind: ValueKind::Text, text: text.into() };
        Leaf { schema: *node, values: texts.into_iter().map(value).collect() }
    };
    let leaves = vec![leaf("k", vec![number.to_string()]), leaf("v", vec!["x".repeat(number); number % 4])];
    let list = *schema.by_name("l").first().expect("a node of the schema");
    DataNode { schema: list, content: Given { leaves, children: Vec::new() } }
}

/// Examples for [`read_stored`]: roots, pages, records and labels that were written.
///
/// # Panics
///
/// If edits of a small tree are refused.
pub fn stored_examples() -> Vec<Vec<u8>> {
    let schema = schema();
    let entry = |number: usize| entry(&schema, number);
    let mut examples = Vec::new();
    for count in [3, 60] {
        let edit = Edit::Create {
            parent: Place::Label(Label::top()),
            nodes: (0..count).map(entry).collect(),
            at: Position::Last,
        };
        let root = Root::empty();
        let pages = Pages::new(Arc::new(PageCache::new(0)));
        let attempt = Attempt { version: 1, nonce: 2 };
        let applied = apply_with(&Tree::new(&schema, &root, &pages), &[edit], attempt, LIMITS);
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
            let schema = schema();
            if let Ok(root) = Root::decode(&schema, &stored) {
                let again = Root::decode(&schema, &root.encode().into()).expect("what is written is read");
                assert_eq!(again, root, "what is written is read");
                assert!(root.records() == again.records() && root.bytes() == again.bytes());
                walk(&Tree::new(&schema, &root, &Pages::new(Arc::new(PageCache::new(0)))));
            }
        }
        1 => {
            if let Ok(page) = Page::from_bytes(stored.clone()) {
                read_page(&page);
            }
            walk_below(&stored);
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

/// Walks over a tree that hangs on a page which has this name wherever another names a page below.
fn walk_below(bytes: &Bytes) {
    let (schema, pages) = (schema(), Pages::new(Arc::new(PageCache::new(0))));
    let id = Attempt { version: 1, nonce: 2 }.page(0);
    if pages.insert(&schema, id, bytes.clone()).is_err() {
        return;
    }
    // Every page that it names is that page again: none of them is where it belongs.
    if let Ok(page) = Page::from_bytes(bytes.clone()) {
        let mut entries = page.entries();
        while entries.next() {
            if let Content::Child(Child { id, .. }) | Content::Overflow(id, _) = entries.content() {
                pages.insert(&schema, id, bytes.clone()).expect("it was taken before");
            }
        }
    }
    for (height, records) in HEIGHTS.into_iter().flat_map(|height| [(height, 1), (height, u64::MAX)]) {
        let top = Child { id, records, bytes: 1, has_overflow: true, summary: Summary(u64::MAX) };
        walk(&Tree::new(&schema, &Root { records, body: Body::Paged { top, height } }, &pages));
    }
}

/// Reads a tree in every way; whether it is damaged, it says.
fn walk(tree: &Tree<'_>) {
    let _ = tree.content(&Label::top(), Depth::All);
    let _ = tree.content(&Label::top(), Depth::Levels(1));
    let (mut cursor, mut labels) = (tree.cursor(&Label::top()), Vec::new());
    while let Ok(Some((label, record))) = cursor.next() {
        assert!(record.leaves().all(|(leaf, _)| !tree.schema().is_entry(leaf)), "leaves are leaves");
        labels.push(label);
    }
    for label in labels.iter().take(LABELS_READ) {
        let _ = (tree.record(label), tree.path(label), label.parent(tree.schema()));
    }
    let list = *tree.schema().by_name("l").first().expect("a node of the schema");
    let mut only = tree.cursor(&Label::top()).only(&[list]);
    while let Ok(Some(_)) = only.next() {}
    let _ = tree.find_entry(&Label::top(), list, &["7"]);
    let parent = || Place::Label(Label::top());
    let create =
        |number, at| Edit::Create { parent: parent(), nodes: [entry(tree.schema(), number)].into(), at };
    let ends = labels.first().into_iter().chain(labels.last());
    let mut edits: Vec<Edit> =
        ends.map(|label| Edit::Delete { entry: Place::Label(label.clone()) }).collect();
    edits.push(Edit::DeleteList { parent: parent(), list });
    edits.extend([create(7, Position::First), create(99, Position::Last)]);
    edits.push(Edit::ReplaceList { parent: parent(), list, nodes: [entry(tree.schema(), 70)].into() });
    let attempt = Attempt { version: 9, nonce: 9 };
    for edit in edits {
        let _ = apply_with(tree, &[edit], attempt, LIMITS);
    }
    let empty = Root::empty();
    let nothing = Tree { root: &empty, ..*tree };
    let _ = (restore(tree, &nothing, attempt), restore(&nothing, tree, attempt));
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
    use std::sync::Arc;

    use super::{LIMITS, entry, read_stored, stored_examples};
    use crate::page::{Child, Content, Page, Summary};
    use crate::root::Body;
    use crate::{
        ApplyError, Attempt, Edit, Fault, Label, PageCache, Pages, Place, Position, Root, Tree, apply_with,
        restore,
    };

    #[test]
    fn examples_are_whole_and_read() {
        let examples = stored_examples();
        let kinds: Vec<u8> = examples.iter().map(|example| example[0]).collect();
        assert!([0, 1, 2, 3].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
        for example in &examples {
            let rest = bytes::Bytes::copy_from_slice(&example[1..]);
            match example[0] {
                0 => drop(Root::decode(&super::schema(), &rest).unwrap()),
                1 => drop(Page::from_bytes(rest).unwrap()),
                2 => crate::record::check(&rest).unwrap(),
                _ => {}
            }
            read_stored(example[0], &example[1..]);
        }
    }

    /// A tree whose top is stored so, which the root says has so many levels.
    fn check_damage(bytes: &[u8], height: usize) {
        let (schema, pages) = (super::schema(), Pages::new(Arc::new(PageCache::new(0))));
        let id = Attempt { version: 1, nonce: 2 }.page(9_999);
        pages.insert(&schema, id, bytes::Bytes::copy_from_slice(bytes)).unwrap();
        let top = Child { id, records: 60, bytes: 1 << 20, has_overflow: false, summary: Summary(u64::MAX) };
        let root = Root { records: 60, body: Body::Paged { top, height } };
        let tree = Tree::new(&schema, &root, &pages);
        let edit = Edit::Create {
            parent: Place::Label(Label::top()),
            nodes: [entry(&schema, 99)].into(),
            at: Position::Last,
        };
        let attempt = Attempt { version: 9, nonce: 9 };
        let damage = |error: ApplyError| matches!(error, ApplyError::Fault(fault) if fault.is_damage());
        assert!(apply_with(&tree, &[edit], attempt, LIMITS).is_err_and(damage), "{height} {bytes:?}");
        let copied = restore(&tree, &Tree { root: &Root::empty(), ..tree }, attempt);
        assert!(copied.is_err_and(|fault| fault.is_damage()), "{height} {bytes:?}");
    }

    #[test]
    fn pages_of_another_kind_than_their_place_are_damage() {
        let mut seen = [0; 3];
        for example in stored_examples().iter().filter(|example| example[0] == 1) {
            let kind = usize::from(example[2]);
            seen[kind] += 1;
            match kind {
                // A leaf page has no pages below, that of a record has no keys; what pages of pages do is seen where they name
                // themselves.
                0 => check_damage(&example[1..], 1),
                1 => {}
                _ => [0, 1].into_iter().for_each(|height| check_damage(&example[1..], height)),
            }
        }
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    }

    #[test]
    fn a_record_where_keys_should_be_is_damage_and_not_an_absence() {
        let (schema, pages) = (super::schema(), Pages::new(Arc::new(PageCache::new(0))));
        let id = Attempt { version: 1, nonce: 2 }.page(0);
        let record = crate::record::encode(&schema, &entry(&schema, 7).content.leaves);
        pages.insert(&schema, id, crate::page::overflow_page(&record)).unwrap();
        let top = Child { id, records: 1, bytes: 1, has_overflow: true, summary: Summary(u64::MAX) };
        let root = Root { records: 1, body: Body::Paged { top, height: 0 } };
        let tree = Tree::new(&schema, &root, &pages);
        let list = schema.by_name("l")[0];
        let damage = |fault: Fault| fault.is_damage();
        assert!(tree.record(&Label::top()).is_err_and(damage));
        assert!(tree.find_entry(&Label::top(), list, &["7"]).is_err_and(damage));
        assert!(tree.cursor(&Label::top()).next().is_err_and(damage));
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

    #[test]
    fn what_is_of_another_schema_is_no_page_and_no_root() {
        use lang_yang::testing::{SchemaBuilder, string};

        use crate::{Attempt, PageCache, Pages};

        // Labels lead elsewhere; leaves are others; a key is missing; the same nodes, and more behind them.
        let elsewhere = SchemaBuilder::new("m", "m").container("l", |node| node.leaf("k", string())).build();
        let others = SchemaBuilder::new("m", "m")
            .list("l", &["k"], |list| {
                list.leaf("k", string()).container("c", |node| node.leaf("t", string()))
            })
            .build();
        let keys = SchemaBuilder::new("m", "m")
            .list("l", &["k", "y", "z"], |list| {
                list.leaf("k", string()).leaf("y", string()).leaf("z", string())
            })
            .build();
        let wider = SchemaBuilder::new("m", "m")
            .list("l", &["k"], |list| list.leaf("k", string()).leaf_list("v", string()).leaf("z", string()))
            .build();
        let mut seen = [0, 0];
        for example in stored_examples() {
            let rest = bytes::Bytes::copy_from_slice(&example[1..]);
            let is_taken = |schema| match example[0] {
                0 => Root::decode(schema, &rest).is_ok(),
                _ => {
                    let pages = Pages::new(std::sync::Arc::new(PageCache::new(0)));
                    pages.insert(schema, Attempt { version: 1, nonce: 1 }.page(1), rest.clone()).is_ok()
                }
            };
            let has_labels = match example[0] {
                0 => Root::decode(&super::schema(), &rest).unwrap().is_inline(),
                1 => {
                    let page = Page::from_bytes(rest.clone()).unwrap();
                    let mut entries = page.entries();
                    // A record that has a page of its own is checked with its entry.
                    if !entries.next() {
                        continue;
                    }
                    let is_at_label = entries.key().first() != Some(&crate::label::NO_LABEL);
                    match entries.content() {
                        Content::Overflow(..) => continue,
                        Content::Value(_) => is_at_label,
                        Content::Child(_) => false,
                    }
                }
                _ => continue,
            };
            seen[usize::from(has_labels)] += 1;
            assert!(is_taken(&wider));
            for (name, schema) in [("elsewhere", &elsewhere), ("others", &others), ("keys", &keys)] {
                assert_eq!(is_taken(schema), !has_labels, "{name}: {example:?}");
            }
        }
        assert!(seen[0] > 1 && seen[1] > 2, "{seen:?}");
    }
}
