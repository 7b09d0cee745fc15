//! CPS paths on a tree: a [`Query`] is a path resolved against a schema, an [`Evaluation`] carries it out on a tree.
//!
//! An evaluation holds no tree. [`Evaluation::run`] is given one, goes on where it was, and comes back when it is done, when a
//! page is missing, or when it has taken as many steps as it was allowed: the caller loads the page, or lets others run, and calls
//! again with the same version of the tree.
//!
//! How a path is carried out: names are looked up in the schema, once. Levels whose keys the path gives are look-ups in the key
//! index; lists above them are gone through; what is below the last of them is one cursor over the pages that may have entries of
//! the kind that is asked for. Nothing is visited twice, and a path that no schema node can match visits nothing.

mod limits;
mod number;
mod condition;
mod resolve;
mod labels;
mod distinct;
mod state;
mod runner;
mod evaluation;
mod selection;
mod composite;
mod address;
#[cfg(test)]
mod tests;

use lang_cps_path::{CpsPath, Name};
use lang_yang::{NodeId, Schema};

pub use address::{Address, AddressError};
pub use composite::{CompositeAnswer, CompositeEvaluation};
pub use limits::VALUES_BYTES_MAX;
pub use state::{Answer, Evaluation, Progress};

use resolve::Target;

/// A path resolved against a schema: what it can find, without any tree.
#[derive(Clone, Debug)]
pub struct Query {
    targets: Vec<Target>,
    attribute: Option<Name>,
    /// Whether it answers the top, where that has leaves: of the path `/`.
    has_top: bool,
}

/// Why a path cannot be asked of trees of a schema.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum QueryError {
    /// `>` and the like, on a leaf without numbers.
    #[error(
        "\"{comparison}\" compares numbers, and leaf {leaf} has none: compare it by \"=\", or by text() or contains()"
    )]
    NotComparable {
        /// The leaf, with the names of modules.
        leaf: Box<str>,
        /// As the path has it.
        comparison: &'static str,
    },
    /// `>` and the like, with a value that is no number.
    #[error("can use \"{comparison}\" only with a number, not with '{value}'")]
    NoNumber {
        /// As the path has it.
        comparison: &'static str,
        /// As the path has it.
        value: Box<str>,
    },
    /// An attribute axis where nodes are asked for.
    #[error("\"/@{0}\" answers values, and nodes are asked for here: leave it out")]
    Attribute(Box<str>),
}

impl Query {
    /// A path against a schema. Names that the schema does not have find nothing. Cost: O(path × nodes of its names).
    ///
    /// # Errors
    ///
    /// [`QueryError`] if the path compares what cannot be compared.
    pub fn new(schema: &Schema, path: &CpsPath) -> Result<Self, QueryError> {
        let has_top = path.is_root() && schema.top.iter().any(|child| !schema.is_entry(*child));
        Ok(Self { targets: resolve::targets(schema, path)?, attribute: path.attribute.clone(), has_top })
    }

    fn target(&self, at: usize) -> &Target {
        self.targets.get(at).expect("a search has targets of its query")
    }

    /// Whether no tree of the schema has anything to find.
    pub fn finds_nothing(&self) -> bool {
        self.targets.is_empty() && !self.has_top
    }

    /// The leaf whose values are answered, if it asks for one.
    pub fn attribute(&self) -> Option<&Name> {
        self.attribute.as_ref()
    }

    /// The containers and lists whose entries it can answer, in the order of the schema.
    pub fn nodes(&self) -> Vec<NodeId> {
        let answered = self.targets.iter().flat_map(|target| {
            target
                .answers
                .iter()
                .filter_map(|answered| target.levels.get(answered.depth - 1))
                .map(|level| level.node)
        });
        let mut nodes: Vec<NodeId> = answered.collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}
