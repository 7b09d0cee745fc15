//! Whether what is stored is of the schema that it is read with. What was damaged, or is of another schema, is refused where it is
//! loaded, so that what walks over labels and leaves need not ask.

use lang_yang::{NodeId, Schema};
use store::wire::Malformed;

use crate::label::{LabelPath, NO_LABEL};
use crate::page::{Content, Page, PageKind};
use crate::record::{RawLeaves, Values};

/// Checks a page: its labels lead to containers and lists of the schema, and their records are of these. Separators of interior
/// pages are no labels; a record that has a page of its own is checked with its entry. Cost: a look at each label and leaf.
///
/// # Errors
///
/// [`Malformed`] if it is of another schema.
pub(crate) fn check_page(schema: &Schema, page: &Page) -> Result<(), Malformed> {
    if page.kind() != PageKind::Leaf {
        return Ok(());
    }
    let (mut path, mut entries) = (LabelPath::default(), page.entries());
    while entries.next() && entries.key().first() != Some(&NO_LABEL) {
        if !path.try_go(schema, entries.key()) {
            return Err(Malformed);
        }
        if let Content::Value(record) = entries.content() {
            check_record(schema, path.node(), record)?;
        }
    }
    Ok(())
}

/// Checks a record: its leaves are of its container or list, and those of a list entry have all keys. Cost: a look at each leaf.
///
/// # Errors
///
/// [`Malformed`] if it is of something else.
pub(crate) fn check_record(schema: &Schema, node: Option<NodeId>, record: &[u8]) -> Result<(), Malformed> {
    let children = schema.children(node);
    let keys = node.map_or(&[][..], |node| schema.keys(node));
    let mut keys_found = 0;
    for raw in RawLeaves::new(record) {
        let leaf = children.get(raw.slot as usize).ok_or(Malformed)?;
        if schema.is_entry(*leaf) {
            return Err(Malformed);
        }
        let values: Values<'_> = raw.values();
        keys_found += usize::from(keys.contains(leaf) && values.len() == 1);
    }
    if keys_found == keys.len() { Ok(()) } else { Err(Malformed) }
}
