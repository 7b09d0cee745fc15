//! Why a text is no data under a schema, and where.

use std::fmt;

use crate::check::TypeError;
use crate::schema::{NodeId, Schema};
use crate::tree::{Content, Value};

/// A text that is no data under a schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DataError {
    /// What is wrong.
    pub problem: DataProblem,
    /// With which node, as a path from where the reading began: `/stores:bookstore/categories[code='1']/name`; of a name that is not
    /// known, the node that has none of it. Empty: what the text is read against itself.
    pub path: Box<str>,
    /// Where in the text.
    pub place: Place,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Place {
    /// In bytes from the start of the text.
    pub byte: usize,
    /// From 1 on.
    pub line: usize,
    /// In characters, from 1 on.
    pub column: usize,
}

impl Place {
    /// Of an offset in bytes. Cost: the text before it.
    pub fn of(text: &[u8], byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let from = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // Bytes that continue a character do not count.
        let starts_character = |byte: &&u8| **byte & 0xc0 != 0x80;
        let column = before.iter().skip(from).filter(starts_character).count() + 1;
        Self { byte: before.len(), line, column }
    }
}

/// What is wrong with a text.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DataProblem {
    /// It is no JSON, or no XML.
    #[error("{0}")]
    Syntax(Box<str>),
    /// The schema has no node of this name here.
    #[error("there is no node \"{name}\" in the schema{}", module.as_ref().map_or(String::new(), |module| format!(" of {module}")))]
    UnknownNode {
        /// Without module or prefix.
        name: Box<str>,
        /// The module, prefix or namespace, if one was written.
        module: Option<Box<str>>,
    },
    /// The name must say its module: here it is none's, or several modules'.
    #[error("\"{name}\" must name its module: {right}")]
    NoModule {
        /// As it was written.
        name: Box<str>,
        /// As it should be.
        right: Box<str>,
    },
    /// Something else than what the kind of the node wants.
    #[error("{expected} expected, got {found}")]
    Shape {
        /// What would be right.
        expected: &'static str,
        /// What there is.
        found: &'static str,
    },
    /// A value that the type of its leaf does not take.
    #[error(transparent)]
    Value(TypeError),
    /// An entry of a list without one of its keys.
    #[error("the entry has no key \"{key}\"")]
    NoKey {
        /// Its name.
        key: Box<str>,
    },
    /// An entry of a list with the keys of another.
    #[error("another entry of the list has the same keys")]
    SameKeys,
    /// A value that a leaf-list of configuration has twice (RFC 7950, 7.7).
    #[error("the leaf-list has the value \"{value}\" twice")]
    SameValue {
        /// The canonical value.
        value: Box<str>,
    },
    /// A node that may be there once is there twice.
    #[error("the node is given twice")]
    Twice,
    /// Nodes of two cases of one choice.
    #[error("\"{other}\" excludes it: they are of two cases of one choice")]
    OtherCase {
        /// The node that came first.
        other: Box<str>,
    },
    /// State data, where only configuration is taken.
    #[error("the node is state data, which cannot be written")]
    State,
    /// Metadata (RFC 7952, or attributes of XML), where none is taken.
    #[error("metadata \"{name}\" is not supported here")]
    Metadata {
        /// As it was written.
        name: Box<str>,
    },
    /// More nodes below each other than the limit.
    #[error("nodes are nested more than {max} deep")]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// More nodes than the limit.
    #[error("there are more than {max} nodes and values")]
    TooMany {
        /// The limit.
        max: usize,
    },
}

impl fmt::Display for DataError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(out, "{}: ", self.path)?;
        }
        write!(out, "{} (line {}, column {})", self.problem, self.place.line, self.place.column)
    }
}

impl std::error::Error for DataError {}

/// An error on its way out of the nodes around it, which each add their step.
#[derive(Debug)]
pub(crate) struct Fault {
    problem: DataProblem,
    at: usize,
    /// From the innermost on.
    steps: Vec<String>,
}

/// What reading gives. The error is boxed: it is rare, and large.
pub(crate) type Read<T> = Result<T, Box<Fault>>;

impl Fault {
    /// At an offset in bytes.
    pub(crate) fn new(problem: DataProblem, at: usize) -> Box<Self> {
        Box::new(Self { problem, at, steps: Vec::new() })
    }

    /// Adds the step of a node around, or of the node itself.
    pub(crate) fn below(mut self: Box<Self>, step: String) -> Box<Self> {
        self.steps.push(step);
        self
    }

    /// The error as the caller sees it.
    pub(crate) fn into_error(mut self, text: &[u8]) -> DataError {
        self.steps.reverse();
        DataError { problem: self.problem, path: self.steps.concat().into(), place: Place::of(text, self.at) }
    }
}

/// `/name`, with its module where that is not its parent's, or at the start of a path.
pub(crate) fn step(schema: &Schema, id: NodeId, is_first: bool) -> String {
    let node = schema.node(id);
    if is_first || node.parent.is_none_or(|parent| schema.node(parent).module != node.module) {
        format!("/{}:{}", schema.module_name(id), node.name)
    } else {
        format!("/{}", node.name)
    }
}

/// What tells an entry of a list from others, as far as it was read: `[key='value']` for each key.
pub(crate) fn keys_of(schema: &Schema, list: NodeId, content: &Content) -> String {
    let mut out = String::new();
    for key in schema.keys(list) {
        if let Some(value) = key_value(content, *key) {
            let quote = if value.text.contains('\'') { '"' } else { '\'' };
            out.push_str(&format!("[{}={quote}{}{quote}]", schema.node(*key).name, value.text));
        }
    }
    out
}

/// The value of a key, which is among the first leaves of an entry that is whole.
pub(crate) fn key_value(content: &Content, key: NodeId) -> Option<&Value> {
    content.leaves.iter().find(|leaf| leaf.schema == key).and_then(|leaf| leaf.values.first())
}
