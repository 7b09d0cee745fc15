//! A compiled schema as plain data: what a module set allows, in tables by number. It is made once for a set of module texts,
//! stored, and shared; everything that handles data looks here, and nothing in it changes.

mod defaults;
mod names;
mod patterns;

use crate::types::Type;
use names::{NameIndex, Named};

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
    /// Its features that are on, in the order of their names; of a module that is only imported none.
    pub features: Box<[Box<str>]>,
    /// Its submodules: names and revisions (empty without one), in the order of their names.
    pub submodules: Box<[(Box<str>, Box<str>)]>,
    /// The modules that deviate from it, in the order of their names.
    pub deviations: Box<[Box<str>]>,
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
    /// Whether it is the default case of its choice: the one whose defaults count where no node of any case is there.
    pub is_default: bool,
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

impl SchemaNode {
    /// The type of a leaf or of the values of a leaf-list. Cost: O(1).
    pub fn type_(&self) -> Option<&Type> {
        match &self.kind {
            NodeKind::Leaf { type_, .. } | NodeKind::LeafList { type_, .. } => Some(type_),
            NodeKind::Container { .. } | NodeKind::List { .. } | NodeKind::Any(_) => None,
        }
    }
}

/// An identity (`module:name`), with all that it is derived from, directly or not, as positions in [`Schema::identities`].
pub type Identity = (Box<str>, Box<[u32]>);

/// Identities, in the order of their names.
pub type Identities = Box<[Identity]>;

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
    /// All identities.
    pub identities: Identities,
    /// Made of the nodes.
    names: NameIndex,
    /// Of each node, whether it is a leaf with a default, or a container that is there anyway and holds such a leaf.
    holds_defaults: Box<[bool]>,
    /// Of each node, whether others below its parent have its name.
    shares_name: Box<[bool]>,
}

impl Named for Box<[SchemaNode]> {
    fn name(&self, id: NodeId) -> &str {
        self.get(id.0 as usize).map(|node| &*node.name).expect("the number of a node is of its schema")
    }
}

impl Schema {
    /// A schema of its tables, which are consistent: every number in them is a position in them, and what is said of parents,
    /// children and slots agrees. Cost: O(nodes × log nodes), once.
    ///
    /// # Panics
    ///
    /// If a number is none of the tables'.
    pub fn new(
        hash: u128,
        modules: Box<[Module]>,
        nodes: Box<[SchemaNode]>,
        top: Box<[NodeId]>,
        identities: Identities,
    ) -> Self {
        let below = nodes.iter().map(|node| &*node.children);
        let names = NameIndex::new(std::iter::once(&*top).chain(below), &nodes);
        let holds_defaults = defaults::holders(&nodes);
        let shares_name = |node: &SchemaNode| names.below(node.parent, &node.name, &nodes).len() > 1;
        let shares_name = nodes.iter().map(shares_name).collect();
        Self { hash, modules, nodes, top, identities, names, holds_defaults, shares_name }
    }

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

    /// The position of an identity among [`Schema::identities`]. Cost: a binary search.
    pub fn identity_named(&self, module: &str, name: &str) -> Option<u32> {
        let wanted = || module.bytes().chain(*b":").chain(name.bytes());
        let index = self.identities.binary_search_by(|(full, _)| full.bytes().cmp(wanted())).ok()?;
        u32::try_from(index).ok()
    }

    /// The module of this XML namespace. Cost: O(modules).
    pub fn module_of_namespace(&self, namespace: &str) -> Option<ModuleId> {
        self.module_where(|module| &*module.namespace == namespace)
    }

    /// The module that gives itself this prefix: one that is implemented before others. Cost: O(modules).
    pub fn module_of_prefix(&self, prefix: &str) -> Option<ModuleId> {
        self.module_where(|module| &*module.prefix == prefix)
    }

    fn module_where(&self, is_it: impl Fn(&Module) -> bool) -> Option<ModuleId> {
        let ids = || (0..).map(ModuleId).zip(&self.modules).filter(|(_, module)| is_it(module));
        ids().find(|(_, module)| module.is_implemented).or_else(|| ids().next()).map(|(id, _)| id)
    }

    /// The child of this name, of the module of this name; without one, the first of the name in the order of the schema.
    /// Cost: O(log children), no allocation.
    pub fn child(&self, parent: Option<NodeId>, module: Option<&str>, name: &str) -> Option<NodeId> {
        let mut found = self.children_named(parent, name).iter().copied();
        match module {
            None => found.next(),
            Some(module) => found.find(|id| &*self.module(self.node(*id).module).name == module),
        }
    }

    /// All children of this name, in the order of the schema: more than one if several modules have one of the name.
    /// Cost: O(log children), no allocation.
    pub fn children_named(&self, parent: Option<NodeId>, name: &str) -> &[NodeId] {
        self.names.below(parent, name, &self.nodes)
    }

