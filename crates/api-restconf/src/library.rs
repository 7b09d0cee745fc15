//! What the server says of itself as data: the modules of an anchor (`ietf-yang-library`, RFC 8525 and, as older clients ask,
//! RFC 7895), what RESTCONF it speaks (`ietf-restconf-monitoring`, RFC 8040, section 9), and the resource of the API itself
//! (section 3.3). Made of the schema; nothing of it is stored.

mod schema;

use lang_yang::{Content, DataNode, Leaf, Module, NodeId, Schema, Value, ValueKind};
use xxhash_rust::xxh3::Xxh3Default;

pub(crate) use schema::library_schema;
use schema::{LIBRARY, MONITORING, RESTCONF};

use crate::target::{Chosen, Step, Target};

/// The revision of `ietf-yang-library` that is served, as `yang-library-version` says it.
pub(crate) const LIBRARY_REVISION: &str = "2019-01-04";
/// The capabilities of the protocol (RFC 8040, section 9.1.1).
const CAPABILITIES: [&str; 5] = [
    "urn:ietf:params:restconf:capability:defaults:1.0?basic-mode=explicit",
    "urn:ietf:params:restconf:capability:depth:1.0",
    "urn:ietf:params:restconf:capability:fields:1.0",
    "urn:ietf:params:restconf:capability:with-defaults:1.0",
    "urn:ietf:params:restconf:capability:yang-patch:1.0",
];

/// The name of the one module set, and of the one schema.
const SET: &str = "all";
/// The datastore that `{root}/data` is.
const DATASTORE: &str = "ietf-datastores:running";

/// Whether a module is among those that the server answers for by itself.
pub(crate) fn is_library(module: &str) -> bool {
    module == LIBRARY || module == MONITORING
}

/// A resource of the API itself, by the names of `ietf-restconf`.
///
/// # Panics
///
/// If there is none of these names.
pub(crate) fn api_target(path: &[&str]) -> Target {
    let mut target = Target::default();
    for name in path {
        let node = library_schema().child(target.node(), Some(RESTCONF), name);
        let node = node.expect("the schema of the API has it");
        target.steps.push(Step { node, chosen: Chosen::All });
    }
    target
}

/// What the server says of an anchor with this schema, as far as a path can lead into it: of one tree at the top, or of all. Cost: O(modules) for
/// the trees that tell them, else constant.
pub(crate) fn library_content(schema: &Schema, target: &Target) -> Content {
    let maker = Maker { schema: library_schema() };
    let wanted = target.steps.first().map(|step| step.node);
    let top = |module, name| {
        let node = maker.schema.child(None, Some(module), name).expect("the schema has it");
        wanted.is_none_or(|wanted| wanted == node).then_some(node)
    };
    let (all, state) = (top(LIBRARY, "yang-library"), top(LIBRARY, "modules-state"));
    let modules = if all.or(state).is_some() { all_modules(schema) } else { Vec::new() };
    let id = format!("{:032x}", content_id(schema, &modules));
    let children = [
        top(RESTCONF, "restconf").map(|node| maker.api(node)),
        top(MONITORING, "restconf-state").map(|node| maker.monitoring(node)),
        all.map(|node| maker.library(node, &modules, &id)),
        state.map(|node| maker.state(node, &modules, &id)),
    ];
    Content { leaves: Vec::new(), children: children.into_iter().flatten().collect() }
}

/// The modules of a schema, and those of the server itself that it does not have.
fn all_modules(schema: &Schema) -> Vec<&Module> {
    let own = library_schema().modules.iter().filter(|module| &*module.name != RESTCONF);
    let is_new = |module: &&Module| schema.module_named(&module.name).is_none();
    let mut modules: Vec<&Module> = schema.modules.iter().chain(own.filter(is_new)).collect();
    modules.sort_by_key(|module| (&*module.name, &*module.revision));
    modules
}

