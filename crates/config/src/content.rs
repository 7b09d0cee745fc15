//! Parts of a tree as values.

use lang_yang::{Content, DataNode, Leaf};

use crate::cache::Fault;
use crate::depth::Depth;
use crate::label::Label;
use crate::record::{Record, ValueRef};
use crate::tree::Tree;

impl<'a> Tree<'a> {
    /// What an entry holds, down to a depth; `None` if it is not there. The top is always there. Cost: O(what is read).
    ///
    /// # Errors
    ///
    /// [`Fault`] if a page is missing. Large parts are better read by a cursor, which goes on where it was.
    pub fn content(&self, label: &Label, depth: Depth) -> Result<Option<Content>, Fault> {
        let Some(record) = self.record(label)? else {
            return if label.is_top() {
                self.below(label, Content::default(), depth).map(Some)
            } else {
                Ok(None)
            };
        };
        self.below(label, content_of(&record), depth).map(Some)
    }

    fn below(&self, label: &Label, top: Content, depth: Depth) -> Result<Content, Fault> {
        let schema = self.schema();
        // The entries that are open, from the outermost on.
        let mut open: Vec<DataNode> = Vec::new();
        let mut top = top;
        let close = |open: &mut Vec<DataNode>, top: &mut Content, depth: usize| {
            while open.len() > depth {
                let Some(node) = open.pop() else { break };
                let around = open.last_mut().map_or(&mut *top, |around| &mut around.content);
                around.children.push(node);
            }
        };
        let mut cursor = self.cursor(label);
        let base = label.depth(schema);
        while let Some((here, record)) = cursor.next()? {
            let levels = here.depth(schema) - base;
            let Some(node) = record.node().filter(|_| levels > 0) else { continue };
            if !depth.has(levels) {
                cursor.seek(&here.parent(schema).expect("the top is never too deep").above());
                continue;
            }
            close(&mut open, &mut top, levels - 1);
            open.push(DataNode { schema: node, content: content_of(&record) });
        }
        close(&mut open, &mut top, 0);
        Ok(top)
    }
}

/// The leaves of one entry, and nothing below.
pub(crate) fn content_of(record: &Record<'_>) -> Content {
    let leaf = |(schema, values): (_, crate::record::Values<'_>)| Leaf {
        schema,
        values: values.map(ValueRef::to_value).collect(),
    };
    Content { leaves: record.leaves().map(leaf).collect(), children: Vec::new() }
}
