//! Composite queries: paths that filter what another path found.

use crate::error::ParseError;
use crate::limits::{COMPOSITE_DEPTH_MAX, COMPOSITE_QUERIES_MAX};
use crate::parser::parse;
use crate::tree::CpsPath;

/// A path, and conditions on the trees that it finds.
///
/// The nodes that the path finds are the candidates, with all below them. A condition selects, of the candidates, the nodes that
/// its own path finds anywhere in the tree. Conditions of a condition look among the descendants of the nodes that it selected;
/// what they select is added to these, and if they select nothing, `and` drops these and `or` keeps them. Without conditions a
/// query selects all candidates.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CompositeQuery {
    path: CpsPath,
    operator: Operator,
    conditions: Vec<CompositeQuery>,
    /// How deep it nests, itself included.
    depth: usize,
    /// How many paths it has, its own included.
    queries: usize,
}

/// How the conditions of a composite query are joined.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operator {
    /// What all conditions select.
    And,
    /// What any condition selects.
    Or,
}

/// Why a composite query is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CompositeError {
    /// A path is empty.
    #[error("cps path is missing: each composite query, and each condition of one, has a cpsPath")]
    MissingPath,
    /// A path cannot be read.
    #[error(transparent)]
    Path(#[from] ParseError),
    /// An operator is neither `and` nor `or`.
    #[error("invalid operator: {0}; supported operators are: AND/OR")]
    Operator(Box<str>),
    /// Conditions nest too deep.
    #[error("conditions nest deeper than {COMPOSITE_DEPTH_MAX} levels")]
    TooDeep,
    /// There are too many conditions.
    #[error("a composite query has at most {COMPOSITE_QUERIES_MAX} paths")]
    TooMany,
}

impl CompositeQuery {
    /// A query of its parts, as a body gives them; no operator, or a blank one, is `and`. Cost: O(path + conditions).
    ///
    /// # Errors
    ///
    /// [`CompositeError`] if a part cannot be read, or the whole is beyond a limit.
    pub fn new(path: &str, operator: Option<&str>, conditions: Vec<Self>) -> Result<Self, CompositeError> {
        if path.trim().is_empty() {
            return Err(CompositeError::MissingPath);
        }
        let operator = Operator::named(operator.unwrap_or(""))?;
        let depth = conditions.iter().map(|one| one.depth).max().unwrap_or(0) + 1;
        // The query at the root is no condition.
        if depth > COMPOSITE_DEPTH_MAX + 1 {
            return Err(CompositeError::TooDeep);
        }
        let queries = conditions.iter().map(|one| one.queries).sum::<usize>() + 1;
        if queries > COMPOSITE_QUERIES_MAX {
            return Err(CompositeError::TooMany);
        }
        Ok(Self { path: parse(path)?, operator, conditions, depth, queries })
    }

    /// What finds the candidates, or what a condition selects by.
    pub fn path(&self) -> &CpsPath {
        &self.path
    }

    /// How the conditions are joined.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The conditions.
    pub fn conditions(&self) -> &[Self] {
        &self.conditions
    }
}

impl Operator {
    /// The operator of a word, whatever its case; of a blank one `and`.
    fn named(word: &str) -> Result<Self, CompositeError> {
        match word.trim() {
            "" => Ok(Self::And),
            word if word.eq_ignore_ascii_case("and") => Ok(Self::And),
            word if word.eq_ignore_ascii_case("or") => Ok(Self::Or),
            word => Err(CompositeError::Operator(word.into())),
        }
    }
}
