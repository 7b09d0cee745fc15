//! CPS paths: the query language of ONAP CPS, text in, tree out. No data, no schema, no I/O.
//!
//! [`parse`] reads a path, [`CpsPath`] is its tree, and printing it writes a text that parses to the same tree.
//! [`CpsPath::normalized`] writes it as CPS spells the xpath of a node. [`CompositeQuery`] is a tree of paths that filter each
//! other. The language is described for its users in `docs/config/cps-path.md`.
//!
//! ```
//! let path = lang_cps_path::parse("//categories[@code = 1 and @name=\"Kids\"]/books/ancestor::bookstore")?;
//! assert_eq!(path.steps.len(), 2);
//! assert_eq!(path.to_string(), "//categories[@code=1 and @name='Kids']/books/ancestor::bookstore");
//! # Ok::<(), lang_cps_path::ParseError>(())
//! ```
//!
//! Invariants: no text makes the parser panic; a parsed path is within the limits of `limits`; parsing a printed path gives the
//! same path, and printing it again the same text.

mod limits;
mod error;
mod tree;
mod print;
mod lexer;
mod parser;
mod composite;
#[cfg(test)]
mod tests;

pub use composite::{CompositeError, CompositeQuery, Operator};
pub use error::ParseError;
pub use limits::{COMPOSITE_DEPTH_MAX, COMPOSITE_QUERIES_MAX, CONDITIONS_MAX, STEPS_MAX, TEXT_BYTES_MAX};
pub use parser::parse;
pub use print::push_step;
pub use tree::{
    Comparison, Contains, CpsPath, LeafCondition, Literal, Name, Origin, Predicate, Step, TextCondition,
};
