//! Puts what a reader finds in a text together: members in the order of the schema, each at most once, entries with their keys and
//! told apart by them, cases of a choice apart, all within limits. JSON and XML share it.

use std::collections::HashSet;

use smallvec::SmallVec;

use crate::check::{Kinds, Prefixes, Scalar, ValueRules};
use crate::data_error::{DataProblem, Fault, Read, key_value, keys_of, step};
use crate::schema::{InCase, NodeId, NodeKind, Schema};
use crate::tree::{Content, DataNode, Leaf, Value, ValueKind};

/// Up to so many entries or values are compared each with each; of more, a table is made.
const COMPARED_MAX: usize = 8;

/// How names in a text say their modules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NameRules {
    /// As RFC 7951, section 4 and RFC 7950 say: members of the outermost object, and those of another module than their parent, name
    /// their module (in JSON) or have its namespace (in XML).
    Rfc7951,
    /// As CPS takes them: without module, with its name or with its prefix; one that does not exist is passed over. Elements of XML
    /// need no namespace, and there may be several outermost ones.
    Lenient,
}

/// What happens to metadata: members whose names start with `@` (RFC 7952), and attributes of XML.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Metadata {
    /// It is passed over.
    Ignore,
    /// It is an error.
    Refuse,
}

/// The outermost object or element of a text that stands for the datastore, and holds the nodes of the top.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Envelope {
    /// The module that its name is of, as JSON names it.
    pub module: &'static str,
    /// The namespace, as XML names it.
    pub namespace: &'static str,
    /// Its name.
    pub name: &'static str,
}

/// How a text is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReadOptions {
    /// How names say their modules.
    pub names: NameRules,
    /// Which scalars of JSON a type takes.
    pub kinds: Kinds,
    /// What happens to metadata.
    pub metadata: Metadata,
    /// Whether state data (`config false`) is taken.
    pub takes_state: bool,
    /// Whether a leaf-list without values (`[]` in JSON) is kept, as one leaf without values, for clients that want it back.
    pub keeps_empty_leaf_lists: bool,
    /// Whether entries at the outermost place may lack keys, because the reader knows them from elsewhere.
    pub outermost_without_keys: bool,
    /// What may stand around the nodes of the top.
    pub envelopes: &'static [Envelope],
    /// Nodes below each other, at most.
    pub depth_max: usize,
    /// Containers, entries, leaves and values of leaf-lists, at most.
    pub nodes_max: usize,
}

impl ReadOptions {
    /// As RFC 7951 and RFC 8040 say, within limits that suit a body of a request.
    pub const RFC7951: Self = Self {
        names: NameRules::Rfc7951,
        kinds: Kinds::Rfc7951,
        metadata: Metadata::Refuse,
        takes_state: false,
        keeps_empty_leaf_lists: false,
        outermost_without_keys: false,
        envelopes: &[],
        depth_max: 64,
        nodes_max: 4_000_000,
    };

    /// As CPS takes it, within the same limits.
    pub const CPS: Self = Self {
        names: NameRules::Lenient,
        kinds: Kinds::Lenient,
        metadata: Metadata::Ignore,
        takes_state: true,
        keeps_empty_leaf_lists: true,
        ..Self::RFC7951
    };
}

/// What is put together for one text.
#[derive(Debug)]
pub(crate) struct Assembly<'s> {
    /// What it is data under.
    pub(crate) schema: &'s Schema,
    /// How the text is read.
    pub(crate) options: &'s ReadOptions,
    nodes_left: usize,
    depth: usize,
    /// One bit for each child that was found, of all frames that are open.
    seen: Vec<u64>,
    /// Which node chose which case, of all frames that are open.
    cases: Vec<(InCase, NodeId)>,
}

/// A container, an entry, or what the text is read against, under way.
#[derive(Debug)]
pub(crate) struct Frame {
    /// `None`: the top.
    pub(crate) parent: Option<NodeId>,
    /// Whether it is what the text is read against; its keys are not asked for then.
    pub(crate) is_outermost: bool,
    content: Content,
    seen_from: usize,
    cases_from: usize,
}

