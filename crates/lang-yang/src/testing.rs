//! Schemas built by hand, for tests of what works on data: no YANG text, no compiler.

mod types;

use crate::schema::{Any, Identities, InCase, Module, ModuleId, NodeId, NodeKind, Schema, SchemaNode};
use crate::types::{IntegerWidth, Type, TypeKind};

pub use types::{every_type, schema_of_every_type};

/// The type `string`, without restrictions.
pub fn string() -> Type {
    Type::new(TypeKind::String { lengths: Box::default(), patterns: Box::default() })
}

/// An integer type, of its whole range.
pub fn integer(width: IntegerWidth) -> Type {
    Type::new(TypeKind::Integer { width, ranges: Box::default() })
}

/// The type `decimal64` of so many fraction digits.
pub fn decimal(fraction_digits: u8) -> Type {
    Type::new(TypeKind::Decimal { fraction_digits, ranges: Box::default() })
}

/// The type `boolean`.
pub fn boolean() -> Type {
    Type::new(TypeKind::Boolean)
}

/// The type `empty`.
pub fn empty() -> Type {
    Type::new(TypeKind::Empty)
}

/// The type `instance-identifier`, of something that need not be there.
pub fn instance_identifier() -> Type {
    Type::new(TypeKind::InstanceIdentifier { require_instance: false })
}

/// An enumeration of these names.
pub fn enumeration(names: &[&str]) -> Type {
    Type::new(TypeKind::Enumeration(
        (0..).zip(names).map(|(value, name)| (Box::from(*name), value)).collect(),
    ))
}

/// An identity that is derived from all of these, which are positions among the identities of the schema.
pub fn identity(bases: &[u32]) -> Type {
    Type::new(TypeKind::Identity(bases.into()))
}

/// A union of these types.
pub fn union(members: &[Type]) -> Type {
    Type::new(TypeKind::Union(members.into()))
}

/// A schema under way: modules, and the nodes of its top. The first module is that of all nodes that are not said to be of another.
///
/// ```
/// use lang_yang::testing::{SchemaBuilder, string};
///
/// let schema = SchemaBuilder::new("stores", "book-store")
///     .container("bookstore", |store| {
///         store.leaf("bookstore-name", string()).list("categories", &["code"], |category| {
///             category.leaf("code", string()).leaf_list("authors", string())
///         })
///     })
///     .build();
/// let store = schema.child(None, Some("stores"), "bookstore").expect("it was built");
/// assert_eq!(schema.children(Some(store)).len(), 2);
/// ```
#[derive(Debug)]
pub struct SchemaBuilder {
    modules: Vec<Module>,
    top: Members,
}

/// What lies at the top, in a container, a list or a case.
#[derive(Debug)]
pub struct Members {
    module: Box<str>,
    is_config: bool,
    members: Vec<Member>,
}

#[derive(Debug)]
enum Member {
    Node(Draft),
    /// The cases.
    /// Its cases, and which of them is the default.
    Choice(Vec<Vec<Member>>, Option<usize>),
}

#[derive(Debug)]
struct Draft {
    name: Box<str>,
    module: Box<str>,
    is_config: bool,
    is_mandatory: bool,
    kind: DraftKind,
    members: Vec<Member>,
}

#[derive(Debug)]
enum DraftKind {
    List { keys: Vec<Box<str>>, user_ordered: bool },
    Other(NodeKind),
}

impl SchemaBuilder {
    /// With a first module of this name and prefix; its namespace is `urn:` and its name.
    pub fn new(module: &str, prefix: &str) -> Self {
        let top = Members { module: module.into(), is_config: true, members: Vec::new() };
        Self { modules: Vec::new(), top }.module(module, prefix)
    }

    /// Adds a module of this name and prefix; its namespace is `urn:` and its name.
    #[must_use]
    pub fn module(mut self, name: &str, prefix: &str) -> Self {
        self.modules.push(Module {
            name: name.into(),
            revision: "2024-01-01".into(),
            namespace: format!("urn:{name}").into(),
            prefix: prefix.into(),
            is_implemented: true,
            features: Box::default(),
            submodules: Box::default(),
            deviations: Box::default(),
        });
        self
    }

    /// Adds nodes at the top.
    #[must_use]
    pub fn top(mut self, add: impl FnOnce(Members) -> Members) -> Self {
        self.top = add(self.top);
        self
    }

    /// Adds a container at the top.
    #[must_use]
    pub fn container(self, name: &str, add: impl FnOnce(Members) -> Members) -> Self {
        self.top(|top| top.container(name, add))
    }

    /// Adds a list at the top.
    #[must_use]
    pub fn list(self, name: &str, keys: &[&str], add: impl FnOnce(Members) -> Members) -> Self {
        self.top(|top| top.list(name, keys, add))
    }

    /// Adds a leaf at the top.
    #[must_use]
    pub fn leaf(self, name: &str, type_: Type) -> Self {
        self.top(|top| top.leaf(name, type_))
    }