/// Another number for other modules (RFC 8525, section 3).
fn content_id(schema: &Schema, modules: &[&Module]) -> u128 {
    let mut hash = Xxh3Default::new();
    hash.update(&schema.hash.to_le_bytes());
    for module in modules {
        for text in [&*module.name, "@", &*module.revision, ";"] {
            hash.update(text.as_bytes());
        }
    }
    hash.digest128()
}

/// Makes data of the schema.
struct Maker {
    schema: &'static Schema,
}

impl Maker {
    /// RFC 8040 3.3
    fn api(&self, id: NodeId) -> DataNode {
        let mut node = self.entry(id, [("yang-library-version", LIBRARY_REVISION)]);
        node.content.children =
            ["data", "operations"].map(|name| self.entry(self.below(id, name), [])).into();
        node
    }

    fn library(&self, id: NodeId, modules: &[&Module], content_id: &str) -> DataNode {
        let set = self.below(id, "module-set");
        let (implemented, imported) = (self.below(set, "module"), self.below(set, "import-only-module"));
        let modules = |list, wanted: bool| {
            let modules = modules.iter().filter(move |module| module.is_implemented == wanted);
            modules.map(move |module| {
                let revision = &*module.revision;
                // A key is there in any case; as a leaf, it is absent if the module has none.
                let revision = (!wanted || !revision.is_empty()).then_some(("revision", revision));
                let leaves =
                    [Some(("name", &*module.name)), revision, Some(("namespace", &*module.namespace))];
                let mut entry = self.entry(list, leaves.into_iter().flatten());
                entry.content.children = self.submodules(list, module, false);
                if wanted {
                    self.put_many(&mut entry, "feature", &module.features);
                    self.put_many(&mut entry, "deviation", &module.deviations);
                }
                entry
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

    /// RFC 7895: the same in one list; a revision that a module has not is an empty key.
    fn state(&self, id: NodeId, modules: &[&Module], set_id: &str) -> DataNode {
        let list = self.below(id, "module");
        let entries = modules.iter().map(|module| {
            let conformance = if module.is_implemented { "implement" } else { "import" };
            let leaves = [
                ("name", &*module.name),
                ("revision", &*module.revision),
                ("namespace", &*module.namespace),
                ("conformance-type", conformance),
            ];
            let mut entry = self.entry(list, leaves);
            self.put_many(&mut entry, "feature", &module.features);
            let deviation = self.below(list, "deviation");
            let deviations = module.deviations.iter().map(|name| {
                let by = modules.iter().find(|by| by.name == *name && by.is_implemented);
                self.entry(deviation, [("name", &**name), ("revision", by.map_or("", |by| &by.revision))])
            });
            entry.content.children = deviations.chain(self.submodules(list, module, true)).collect();
            entry
        });
        let children = entries.collect();
        let mut node = self.entry(id, [("module-set-id", set_id)]);
        node.content.children = children;
        node
    }

    /// The submodules of a module; `is_key`: an empty revision is told, too.
    fn submodules(&self, module_list: NodeId, module: &Module, is_key: bool) -> Vec<DataNode> {
        let list = self.below(module_list, "submodule");
        let submodules = module.submodules.iter().map(|(name, revision)| {
            let revision = (is_key || !revision.is_empty()).then_some(("revision", &**revision));
            self.entry(list, std::iter::once(("name", &**name)).chain(revision))
        });
        submodules.collect()
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

    /// Adds a leaf-list, unless it is empty.
    fn put_many(&self, entry: &mut DataNode, name: &str, values: &[Box<str>]) {
        if !values.is_empty() {
            let values = values.iter().map(|value| text(value)).collect();
            entry.content.leaves.push(Leaf { schema: self.below(entry.schema, name), values });
        }
    }

    fn below(&self, id: NodeId, name: &str) -> NodeId {
        self.schema.child(Some(id), None, name).expect("the schema has it")
    }
}

fn text(text: &str) -> Value {
    Value { kind: ValueKind::Text, text: text.into() }
}

#[cfg(test)]
mod tests {
    use lang_yang::testing::SchemaBuilder;

    use super::*;

    fn values<'c>(node: &'c DataNode, name: &str) -> Vec<&'c str> {
        let schema = library_schema();
        let leaf = node.content.leaves.iter().find(|leaf| &*schema.node(leaf.schema).name == name);
        leaf.into_iter().flat_map(|leaf| &leaf.values).map(|value| &*value.text).collect()
    }

    fn children<'c>(node: &'c DataNode, name: &str) -> Vec<&'c DataNode> {
        let schema = library_schema();
        let children = node.content.children.iter();
        children.filter(|child| &*schema.node(child.schema).name == name).collect()
    }

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
        assert!(!is_library(RESTCONF), "it is no data");
    }