impl<'s> Assembly<'s> {
    pub(crate) fn new(schema: &'s Schema, options: &'s ReadOptions) -> Self {
        Self { schema, options, nodes_left: options.nodes_max, depth: 0, seen: Vec::new(), cases: Vec::new() }
    }

    /// Opens what holds nodes.
    pub(crate) fn open(&mut self, parent: Option<NodeId>) -> Result<Frame, DataProblem> {
        let is_outermost = self.depth == 0;
        if self.depth > self.options.depth_max {
            return Err(DataProblem::TooDeep { max: self.options.depth_max });
        }
        self.depth += 1;
        let (seen_from, cases_from) = (self.seen.len(), self.cases.len());
        let words = self.schema.children(parent).len().div_ceil(64);
        self.seen.resize(seen_from + words, 0);
        Ok(Frame { parent, is_outermost, content: Content::default(), seen_from, cases_from })
    }

    /// Takes note of a member; whether it is the first of its name. What is there once may not come again.
    pub(crate) fn enter(&mut self, frame: &Frame, id: NodeId) -> Result<bool, DataProblem> {
        let node = self.schema.node(id);
        if !node.is_config && !self.options.takes_state {
            return Err(DataProblem::State);
        }
        let (word, bit) = (node.slot as usize / 64, 1 << (node.slot % 64));
        let word = self.seen.get_mut(frame.seen_from + word).expect("a word for each slot");
        let is_first = *word & bit == 0;
        *word |= bit;
        if is_first && !node.choices.is_empty() {
            self.choose(frame, id)?;
        }
        Ok(is_first)
    }

    fn choose(&mut self, frame: &Frame, id: NodeId) -> Result<(), DataProblem> {
        for case in &self.schema.node(id).choices {
            let chosen = self.cases.get(frame.cases_from..).expect("frames end in turn");
            match chosen.iter().find(|(chosen, _)| chosen.choice == case.choice) {
                None => self.cases.push((*case, id)),
                Some((chosen, _)) if chosen.case == case.case => {}
                Some((_, other)) => {
                    return Err(DataProblem::OtherCase { other: self.schema.node(*other).name.clone() });
                }
            }
        }
        Ok(())
    }

    /// Counts a container, an entry, a leaf or a value.
    pub(crate) fn count(&mut self) -> Result<(), DataProblem> {
        let left = self.nodes_left.checked_sub(1);
        self.nodes_left = left.ok_or(DataProblem::TooMany { max: self.options.nodes_max })?;
        Ok(())
    }

    /// The canonical value of a leaf or leaf-list. `namespaces` says what prefixes of XML stand for.
    pub(crate) fn value(
        &self,
        id: NodeId,
        scalar: Scalar<'_>,
        prefixes: Prefixes<'_>,
    ) -> Result<Value, DataProblem> {
        let node = self.schema.node(id);
        let type_ = node.type_().expect("a leaf or a leaf-list");
        let rules =
            ValueRules { schema: self.schema, module: node.module, prefixes, kinds: self.options.kinds };
        type_.check(scalar, &rules).map_err(DataProblem::Value)
    }

    /// Closes what holds nodes: sorted, whole and without doubles.
    pub(crate) fn close(&mut self, frame: &mut Frame, at: usize) -> Read<Content> {
        self.depth -= 1;
        self.seen.truncate(frame.seen_from);
        self.cases.truncate(frame.cases_from);
        frame.sort();
        let may_lack_keys = frame.is_outermost || (self.depth == 1 && self.options.outermost_without_keys);
        if !may_lack_keys && let Some(list) = frame.parent {
            let keys = self.schema.keys(list);
            if let Some(key) = keys.iter().find(|key| key_value(&frame.content, **key).is_none()) {
                return Err(Fault::new(DataProblem::NoKey { key: self.schema.node(*key).name.clone() }, at));
            }
        }
        self.check_values(&frame.content, at)?;
        self.check_entries(&frame.content, at)?;
        Ok(std::mem::take(&mut frame.content))
    }

