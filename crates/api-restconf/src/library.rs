//! What the server says of itself as data: the modules of an anchor (`ietf-yang-library`, RFC 8525 and, as older clients ask,
//! RFC 7895), and what RESTCONF it speaks (`ietf-restconf-monitoring`, RFC 8040, section 9). Made of the schema; nothing of it is stored.

use std::sync::LazyLock;

use lang_yang::{
    Content, DataNode, Leaf, Module, ModuleId, NodeId, NodeKind, Schema, SchemaNode, Type, TypeKind, Value,
    ValueKind,
};

/// The revision of `ietf-yang-library` that is served, as `yang-library-version` says it.
pub(crate) const LIBRARY_REVISION: &str = "2019-01-04";
const LIBRARY: &str = "ietf-yang-library";
const MONITORING: &str = "ietf-restconf-monitoring";

/// The capabilities of the protocol (RFC 8040, section 9.1.1).
const CAPABILITIES: [&str; 4] = [
    "urn:ietf:params:restconf:capability:defaults:1.0?basic-mode=explicit",
    "urn:ietf:params:restconf:capability:depth:1.0",
    "urn:ietf:params:restconf:capability:fields:1.0",
    "urn:ietf:params:restconf:capability:with-defaults:1.0",
];

/// The name of the one module set, and of the one schema.
const SET: &str = "all";
/// The datastore that `{root}/data` is.
const DATASTORE: &str = "ietf-datastores:running";

/// A node of these modules.
struct Node {
    name: &'static str,
    kind: Kind,
    below: &'static [Node],
}

/// What a node is.
enum Kind {
    Container,
    /// With these keys, which stand first.
    List(usize),
    Leaf,
    LeafList,
}

const fn leaf(name: &'static str) -> Node {
    Node { name, kind: Kind::Leaf, below: &[] }
}

const fn leaf_list(name: &'static str) -> Node {
    Node { name, kind: Kind::LeafList, below: &[] }
}

const fn container(name: &'static str, below: &'static [Node]) -> Node {
    Node { name, kind: Kind::Container, below }
}

const fn list(name: &'static str, keys: usize, below: &'static [Node]) -> Node {
    Node { name, kind: Kind::List(keys), below }
}

const LIBRARY_NODES: &[Node] = &[
    container(
        "yang-library",
        &[
            list(
                "module-set",
                1,
                &[
                    leaf("name"),
                    list("module", 1, &[leaf("name"), leaf("revision"), leaf("namespace")]),
                    list("import-only-module", 2, &[leaf("name"), leaf("revision"), leaf("namespace")]),
                ],
            ),
            list("schema", 1, &[leaf("name"), leaf_list("module-set")]),
            list("datastore", 1, &[leaf("name"), leaf("schema")]),
            leaf("content-id"),
        ],
    ),
    container(
        "modules-state",
        &[
            leaf("module-set-id"),
            list("module", 2, &[leaf("name"), leaf("revision"), leaf("namespace"), leaf("conformance-type")]),
        ],
    ),
];
const MONITORING_NODES: &[Node] =
    &[container("restconf-state", &[container("capabilities", &[leaf_list("capability")])])];

/// The schema of what the server says of itself.
static SCHEMA: LazyLock<Schema> = LazyLock::new(make_schema);

/// The schema of what the server says of itself. Cost: made once.
pub(crate) fn library_schema() -> &'static Schema {
    &SCHEMA
}

/// Whether a module is among those that the server answers for by itself.
pub(crate) fn is_library(module: &str) -> bool {
    module == LIBRARY || module == MONITORING
}

/// What the server says of an anchor with this schema. Cost: O(modules).
pub(crate) fn library_content(schema: &Schema) -> Content {
    let maker = Maker { schema: library_schema() };
    let top = |module, name| maker.schema.child(None, Some(module), name).expect("it is made below");
    let (library, state) = (top(LIBRARY, "yang-library"), top(LIBRARY, "modules-state"));
    let id = format!("{:032x}", schema.hash);
    let monitoring = top(MONITORING, "restconf-state");
    let children = vec![
        maker.library(library, schema, &id),
        maker.state(state, schema, &id),
        maker.monitoring(monitoring),
    ];
    Content { leaves: Vec::new(), children }
}

/// Makes data of the schema.
struct Maker {
    schema: &'static Schema,
}

impl Maker {
    fn library(&self, id: NodeId, schema: &Schema, content_id: &str) -> DataNode {
        let set = self.below(id, "module-set");
        let (implemented, imported) = (self.below(set, "module"), self.below(set, "import-only-module"));
        let modules = |list, wanted: bool| {
            let modules = schema.modules.iter().filter(move |module| module.is_implemented == wanted);
            modules.map(move |module| {
                let revision = &*module.revision;
                // A key is there in any case; as a leaf, it is absent if the module has none.
                let revision = (!wanted || !revision.is_empty()).then_some(("revision", revision));
                let leaves =
                    [Some(("name", &*module.name)), revision, Some(("namespace", &*module.namespace))];
                self.entry(list, leaves.into_iter().flatten())
            })
        };
        let mut of_set = self.entry(set, [("name", SET)]);
        of_set.content.children = modules(implemented, true).chain(modules(imported, false)).collect();
        let of_schema = self.entry(self.below(id, "schema"), [("name", SET), ("module-set", SET)]);
        let mut datastore = self.entry(self.below(id, "datastore"), [("name", DATASTORE), ("schema", SET)]);
        for value in datastore.content.leaves.iter_mut().take(1).flat_map(|name| &mut name.values) {
            value.kind = ValueKind::Identity;
        }
        let mut node = self.entry(id, [("content-id", content_id)]);
        node.content.children = vec![of_set, of_schema, datastore];
        node
    }