    #[test]
    fn all_modules_are_told() {
        let built = SchemaBuilder::new("shop", "s").module("add-on", "a").build();
        let mut modules = built.modules;
        let shop = modules.iter_mut().find(|module| &*module.name == "shop").unwrap();
        shop.features = ["f".into()].into();
        shop.deviations = ["add-on".into()].into();
        shop.submodules = [("part".into(), "".into())].into();
        let schema = Schema::new(1, modules, built.nodes, built.top, built.identities);
        let content = library_content(&schema, &Target::default());
        let [_, monitoring, library, state] = content.children.as_slice() else { panic!("{content:?}") };
        let set = children(library, "module-set")[0];
        let names: Vec<_> = children(set, "module").iter().map(|module| values(module, "name")[0]).collect();
        assert_eq!(names, ["add-on", MONITORING, LIBRARY, "shop"]);
        let names: Vec<_> =
            children(set, "import-only-module").iter().map(|module| values(module, "name")[0]).collect();
        assert_eq!(names, ["ietf-datastores", "ietf-inet-types", "ietf-yang-types"]);
        let shop = children(set, "module")[3];
        assert_eq!((values(shop, "feature"), values(shop, "deviation")), (vec!["f"], vec!["add-on"]));
        assert_eq!(values(children(shop, "submodule")[0], "name"), ["part"]);
        assert!(values(children(shop, "submodule")[0], "revision").is_empty());
        let shop = children(state, "module")[6];
        assert_eq!(values(children(shop, "deviation")[0], "revision"), ["2024-01-01"]);
        assert_eq!(values(children(shop, "submodule")[0], "revision"), [""]);
        assert_eq!(values(&monitoring.content.children[0], "capability").len(), CAPABILITIES.len());
        assert_eq!(values(library, "content-id"), values(state, "module-set-id"));
    }

    #[test]
    fn only_the_tree_is_made_that_a_path_leads_into() {
        let (schema, own) = (SchemaBuilder::new("m", "m").build(), library_schema());
        let all = library_content(&schema, &Target::default());
        assert_eq!(all.children.len(), 4);
        for tree in &all.children {
            let steps = vec![Step { node: tree.schema, chosen: Chosen::All }];
            let content = library_content(&schema, &Target { steps });
            assert_eq!(content.children.as_slice(), std::slice::from_ref(tree), "{}", own.path(tree.schema));
        }
        let version = library_content(&schema, &api_target(&["restconf", "yang-library-version"]));
        assert_eq!(version.children.len(), 1);
    }

    #[test]
    fn other_modules_have_another_content_id() {
        let schema = |hash| Schema::new(hash, Box::default(), Box::default(), Box::default(), Box::default());
        let id = |schema: &Schema| content_id(schema, &all_modules(schema));
        assert_eq!(id(&schema(1)), id(&schema(1)));
        assert_ne!(id(&schema(1)), id(&schema(2)));
        let own = library_schema();
        assert!(all_modules(own).iter().all(|module| own.module_named(&module.name).is_some()));
        assert_eq!(all_modules(own).len(), own.modules.len(), "none is there twice");
    }
}
