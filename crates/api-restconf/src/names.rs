//! Names of nodes as RESTCONF spells them: of the module of their parent, or with their module before them.

use lang_yang::{NodeId, Schema};

use crate::problem::{Problem, Tag};

/// Why a name means no node.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum NameError {
    /// A name at the top that does not say its module.
    #[error("{0:?} must name its module: MODULE:{0}")]
    NoModule(String),
    /// No such module.
    #[error("no module {0:?} is part of the schema")]
    Module(String),
    /// No such node there.
    #[error("{0} has no node {1:?}")]
    Node(String, String),
}

/// The node of this name below `parent`. Without a module it is of the module of its parent; at the top it must have one.
///
/// # Errors
///
/// [`NameError`].
pub(crate) fn child(
    schema: &Schema,
    parent: Option<NodeId>,
    module: Option<&str>,
    name: &str,
) -> Result<NodeId, NameError> {
    let module = match (module, parent) {
        (Some(module), _) => module,
        (None, Some(parent)) => schema.module_name(parent),
        (None, None) => return Err(NameError::NoModule(name.to_owned())),
    };
    schema.child(parent, Some(module), name).ok_or_else(|| match schema.module_named(module) {
        None => NameError::Module(module.to_owned()),
        Some(_) => NameError::Node(place(schema, parent), format!("{module}:{name}")),
    })
}

/// A node as messages name it.
pub(crate) fn place(schema: &Schema, node: Option<NodeId>) -> String {
    node.map_or_else(|| "the top of the data".to_owned(), |node| schema.path(node))
}

impl From<NameError> for Problem {
    fn from(error: NameError) -> Self {
        let tag = match error {
            NameError::NoModule(_) => Tag::InvalidValue,
            NameError::Module(_) => Tag::UnknownNamespace,
            NameError::Node(..) => Tag::UnknownElement,
        };
        Self::protocol(tag, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use lang_yang::testing::{SchemaBuilder, string};

    use super::*;

    #[test]
    fn names_are_of_the_module_of_their_parent_or_say_theirs() {
        let schema = SchemaBuilder::new("shop", "s")
            .module("add-on", "a")
            .container("store", |store| {
                store.leaf("name", string()).of_module("add-on", |store| {
                    store.leaf("name", string()).container("more", |more| more.leaf("x", string()))
                })
            })
            .build();
        let path = |parent, module, name| child(&schema, parent, module, name).map(|id| schema.path(id));
        let store = child(&schema, None, Some("shop"), "store").unwrap();
        let more = child(&schema, Some(store), Some("add-on"), "more").unwrap();
        assert_eq!(path(Some(store), None, "name").as_deref(), Ok("/shop:store/name"));
        assert_eq!(path(Some(store), Some("add-on"), "name").as_deref(), Ok("/shop:store/add-on:name"));
        assert_eq!(path(Some(more), None, "x").as_deref(), Ok("/shop:store/add-on:more/x"));
        assert_eq!(path(None, None, "store"), Err(NameError::NoModule("store".into())));
        assert_eq!(path(None, Some("shops"), "store"), Err(NameError::Module("shops".into())));
        let missing = path(Some(store), None, "more").unwrap_err();
        assert_eq!(missing.to_string(), "/shop:store has no node \"shop:more\"");
        assert_eq!(Problem::from(missing).tag, Tag::UnknownElement);
    }
}
