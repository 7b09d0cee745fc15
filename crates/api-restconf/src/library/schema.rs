//! The schema of what the server says of itself, as far as the server says it.

use std::sync::LazyLock;

use lang_yang::{Module, ModuleId, NodeId, NodeKind, Schema, SchemaNode, Type, TypeKind};

use super::LIBRARY_REVISION;

pub(super) const LIBRARY: &str = "ietf-yang-library";
pub(super) const MONITORING: &str = "ietf-restconf-monitoring";
/// What it describes is no data of a datastore (RFC 8040, section 8).
pub(super) const RESTCONF: &str = "ietf-restconf";

/// Name, revision, prefix and nodes; those without nodes are only imported by the others.
const MODULES: [(&str, &str, &str, &[Node]); 6] = [
    ("ietf-datastores", "2018-02-14", "ds", &[]),
    ("ietf-inet-types", "2013-07-15", "inet", &[]),
    (RESTCONF, "2017-01-26", "rc", API_NODES),
    (MONITORING, "2017-01-26", "rcmon", MONITORING_NODES),
    (LIBRARY, LIBRARY_REVISION, "yanglib", LIBRARY_NODES),
    ("ietf-yang-types", "2013-07-15", "yang", &[]),
];

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

const API_NODES: &[Node] = &[container(
    "restconf",
    &[container("data", &[]), container("operations", &[]), leaf("yang-library-version")],
)];
const MONITORING_NODES: &[Node] =
    &[container("restconf-state", &[container("capabilities", &[leaf_list("capability")])])];
const LIBRARY_NODES: &[Node] = &[
    container(
        "yang-library",
        &[
            list(
                "module-set",
                1,
                &[
                    leaf("name"),
                    list(
                        "module",
                        1,
                        &[
                            leaf("name"),
                            leaf("revision"),
                            leaf("namespace"),
                            list("submodule", 1, &[leaf("name"), leaf("revision")]),
                            leaf_list("feature"),
                            leaf_list("deviation"),
                        ],
                    ),
                    list(
                        "import-only-module",
                        2,
                        &[
                            leaf("name"),
                            leaf("revision"),
                            leaf("namespace"),
                            list("submodule", 1, &[leaf("name"), leaf("revision")]),
                        ],
                    ),
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
            list(
                "module",
                2,
                &[
                    leaf("name"),
                    leaf("revision"),
                    leaf("namespace"),
                    leaf_list("feature"),
                    list("deviation", 2, &[leaf("name"), leaf("revision")]),
                    leaf("conformance-type"),
                    list("submodule", 2, &[leaf("name"), leaf("revision")]),
                ],
            ),
        ],
    ),
];

static SCHEMA: LazyLock<Schema> = LazyLock::new(make_schema);

/// The schema of what the server says of itself. Cost: made once.
pub(crate) fn library_schema() -> &'static Schema {
    &SCHEMA
}

fn make_schema() -> Schema {
    let (mut modules, mut nodes, mut top) = (Vec::new(), Vec::new(), Vec::new());
    for (name, revision, prefix, drafts) in MODULES {
        let module = ModuleId(u16::try_from(modules.len()).expect("a few"));
        modules.push(Module {
            name: name.into(),
            revision: revision.into(),
            namespace: format!("urn:ietf:params:xml:ns:yang:{name}").into(),
            prefix: prefix.into(),
            is_implemented: !drafts.is_empty(),
            features: Box::default(),
            submodules: Box::default(),
            deviations: Box::default(),
        });
        let slot = u32::try_from(top.len()).expect("a few");
        top.extend(put_nodes(&mut nodes, (module, None), drafts, slot));
    }
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