    /// Values of a leaf-list of configuration are unique.
    fn check_values(&self, content: &Content, at: usize) -> Read<()> {
        for leaf in content.leaves.iter().filter(|leaf| leaf.values.len() > 1) {
            if !self.schema.node(leaf.schema).is_config {
                continue;
            }
            if let Some(value) = double(&leaf.values) {
                let problem = DataProblem::SameValue { value: value.text.clone() };
                return Err(Fault::new(problem, at).below(step(self.schema, leaf.schema, self.depth == 0)));
            }
        }
        Ok(())
    }

    /// Entries of a list that has keys are told apart by them.
    fn check_entries(&self, content: &Content, at: usize) -> Read<()> {
        for entries in content.children.chunk_by(|one, other| one.schema == other.schema) {
            let Some(list) = entries.get(1).map(|entry| entry.schema) else { continue };
            let keys = self.schema.keys(list);
            if keys.is_empty() {
                continue;
            }
            if let Some(entry) = double_entry(entries, keys) {
                let path =
                    step(self.schema, list, self.depth == 0) + &keys_of(self.schema, list, &entry.content);
                return Err(Fault::new(DataProblem::SameKeys, at).below(path));
            }
        }
        Ok(())
    }

    /// What tells the entry that a frame is of: its keys, as far as they are known, or its position.
    pub(crate) fn entry_step(&self, frame: &Frame, position: Option<usize>) -> String {
        let keys = frame.parent.map_or(String::new(), |parent| keys_of(self.schema, parent, &frame.content));
        match position {
            Some(position) if keys.is_empty() => format!("[{position}]"),
            _ => keys,
        }
    }

    /// The node of a name below a parent, as RFC 7951, section 4 says. In the outermost object, all names have their modules.
    pub(crate) fn resolve_strict(
        &self,
        frame: &Frame,
        module: Option<&str>,
        name: &str,
    ) -> Result<NodeId, DataProblem> {
        let named = self.schema.children_named(frame.parent, name);
        let found = match (module, frame.parent) {
            (Some(module), _) => named.iter().find(|id| self.schema.module_name(**id) == module),
            (None, Some(parent)) if !frame.is_outermost => self.of_same_module(parent, named),
            (None, _) => None,
        };
        found.copied().ok_or_else(|| match (module, named.is_empty()) {
            (None, false) => self.no_module(name, named),
            _ => unknown(module, name),
        })
    }

    /// The node of a name below a parent, as CPS finds it: by the name of its module, by its prefix, or by its name alone. What is
    /// the name of no module is passed over.
    pub(crate) fn resolve_lenient(
        &self,
        frame: &Frame,
        prefix: Option<&str>,
        name: &str,
    ) -> Result<NodeId, DataProblem> {
        let schema = self.schema;
        let named = schema.children_named(frame.parent, name);
        if let Some(prefix) = prefix {
            let by_module = named.iter().find(|id| schema.module_name(**id) == prefix);
            let by_prefix =
                || named.iter().find(|id| *schema.module(schema.node(**id).module).prefix == *prefix);
            if let Some(found) = by_module.or_else(by_prefix) {
                return Ok(*found);
            }
            if schema.module_named(prefix).is_some() {
                return Err(unknown(Some(prefix), name));
            }
        }
        match (frame.parent.and_then(|parent| self.of_same_module(parent, named)), named) {
            (Some(found), _) | (None, [found]) => Ok(*found),
            (None, []) => Err(unknown(prefix, name)),
            (None, _) => Err(self.no_module(name, named)),
        }
    }

