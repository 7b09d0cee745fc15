//! What writers know under the fence of a bucket: whether change records carry states (`consumers.rs`), which attributes
//! are indexed (`indexes.rs`), which are known to be in use (`in_use.rs`), and over how many buckets entities are spread (`layout.rs`).
//!
//! Whoever changes one of these writes a row and then raises the fences: a writer who does not know of it, on whichever
//! node, is refused and reads the rows again. Writers to whom nothing is news pay for a look in memory.

use std::collections::HashSet;
use std::sync::Arc;

use entity::TermId;
use entity::index::Indexed;
use parking_lot::RwLock;
use store::Epoch;

/// Attributes in use that are remembered of a bucket; those beyond are noted with each write.
const IN_USE_MAX: usize = 1 << 16;

/// What is known of a bucket.
#[derive(Debug, Default)]
pub(crate) struct Watched(RwLock<Option<(Epoch, Arc<Known>)>>);

/// What was read under a fence, and is true as long as that is not raised.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) records_states: bool,
    /// Which attributes have index rows.
    pub(crate) indexed: Indexed,
    /// Types, each with an attribute that is noted as in use.
    in_use: RwLock<HashSet<(TermId, TermId)>>,
}

/// What a commit goes by, and the fence as long as which that is so.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(crate) fence: Epoch,
    pub(crate) known: Arc<Known>,
    /// How often entities had begun to move to other buckets.
    pub(crate) moves: u32,
}

impl Watched {
    pub(crate) fn get(&self, fence: Epoch) -> Option<Arc<Known>> {
        let known = self.0.read();
        known.as_ref().filter(|(under, _)| *under == fence).map(|(_, known)| Arc::clone(known))
    }

    pub(crate) fn set(&self, fence: Epoch, known: &Arc<Known>) {
        *self.0.write() = Some((fence, Arc::clone(known)));
    }
}

impl Known {
    /// What was read; nothing is known to be in use yet.
    pub(crate) fn new(records_states: bool, indexed: Indexed) -> Self {
        Self { records_states, indexed, in_use: RwLock::default() }
    }

    /// Which of these are not known to be in use. Cost: a look at each.
    pub(crate) fn unknown(&self, pairs: impl Iterator<Item = (TermId, TermId)>) -> Vec<(TermId, TermId)> {
        let in_use = self.in_use.read();
        pairs.filter(|pair| !in_use.contains(pair)).collect()
    }

    /// Notes what is stored as in use.
    pub(crate) fn learn(&self, pairs: &[(TermId, TermId)]) {
        let mut in_use = self.in_use.write();
        if in_use.len() < IN_USE_MAX {
            in_use.extend(pairs);
        }
    }
}