    /// Adds a leaf-list at the top.
    #[must_use]
    pub fn leaf_list(self, name: &str, type_: Type) -> Self {
        self.top(|top| top.leaf_list(name, type_))
    }

    /// The schema.
    ///
    /// # Panics
    ///
    /// If a node is of a module that was not added, or a key is no leaf of its list.
    pub fn build(self) -> Schema {
        self.build_with(&[])
    }

    /// The same with identities: `module:name`, each with the names of all that it is derived from.
    ///
    /// # Panics
    ///
    /// As [`SchemaBuilder::build`]; or if an identity is derived from none of them.
    pub fn build_with(mut self, identities: &[(&str, &[&str])]) -> Schema {
        self.modules.sort_by(|one, other| one.name.cmp(&other.name));
        let mut tables = Tables { modules: self.modules, nodes: Vec::new(), choices: 0, cases: 0 };
        let top = tables.add(None, self.top.members, &[]);
        let hash = u128::from(u64::try_from(tables.nodes.len()).expect("a count"));
        Schema::new(hash, tables.modules.into(), tables.nodes.into(), top, sorted(identities))
    }
}

fn sorted(identities: &[(&str, &[&str])]) -> Identities {
    let mut names: Vec<&str> = identities.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let at = |name: &str| names.binary_search(&name).expect("an identity of the schema");
    let bases =
        |name: &str| identities.iter().find(|(other, _)| *other == name).map_or(&[][..], |(_, bases)| bases);
    let entry = |name: &&str| {
        let mut bases: Vec<u32> =
            bases(name).iter().map(|base| u32::try_from(at(base)).expect("a few")).collect();
        bases.sort_unstable();
        (Box::from(*name), bases.into())
    };
    names.iter().map(entry).collect()
}

impl Members {
    fn node(mut self, name: &str, kind: DraftKind, members: Vec<Member>) -> Self {
        let (module, is_config) = (self.module.clone(), self.is_config);
        self.members.push(Member::Node(Draft {
            name: name.into(),
            module,
            is_config,
            is_mandatory: false,
            kind,
            members,
        }));
        self
    }

    fn below(&self, add: impl FnOnce(Self) -> Self) -> Vec<Member> {
        add(Self { module: self.module.clone(), is_config: self.is_config, members: Vec::new() }).members
    }

    /// Adds a container.
    #[must_use]
    pub fn container(self, name: &str, add: impl FnOnce(Self) -> Self) -> Self {
        let members = self.below(add);
        self.node(name, DraftKind::Other(NodeKind::Container { presence: false }), members)
    }

    /// Adds a container with presence.
    #[must_use]
    pub fn presence(self, name: &str, add: impl FnOnce(Self) -> Self) -> Self {
        let members = self.below(add);
        self.node(name, DraftKind::Other(NodeKind::Container { presence: true }), members)
    }

    /// Adds a list; its keys are leaves that `add` adds, wherever. Without keys, it is one of state data.
    #[must_use]
    pub fn list(self, name: &str, keys: &[&str], add: impl FnOnce(Self) -> Self) -> Self {
        let members = self.below(add);
        let keys = keys.iter().map(|key| Box::from(*key)).collect();
        self.node(name, DraftKind::List { keys, user_ordered: false }, members)
    }

    /// Adds a list whose order is its user's.
    #[must_use]
    pub fn user_list(self, name: &str, keys: &[&str], add: impl FnOnce(Self) -> Self) -> Self {
        let members = self.below(add);
        let keys = keys.iter().map(|key| Box::from(*key)).collect();
        self.node(name, DraftKind::List { keys, user_ordered: true }, members)
    }

    /// Adds a leaf.
    #[must_use]
    pub fn leaf(self, name: &str, type_: Type) -> Self {
        self.node(name, DraftKind::Other(NodeKind::Leaf { type_, default: None }), Vec::new())
    }

    /// Adds a leaf with a default, in canonical form.
    #[must_use]
    pub fn leaf_or(self, name: &str, type_: Type, default: &str) -> Self {
        self.node(name, DraftKind::Other(NodeKind::Leaf { type_, default: Some(default.into()) }), Vec::new())
    }

    /// Adds a leaf-list.
    #[must_use]
    pub fn leaf_list(self, name: &str, type_: Type) -> Self {
        self.leaf_list_or(name, type_, &[])
    }

    /// Adds a leaf-list with defaults, in canonical form.
    #[must_use]
    pub fn leaf_list_or(self, name: &str, type_: Type, defaults: &[&str]) -> Self {
        let defaults = defaults.iter().map(|default| Box::from(*default)).collect();
        self.node(
            name,
            DraftKind::Other(NodeKind::LeafList { type_, user_ordered: false, defaults }),
            Vec::new(),
        )
    }

    /// Adds an `anydata`.
    #[must_use]
    pub fn anydata(self, name: &str) -> Self {
        self.node(name, DraftKind::Other(NodeKind::Any(Any::Data)), Vec::new())
    }

