//! Edits: what may be done to a tree, what comes of it, and why not.

use std::sync::Arc;

use bytes::Bytes;
use lang_yang::{Content, DataNode, Leaf, NodeId};

use crate::cache::Fault;
use crate::find::Step;
use crate::label::Label;
use crate::page::PageId;
use crate::root::Root;

/// An entry that an edit is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// The one of this label.
    Label(Label),
    /// The one that steps from the top lead to.
    Steps(Vec<Step>),
    /// The same, where containers on the way that are not there are made.
    Made(Vec<Step>),
}

/// Where an entry comes to be among the entries of its list.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Position {
    /// Behind all others.
    #[default]
    Last,
    /// Before all others.
    First,
    /// Before another entry of the list.
    Before(Place),
    /// Behind another entry of the list.
    After(Place),
}

/// What a merge does with the values of a leaf-list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LeafLists {
    /// They become those given.
    Replace,
    /// Those that are not there yet are added behind.
    Add,
}

/// How a merge goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MergeOptions {
    /// Whether every container and list entry that is given must be there already.
    pub must_exist: bool,
    /// What becomes of leaf-lists.
    pub leaf_lists: LeafLists,
}

/// One change of a tree. Those of one request are done one after the other, all or none. What it gives is shared: edits that are told
/// anew, because a page was missing or another writer came first, copy nothing of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Edit {
    /// Adds entries with all below; fails if one is there. A container that is there but was not given by anybody is none.
    Create {
        /// What they are added to.
        parent: Place,
        /// The entries.
        nodes: Arc<[DataNode]>,
        /// Where list entries come, together.
        at: Position,
    },
    /// Sets the leaves that are given, and merges entries below by their keys; what is not given stays.
    Merge {
        /// What they lie in.
        parent: Place,
        /// The entries.
        nodes: Arc<[DataNode]>,
        /// How.
        options: MergeOptions,
    },
    /// Makes entries be exactly as given, with all below: those that are there keep their places, others are added.
    Replace {
        /// What they lie in.
        parent: Place,
        /// The entries.
        nodes: Arc<[DataNode]>,
        /// Where list entries come, even those that are there.
        at: Option<Position>,
    },
    /// Makes a list have exactly these entries, in this order.
    ReplaceList {
        /// What it lies in.
        parent: Place,
        /// The list.
        list: NodeId,
        /// Its entries.
        nodes: Arc<[DataNode]>,
    },
    /// Makes an entry, or the top, hold exactly this: leaves and everything below.
    ReplaceContent {
        /// The entry.
        entry: Place,
        /// What it holds; of a list entry with its keys.
        content: Arc<Content>,
    },
    /// Sets leaves and leaf-lists of an entry; the others stay.
    SetLeaves {
        /// The entry.
        parent: Place,
        /// The leaves, each at most once.
        leaves: Arc<[Leaf]>,
    },
    /// Removes a leaf or leaf-list of an entry, or one value of a leaf-list.
    RemoveLeaf {
        /// The entry.
        parent: Place,
        /// The leaf or leaf-list.
        node: NodeId,
        /// The value; without one, all.
        value: Option<Box<str>>,
    },
    /// Gives an entry of a list another position.
    Move {
        /// The entry.
        entry: Place,
        /// Where it comes.
        to: Position,
    },
    /// Removes an entry with all below; of the top, everything.
    Delete {
        /// The entry.
        entry: Place,
    },
    /// Removes all entries of a list; fails if there are none.
    DeleteList {
        /// What it lies in.
        parent: Place,
        /// The list.
        list: NodeId,
    },
}

/// How many containers and list entries differ from before.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Changes {
    /// Those that were not there.
    pub created: u64,
    /// Those whose leaves are others.
    pub updated: u64,
    /// Those that are no more.
    pub removed: u64,
}

impl Changes {
    /// Whether everything is as before.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What comes of edits: the next version.
#[derive(Clone, Debug)]
pub struct Applied {
    /// Its root.
    pub root: Root,
    /// Its pages that the version before has not.
    pub pages: Vec<(PageId, Bytes)>,
    /// Pages of the version before that it has not.
    pub superseded: Vec<PageId>,
    /// How it differs.
    pub changes: Changes,
}

/// Why edits cannot be done. Nothing of them was done then.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ApplyError {
    /// Pages are missing: load them, and call again.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// Entries that were to be created are there.
    #[error("{} entries exist already, the first is {}", .0.len(), .0.first().map_or("", String::as_str))]
    Exists(Vec<String>),
    /// Entries that an edit is about are not there.
    #[error("{} entries do not exist, the first is {}", .0.len(), .0.first().map_or("", String::as_str))]
    NotFound(Vec<String>),
    /// An entry is given twice.
    #[error("{0} is given twice")]
    Duplicate(String),
    /// A list entry lacks a key.
    #[error("{entry} lacks its key {key}")]
    MissingKey {
        /// The entry.
        entry: String,
        /// The name of the key.
        key: String,
    },
    /// The keys of an entry are what it is: they cannot change, nor be removed.
    #[error("{0} is a key, which cannot change")]
    KeyChange(String),
    /// What is given cannot lie where it is given.
    #[error("{node} cannot lie in {parent}")]
    Misplaced {
        /// The container, list or leaf.
        node: String,
        /// Where it was given.
        parent: String,
    },
    /// Something has more bytes than it may have.
    #[error("{what} of {path} has {bytes} bytes, at most {max} are allowed")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// Where.
        path: String,
        /// Its bytes.
        bytes: usize,
        /// How many it may have.
        max: usize,
    },
}