    fn state(&self, id: NodeId, schema: &Schema, set_id: &str) -> DataNode {
        let list = self.below(id, "module");
        let modules = schema.modules.iter().map(|module| {
            let conformance = if module.is_implemented { "implement" } else { "import" };
            let leaves = [
                ("name", &*module.name),
                ("revision", &*module.revision),
                ("namespace", &*module.namespace),
                ("conformance-type", conformance),
            ];
            self.entry(list, leaves)
        });
        let mut node = self.entry(id, [("module-set-id", set_id)]);
        node.content.children = modules.collect();
        node
    }

    fn monitoring(&self, id: NodeId) -> DataNode {
        let list = self.below(id, "capabilities");
        let leaf = self.below(list, "capability");
        let leaves = vec![Leaf { schema: leaf, values: CAPABILITIES.map(text).to_vec() }];
        let capabilities = DataNode { schema: list, content: Content { leaves, children: Vec::new() } };
        DataNode { schema: id, content: Content { leaves: Vec::new(), children: vec![capabilities] } }
    }

    fn entry<'a>(&self, id: NodeId, leaves: impl IntoIterator<Item = (&'a str, &'a str)>) -> DataNode {
        let leaf = |(name, value)| Leaf { schema: self.below(id, name), values: vec![text(value)] };
        let leaves = leaves.into_iter().map(leaf).collect();
        DataNode { schema: id, content: Content { leaves, children: Vec::new() } }
    }

    fn below(&self, id: NodeId, name: &str) -> NodeId {
        self.schema.child(Some(id), None, name).expect("it is among the nodes above")
    }
}

fn text(text: &str) -> Value {
    Value { kind: ValueKind::Text, text: text.into() }
}

fn make_schema() -> Schema {
    let module = |name: &str, revision: &str, prefix: &str| Module {
        name: name.into(),
        revision: revision.into(),
        namespace: format!("urn:ietf:params:xml:ns:yang:{name}").into(),
        prefix: prefix.into(),
        is_implemented: true,
    };
    let modules = [
        module("ietf-datastores", "2018-02-14", "ds"),
        module(MONITORING, "2017-01-26", "rcmon"),
        module(LIBRARY, LIBRARY_REVISION, "yanglib"),
    ];
    let mut nodes = Vec::new();
    let mut top = put_nodes(&mut nodes, (ModuleId(1), None), MONITORING_NODES, 0);
    let slots = u32::try_from(top.len()).expect("one");
    top.extend(put_nodes(&mut nodes, (ModuleId(2), None), LIBRARY_NODES, slots));
    Schema::new(0, modules.into(), nodes.into(), top.into(), Box::default())
}

/// Adds nodes with all below them, and says their numbers.
fn put_nodes(
    nodes: &mut Vec<SchemaNode>,
    (module, parent): (ModuleId, Option<NodeId>),
    drafts: &[Node],
    slot: u32,
) -> Vec<NodeId> {
    let string = || Type::new(TypeKind::String { lengths: Box::default(), patterns: Box::default() });
    let mut ids = Vec::new();
    for (draft, slot) in drafts.iter().zip(slot..) {
        let id = NodeId(u32::try_from(nodes.len()).expect("a few"));
        let kind = match draft.kind {
            Kind::Leaf => NodeKind::Leaf { type_: string(), default: None },
            Kind::LeafList => {
                NodeKind::LeafList { type_: string(), user_ordered: false, defaults: Box::default() }
            }
            // The keys of a list are known below.
            Kind::Container | Kind::List(_) => NodeKind::Container { presence: false },
        };
        nodes.push(SchemaNode {
            name: draft.name.into(),
            module,
            parent,
            slot,
            kind,
            children: Box::default(),
            choices: Box::default(),
            is_config: false,
            is_mandatory: false,
        });
        let below = put_nodes(nodes, (module, Some(id)), draft.below, 0);
        let node = nodes.get_mut(id.0 as usize).expect("it was added");
        if let Kind::List(keys) = draft.kind {
            let keys = below.iter().take(keys).copied().collect();
            node.kind = NodeKind::List { keys, user_ordered: false };
        }
        node.children = below.into();
        ids.push(id);
    }
    ids
}

#[cfg(test)]
mod tests {
    use lang_yang::testing::SchemaBuilder;

    use super::*;

    #[test]
    fn the_schema_is_of_one_piece() {
        let schema = library_schema();
        for (at, node) in schema.nodes.iter().enumerate() {
            assert_eq!(schema.children(node.parent)[node.slot as usize].0 as usize, at, "{}", node.name);
        }
        let module = schema.child(None, Some(LIBRARY), "modules-state");
        let module = schema.child(module, None, "module").unwrap();
        assert_eq!(schema.keys(module).len(), 2);
        assert!(is_library(LIBRARY) && is_library(MONITORING) && !is_library("ietf-interfaces"));
    }

    #[test]
    fn all_modules_are_told() {
        let schema = SchemaBuilder::new("shop", "s").module("add-on", "a").build();
        let content = library_content(&schema);
        let [library, state, monitoring] = content.children.as_slice() else { panic!("{content:?}") };
        assert_eq!(library.content.children[0].content.children.len(), 2);
        let names: Vec<_> =
            state.content.children.iter().map(|module| &*module.content.leaves[0].values[0].text).collect();
        assert_eq!(names.len(), 2);
        assert!(names.contains(&"shop") && names.contains(&"add-on"));
        assert_eq!(monitoring.content.children[0].content.leaves[0].values.len(), CAPABILITIES.len());
    }
}