    /// All nodes of this name, wherever, in the order of the schema. Cost: O(log nodes), no allocation.
    pub fn by_name(&self, name: &str) -> &[NodeId] {
        self.names.anywhere(name, &self.nodes)
    }

    /// Whether a node holds others: a container or a list. Cost: O(1).
    pub fn is_entry(&self, id: NodeId) -> bool {
        matches!(self.node(id).kind, NodeKind::Container { .. } | NodeKind::List { .. })
    }

    /// Whether a case counts beside the children of its parent that are there: one of them is of it, or it is the default one and
    /// none of them is of any case of the choice (RFC 7950, section 7.9.3). Cost: O(children that are there).
    pub fn is_chosen(&self, case: &InCase, present: impl Iterator<Item = NodeId>) -> bool {
        let mut is_default = case.is_default;
        for child in present {
            for other in self.node(child).choices.iter().filter(|other| other.choice == case.choice) {
                if other.case == case.case {
                    return true;
                }
                is_default = false;
            }
        }
        is_default
    }

    /// Whether what is not set in or below a node has defaults that count: of a leaf or leaf-list its own, of a container without
    /// presence those below that are in no choice, or in default cases alone. Cost: O(1).
    pub(crate) fn holds_defaults(&self, id: NodeId) -> bool {
        self.holds_defaults.get(id.0 as usize).copied().expect("the number of a node is of its schema")
    }

    /// Whether several nodes below the parent of a node have its name, of several modules. Cost: O(1).
    pub fn shares_name(&self, id: NodeId) -> bool {
        self.shares_name.get(id.0 as usize).copied().expect("the number of a node is of its schema")
    }

    /// Bytes that the patterns of all types take when they are compiled, as they are by this. Cost: O(nodes), and that of compiling
    /// those that were not used yet.
    pub fn pattern_bytes(&self) -> usize {
        patterns::bytes(&self.nodes)
    }

    /// The keys of a list; none of any other node, or of a list without keys. Cost: O(1).
    pub fn keys(&self, id: NodeId) -> &[NodeId] {
        match &self.node(id).kind {
            NodeKind::List { keys, .. } => keys,
            _ => &[],
        }
    }

    /// The name of the module that a node's name is of. Cost: O(1).
    pub fn module_name(&self, id: NodeId) -> &str {
        &self.module(self.node(id).module).name
    }

    /// Where a node stands, as error messages and clients spell it: `/module:name/name/other-module:name`. Cost: its depth.
    pub fn path(&self, id: NodeId) -> String {
        let mut steps: Vec<NodeId> = std::iter::successors(Some(id), |id| self.node(*id).parent).collect();
        steps.reverse();
        let mut path = String::new();
        let mut around = None;
        for step in steps {
            let node = self.node(step);
            path.push('/');
            if around != Some(node.module) {
                path.push_str(&self.module(node.module).name);
                path.push(':');
            }
            path.push_str(&node.name);
            around = Some(node.module);
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{SchemaBuilder, string};

    #[test]
    fn names_are_found_below_their_parent_and_everywhere() {
        let schema = SchemaBuilder::new("shop", "s")
            .module("add-on", "a")
            .container("store", |store| {
                store
                    .leaf("name", string())
                    .list("shelf", &["id"], |shelf| shelf.leaf("name", string()).leaf("id", string()))
                    .of_module("add-on", |store| store.leaf("name", string()))
            })
            .leaf("name", string())
            .build();
        let store = schema.child(None, None, "store").unwrap();
        assert_eq!(schema.child(None, Some("shop"), "store"), Some(store));
        assert_eq!(schema.child(None, Some("add-on"), "store"), None);
        assert_eq!(schema.child(Some(store), None, "store"), None);
        let (own, other) = (
            schema.child(Some(store), Some("shop"), "name"),
            schema.child(Some(store), Some("add-on"), "name"),
        );
        assert_ne!(own, other);
        assert_eq!(schema.child(Some(store), None, "name"), own);
        assert_eq!(schema.path(other.unwrap()), "/shop:store/add-on:name");
        assert_eq!(schema.by_name("name").len(), 4);
        assert!(schema.by_name("name").is_sorted());
        assert!(schema.by_name("nam").is_empty() && schema.by_name("names").is_empty());
        let shelf = schema.child(Some(store), None, "shelf").unwrap();
        assert_eq!(schema.path(shelf), "/shop:store/shelf");
        assert!(schema.is_entry(shelf) && !schema.is_entry(own.unwrap()));
        let names: Vec<&str> =
            schema.children(Some(shelf)).iter().map(|id| &*schema.node(*id).name).collect();
        assert_eq!(names, ["id", "name"], "keys come first");
        for (at, node) in schema.nodes.iter().enumerate() {
            let found = schema.children_named(node.parent, &node.name);
            assert!(found.iter().any(|id| id.0 as usize == at), "{}", node.name);
            assert_eq!(schema.children(node.parent)[node.slot as usize].0 as usize, at);
        }
    }
}