    /// Adds a choice; each case is what one of the functions adds.
    #[must_use]
    pub fn choice(mut self, cases: &[fn(Self) -> Self]) -> Self {
        let cases = cases.iter().map(|add| self.below(add)).collect();
        self.members.push(Member::Choice(cases, None));
        self
    }

    /// Adds a choice whose case of this number, from zero on, is the default.
    #[must_use]
    pub fn choice_or(mut self, cases: &[fn(Self) -> Self], default: usize) -> Self {
        let cases = cases.iter().map(|add| self.below(add)).collect();
        self.members.push(Member::Choice(cases, Some(default)));
        self
    }

    /// Adds a choice of so many cases; each is what `add` adds for its number.
    #[must_use]
    pub fn choice_of(mut self, count: usize, mut add: impl FnMut(usize, Self) -> Self) -> Self {
        let cases = (0..count).map(|number| self.below(|members| add(number, members))).collect();
        self.members.push(Member::Choice(cases, None));
        self
    }

    /// What `add` adds is of another module, as if that augmented this place.
    #[must_use]
    pub fn of_module(mut self, module: &str, add: impl FnOnce(Self) -> Self) -> Self {
        let added = add(Self { module: module.into(), is_config: self.is_config, members: Vec::new() });
        self.members.extend(added.members);
        self
    }

    /// What `add` adds is state data (`config false`).
    #[must_use]
    pub fn state(mut self, add: impl FnOnce(Self) -> Self) -> Self {
        let added = add(Self { module: self.module.clone(), is_config: false, members: Vec::new() });
        self.members.extend(added.members);
        self
    }

    /// The node that was added last is mandatory.
    #[must_use]
    pub fn mandatory(mut self) -> Self {
        if let Some(Member::Node(node)) = self.members.last_mut() {
            node.is_mandatory = true;
        }
        self
    }
}

/// The tables of a schema under way.
struct Tables {
    modules: Vec<Module>,
    nodes: Vec<SchemaNode>,
    choices: u32,
    cases: u32,
}

impl Tables {
    /// Adds members below a parent, and gives their numbers: parents before children, siblings in their order.
    fn add(&mut self, parent: Option<NodeId>, members: Vec<Member>, choices: &[InCase]) -> Box<[NodeId]> {
        let mut flat = Vec::new();
        self.flatten(members, choices, &mut flat);
        let mut ids = Vec::new();
        for (slot, (draft, choices)) in (0..).zip(flat) {
            ids.push(self.add_node(parent, slot, draft, choices));
        }
        ids.into()
    }

    /// Takes choices out of the way: their nodes are children of what is around them.
    fn flatten(&mut self, members: Vec<Member>, choices: &[InCase], flat: &mut Vec<(Draft, Box<[InCase]>)>) {
        for member in members {
            match member {
                Member::Node(draft) => flat.push((draft, choices.into())),
                Member::Choice(cases, default) => {
                    let choice = self.choices;
                    self.choices += 1;
                    for (place, case) in cases.into_iter().enumerate() {
                        let case_of = InCase { choice, case: self.cases, is_default: default == Some(place) };
                        let choices = [choices, &[case_of]].concat();
                        self.cases += 1;
                        self.flatten(case, &choices, flat);
                    }
                }
            }
        }
    }

    fn add_node(
        &mut self,
        parent: Option<NodeId>,
        slot: u32,
        draft: Draft,
        choices: Box<[InCase]>,
    ) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("a few nodes"));
        let module = self
            .modules
            .iter()
            .position(|module| module.name == draft.module)
            .expect("a module of the schema");
        let Draft { name, is_config, is_mandatory, kind, mut members, .. } = draft;
        let keys = match &kind {
            DraftKind::List { keys, .. } => keys.clone(),
            DraftKind::Other(_) => Vec::new(),
        };
        // Keys come first, in their order; a stable sort leaves the others as they are.
        members.sort_by_key(|member| match member {
            Member::Node(node) => keys.iter().position(|key| *key == node.name).unwrap_or(keys.len()),
            Member::Choice(..) => keys.len(),
        });
        self.nodes.push(SchemaNode {
            name,
            module: ModuleId(u16::try_from(module).expect("a few modules")),
            parent,
            slot,
            kind: NodeKind::Container { presence: false },
            children: Box::default(),
            choices,
            is_config,
            is_mandatory,
        });
        let children = self.add(Some(id), members, &[]);
        let named =
            children.iter().map(|child| &self.nodes.get(child.0 as usize).expect("it was just added").name);
        assert!(keys.iter().eq(named.take(keys.len())), "the keys of a list are leaves of it");
        let kind = match kind {
            DraftKind::Other(kind) => kind,
            DraftKind::List { user_ordered, .. } => {
                let keys: Box<[NodeId]> = children.iter().take(keys.len()).copied().collect();
                NodeKind::List { keys, user_ordered }
            }
        };
        let node = self.nodes.get_mut(id.0 as usize).expect("it was just added");
        (node.kind, node.children) = (kind, children);
        id
    }
}