    fn of_same_module<'n>(&self, parent: NodeId, named: &'n [NodeId]) -> Option<&'n NodeId> {
        let module = self.schema.node(parent).module;
        named.iter().find(|id| self.schema.node(**id).module == module)
    }

    fn no_module(&self, name: &str, named: &[NodeId]) -> DataProblem {
        let right: Vec<String> =
            named.iter().map(|id| format!("\"{}:{name}\"", self.schema.module_name(*id))).collect();
        DataProblem::NoModule { name: name.into(), right: right.join(" or ").into() }
    }
}

/// No node of this name.
pub(crate) fn unknown(module: Option<&str>, name: &str) -> DataProblem {
    DataProblem::UnknownNode { name: name.into(), module: module.map(Into::into) }
}

impl Frame {
    /// Adds a value of a leaf, or one more of a leaf-list. Cost: O(1) where values of one leaf-list follow each other, else the leaves
    /// that came between.
    pub(crate) fn add_value(&mut self, id: NodeId, is_first: bool, value: Value) {
        if !is_first && let Some(leaf) = self.content.leaves.iter_mut().rev().find(|leaf| leaf.schema == id) {
            leaf.values.push(value);
        } else {
            self.content.leaves.push(Leaf { schema: id, values: vec![value] });
        }
    }

    /// Adds a leaf with all its values.
    pub(crate) fn add_leaf(&mut self, id: NodeId, values: Vec<Value>) {
        self.content.leaves.push(Leaf { schema: id, values });
    }

    /// Adds a container or an entry.
    pub(crate) fn add_child(&mut self, id: NodeId, content: Content) {
        self.content.children.push(DataNode { schema: id, content });
    }

    /// Puts all in the order of the schema; entries of one list, and values, stay in theirs. Numbers of siblings follow that order.
    fn sort(&mut self) {
        let Content { leaves, children } = &mut self.content;
        if !leaves.is_sorted_by_key(|leaf| leaf.schema) {
            leaves.sort_by_key(|leaf| leaf.schema);
        }
        if !children.is_sorted_by_key(|child| child.schema) {
            children.sort_by_key(|child| child.schema);
        }
    }
}

/// A value of `anydata` or `anyxml`.
pub(crate) fn any_value(json: String) -> Value {
    Value { kind: ValueKind::Json, text: json.into() }
}

/// What a node wants, in words.
pub(crate) fn expected(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::Container { .. } => "an object for a container",
        NodeKind::List { .. } => "an array of objects for a list",
        NodeKind::Leaf { .. } => "a value for a leaf",
        NodeKind::LeafList { .. } => "an array of values for a leaf-list",
        NodeKind::Any(_) => "a value",
    }
}

/// A value that is there twice.
fn double(values: &[Value]) -> Option<&Value> {
    if values.len() <= COMPARED_MAX {
        let mut rest = values.iter().enumerate();
        return rest
            .find(|(at, value)| values.iter().take(*at).any(|other| other == *value))
            .map(|(_, value)| value);
    }
    let mut seen = HashSet::with_capacity(values.len());
    values.iter().find(|value| !seen.insert(*value))
}

/// An entry whose keys another has, too. All keys are there.
fn double_entry<'e>(entries: &'e [DataNode], keys: &[NodeId]) -> Option<&'e DataNode> {
    let texts = |entry: &'e DataNode| {
        keys.iter().map(|key| key_value(&entry.content, *key).map(|value| &*value.text))
    };
    let is_same = |one: &'e DataNode, other: &'e DataNode| texts(one).eq(texts(other));
    if entries.len() <= COMPARED_MAX {
        let mut rest = entries.iter().enumerate();
        return rest
            .find(|(at, entry)| entries.iter().take(*at).any(|other| is_same(other, entry)))
            .map(|(_, entry)| entry);
    }
    let mut seen: HashSet<SmallVec<[Option<&str>; 2]>> = HashSet::with_capacity(entries.len());
    entries.iter().find(|entry| !seen.insert(texts(entry).collect()))
}
