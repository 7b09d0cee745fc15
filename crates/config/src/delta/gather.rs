//! A part of a tree read as one value, some entries at a time.

use lang_yang::DataNode;

use crate::content::content_of;
use crate::label::Label;
use crate::{Cursor, Depth, Fault};

/// Entries that are read at once.
const ENTRIES_AT_ONCE: u64 = 256;

/// An entry and all below it, as far as they are read.
#[derive(Debug, Default)]
pub(super) struct Gather {
    /// The entries on the way from the root, with what was read of them.
    open: Vec<(Label, DataNode)>,
    /// Where it goes on.
    from: Option<Label>,
}

/// How far a part is.
#[derive(Debug)]
pub(super) enum Gathered {
    /// So many entries more were read, and others follow.
    More(u64),
    /// So many more, and they are all.
    All(u64, Option<DataNode>),
}

impl Gather {
    /// Reads on from a root, so many levels below it. Cost: O(entries), of at most some hundreds.
    ///
    /// # Errors
    ///
    /// [`Fault`] with pages that must be loaded before any more can be read; nothing is lost.
    pub(super) fn run(
        &mut self,
        cursor: &mut Cursor<'_>,
        root: &Label,
        depth: Depth,
    ) -> Result<Gathered, Fault> {
        cursor.turn_to(root);
        if let Some(from) = &self.from {
            cursor.seek(from);
        }
        for read in 0..ENTRIES_AT_ONCE {
            let next = match cursor.next() {
                Ok(next) => next,
                // What was read is counted first; the page is missed again.
                Err(_) if read > 0 => return Ok(Gathered::More(read)),
                Err(fault) => return Err(fault),
            };
            let Some((label, record)) = next else { return Ok(Gathered::All(read, self.close())) };
            while let Some((_, node)) = self.open.pop_if(|(above, _)| !label.is_within(above)) {
                self.put(node);
            }
            let has_below = depth.has(self.open.len() + 1);
            self.from = Some(if has_below { label.below() } else { label.above() });
            if !has_below {
                cursor.skip_below();
            }
            let schema = record.node().expect("entries below a container or list are of one");
            self.open.push((label, DataNode { schema, content: content_of(&record) }));
        }
        Ok(Gathered::More(ENTRIES_AT_ONCE))
    }

    /// Puts a node that is whole into the one around it.
    fn put(&mut self, node: DataNode) {
        if let Some((_, around)) = self.open.last_mut() {
            around.content.children.push(node);
        }
    }

    /// The root with all below.
    fn close(&mut self) -> Option<DataNode> {
        while self.open.len() > 1 {
            let (_, node) = self.open.pop()?;
            self.put(node);
        }
        self.open.pop().map(|(_, root)| root)
    }
}
