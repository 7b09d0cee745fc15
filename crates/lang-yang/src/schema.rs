//! A compiled schema as plain data: what a module set allows, in tables by number. It is made once for a set of module texts,
//! stored, and shared; everything that handles data looks here, and nothing in it changes.

use crate::types::Type;

/// A module of a schema, by its position in [`Schema::modules`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ModuleId(pub u16);

/// A data node of a schema, by its position in [`Schema::nodes`]: parents before children, siblings in the order of the schema.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(pub u32);

/// One module.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Module {
    /// As its `module` statement says.
    pub name: Box<str>,
    /// The newest revision; empty if it has none.
    pub revision: Box<str>,
    /// The XML namespace.
    pub namespace: Box<str>,
    /// Its own prefix.
    pub prefix: Box<str>,
    /// Whether its data nodes are part of the schema, or others only import it.
    pub is_implemented: bool,
}

/// What a node may hold.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NodeKind {
    /// A container; of one with presence, being there means something.
    Container {
        /// Whether it has a `presence` statement.
        presence: bool,
    },
    /// A list; without keys, entries are told apart by their position alone.
    List {
        /// The leaves that are its keys, in the order of its `key` statement.
        keys: Box<[NodeId]>,
        /// Whether its order is its user's (`ordered-by user`).
        user_ordered: bool,
    },
    /// A leaf.
    Leaf {
        /// Of its value.
        type_: Type,
        /// The canonical value that counts if it is absent.
        default: Option<Box<str>>,
    },
    /// A leaf-list.
    LeafList {
        /// Of its values.
        type_: Type,
        /// Whether its order is its user's.
        user_ordered: bool,
        /// The canonical values that count if there is none.
        defaults: Box<[Box<str>]>,
    },
    /// `anydata` or `anyxml`.
    Any(Any),
}

/// Data without a schema.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Any {
    /// `anydata`.
    Data,
    /// `anyxml`.
    Xml,
}

/// A choice that a node lies in, and the case of it; of nested ones the innermost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InCase {
    /// The choice, numbered over the schema.
    pub choice: u32,
    /// The case, numbered over the schema.
    pub case: u32,
}

/// One data node. Choices and cases are left out: their nodes are children of what is around them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SchemaNode {
    /// Without prefix.
    pub name: Box<str>,
    /// Whose namespace the name is of: that of an augment, if one put it there.
    pub module: ModuleId,
    /// `None` at the top.
    pub parent: Option<NodeId>,
    /// Its position among the children of its parent (of the top: in [`Schema::top`]).
    pub slot: u32,
    /// What it may hold.
    pub kind: NodeKind,
    /// In the order of the schema; of a list, keys come first.
    pub children: Box<[NodeId]>,
    /// Choices around it, from the outermost on.
    pub choices: Box<[InCase]>,
    /// `false`: state data.
    pub is_config: bool,
    /// Whether it must be there (`mandatory`), as strict mode demands.
    pub is_mandatory: bool,
}

/// What a set of modules allows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Schema {
    /// Of the texts, options and features that it was made of.
    pub hash: u128,
    /// All modules, in the order of their names.
    pub modules: Box<[Module]>,
    /// All data nodes.
    pub nodes: Box<[SchemaNode]>,
    /// Those at the top, in the order of modules and of the schema.
    pub top: Box<[NodeId]>,
    /// All identities (`module:name`, sorted), each with all that it is derived from, directly or not, as positions here.
    pub identities: Box<[(Box<str>, Box<[u32]>)]>,
}

impl Schema {
    /// The node of this number. Cost: O(1).
    ///
    /// # Panics
    ///
    /// If the number is not of this schema.
    pub fn node(&self, id: NodeId) -> &SchemaNode {
        self.nodes.get(id.0 as usize).expect("the number of a node is of its schema")
    }

    /// The module of this number. Cost: O(1).
    ///
    /// # Panics
    ///
    /// If the number is not of this schema.
    pub fn module(&self, id: ModuleId) -> &Module {
        self.modules.get(usize::from(id.0)).expect("the number of a module is of its schema")
    }

    /// What lies below a node, or at the top. Cost: O(1).
    pub fn children(&self, parent: Option<NodeId>) -> &[NodeId] {
        parent.map_or(&self.top, |parent| &self.node(parent).children)
    }

    /// The module of this name that is implemented, or else any of this name.
    pub fn module_named(&self, name: &str) -> Option<ModuleId> {
        let ids = || (0..).map(ModuleId).zip(&self.modules).filter(|(_, module)| &*module.name == name);
        ids().find(|(_, module)| module.is_implemented).or_else(|| ids().next()).map(|(id, _)| id)
    }
}
