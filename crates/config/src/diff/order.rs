//! Which entries of a list were put elsewhere.

use std::collections::HashMap;

use lang_yang::NodeId;

use crate::apply::ascending;
use crate::cache::Fault;
use crate::diff::{DiffFault, Difference};
use crate::find::key_values;
use crate::label::Label;
use crate::tree::Tree;

type Entries = Vec<(Vec<Box<str>>, Label)>;

/// The fewest entries of a list whose moves explain its new order. Cost: a read of the list in both trees.
pub(super) fn moved(
    (old, parent_old): (Tree<'_>, &Label),
    (new, parent_new): (Tree<'_>, &Label),
    list: NodeId,
) -> Result<Vec<Difference>, DiffFault> {
    let before = entries(old, parent_old, list).map_err(DiffFault::Old)?;
    let after = entries(new, parent_new, list).map_err(DiffFault::New)?;
    let at: HashMap<&[Box<str>], usize> =
        before.iter().enumerate().map(|(at, (keys, _))| (keys.as_slice(), at)).collect();
    let matched: Vec<Option<usize>> =
        after.iter().map(|(keys, _)| at.get(keys.as_slice()).copied()).collect();
    let mut stay = ascending(&matched).into_iter().peekable();
    let mut moved = Vec::new();
    for (position, ((_, new), old)) in after.iter().zip(&matched).enumerate() {
        if stay.next_if_eq(&position).is_some() {
            continue;
        }
        if let Some((_, old)) = old.and_then(|old| before.get(old)) {
            moved.push(Difference::Moved { old: old.clone(), new: new.clone() });
        }
    }
    Ok(moved)
}

fn entries(tree: Tree<'_>, parent: &Label, list: NodeId) -> Result<Entries, Fault> {
    let (mut cursor, mut entries) = (tree.entries(parent, list), Vec::new());
    while let Some((label, record)) = cursor.next()? {
        entries.push((key_values(tree.schema, &record).flatten().map(Box::from).collect(), label));
    }
    Ok(entries)
}
