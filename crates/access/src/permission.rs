//! What can be done, and to what kinds of things: the words of a permission.

use serde::{Deserialize, Serialize};

/// What is done.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Action {
    /// All queries.
    Read,
    /// All that creates or changes.
    Write,
    /// All that removes.
    Delete,
    /// Jobs and scripts.
    Execute,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Delete, Self::Execute];

    /// Its name: `READ`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Write => "WRITE",
            Self::Delete => "DELETE",
            Self::Execute => "EXECUTE",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// To what kind of thing it is done. The order matters: see [`ResourceType::covers`].
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "they are the words that clients send")]
pub enum ResourceType {
    None,
    Status,
    Vertex,
    Edge,
    VertexAggr,
    EdgeAggr,
    Var,
    Gremlin,
    Task,
    PropertyKey,
    VertexLabel,
    EdgeLabel,
    IndexLabel,
    Schema,
    Meta,
    All,
    Grant,
    UserGroup,
    Project,
    Target,
    Metrics,
    Root,
}

impl ResourceType {
    /// All of them, in order.
    pub const ALL: [Self; 22] = [
        Self::None,
        Self::Status,
        Self::Vertex,
        Self::Edge,
        Self::VertexAggr,
        Self::EdgeAggr,
        Self::Var,
        Self::Gremlin,
        Self::Task,
        Self::PropertyKey,
        Self::VertexLabel,
        Self::EdgeLabel,
        Self::IndexLabel,
        Self::Schema,
        Self::Meta,
        Self::All,
        Self::Grant,
        Self::UserGroup,
        Self::Project,
        Self::Target,
        Self::Metrics,
        Self::Root,
    ];

    /// Its name: `VERTEX_LABEL`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Status => "STATUS",
            Self::Vertex => "VERTEX",
            Self::Edge => "EDGE",
            Self::VertexAggr => "VERTEX_AGGR",
            Self::EdgeAggr => "EDGE_AGGR",
            Self::Var => "VAR",
            Self::Gremlin => "GREMLIN",
            Self::Task => "TASK",
            Self::PropertyKey => "PROPERTY_KEY",
            Self::VertexLabel => "VERTEX_LABEL",
            Self::EdgeLabel => "EDGE_LABEL",
            Self::IndexLabel => "INDEX_LABEL",
            Self::Schema => "SCHEMA",
            Self::Meta => "META",
            Self::All => "ALL",
            Self::Grant => "GRANT",
            Self::UserGroup => "USER_GROUP",
            Self::Project => "PROJECT",
            Self::Target => "TARGET",
            Self::Metrics => "METRICS",
            Self::Root => "ROOT",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether a grant of this type is one of the type that is needed, too: `ALL` covers what is in a graph, `ROOT` all, `SCHEMA` the parts of
    /// schemas; who is granted anything may do what needs nothing in particular.
    pub fn covers(self, needed: Self) -> bool {
        match (self, needed) {
            (is, needed) if is == needed => true,
            (is, Self::None) => is != Self::None,
            (Self::Root | Self::All, needed) => self >= needed,
            (Self::Schema, needed) => (Self::PropertyKey..=Self::Schema).contains(&needed),
            _ => false,
        }
    }

    /// Whether things of this type in a graph have labels, or names, by which some of them can be granted.
    pub(crate) fn has_labels(self) -> bool {
        match self {
            Self::Vertex | Self::Edge | Self::VertexAggr | Self::EdgeAggr => true,
            Self::PropertyKey | Self::VertexLabel | Self::EdgeLabel | Self::IndexLabel => true,
            Self::None
            | Self::Status
            | Self::Var
            | Self::Gremlin
            | Self::Task
            | Self::Schema
            | Self::Meta => false,
            Self::All | Self::Grant | Self::UserGroup | Self::Project | Self::Target => false,
            Self::Metrics | Self::Root => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_again() {
        for kind in ResourceType::ALL {
            assert_eq!(ResourceType::from_name(kind.name()), Some(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
        }
        for action in Action::ALL {
            assert_eq!(Action::from_name(action.name()), Some(action));
            assert_eq!(serde_json::to_string(&action).unwrap(), format!("\"{}\"", action.name()));
        }
        assert_eq!((ResourceType::from_name("vertex"), Action::from_name("ANY")), (None, None));
    }

    #[test]
    fn types_cover_others() {
        use ResourceType as Type;
        let check = |is: Type, covered: &[Type]| {
            for needed in Type::ALL {
                assert_eq!(is.covers(needed), covered.contains(&needed), "{is:?} {needed:?}");
            }
        };
        check(Type::None, &[Type::None]);
        check(Type::Vertex, &[Type::None, Type::Vertex]);
        let schema = [Type::PropertyKey, Type::VertexLabel, Type::EdgeLabel, Type::IndexLabel, Type::Schema];
        check(Type::Schema, &[&schema[..], &[Type::None]].concat());
        check(Type::All, &Type::ALL[..=15]);
        check(Type::Target, &[Type::None, Type::Target]);
        check(Type::Root, &Type::ALL);
    }
}
