//! Formulas over time series: text in, tree out. No data, no I/O.
//!
//! `parse` reads a formula, [`Formula`] is its tree, and printing a formula writes the text that parses to the
//! same tree. The language is described for its users in `docs/series/formulas.md`.
//!
//! ```
//! let formula = lang_formula::parse("[Load North] + 2 * [Load South, -PT1H]")?;
//! assert_eq!(formula.to_string(), "[Load North] + 2 * [Load South, -PT1H]");
//! assert_eq!(formula.references().len(), 2);
//! # Ok::<(), lang_formula::ParseError>(())
//! ```
//!
//! A tree is stored as a list of steps in postfix order, so that no walk over it recurses, however long the formula is.
//!
//! Invariants: no text makes the parser panic; a parsed formula is within the limits of `limits`; parsing a printed formula
//! gives the same formula.

mod error;
mod limits;
mod function;
mod aggregation;
mod offset;
mod reference;
mod reader;
mod tree;
mod parser;
mod print;
#[cfg(test)]
mod tests;

pub use aggregation::Aggregation;
pub use error::ParseError;
pub use function::Function;
pub use lang_time::Duration;
pub use limits::{DEPTH_MAX, REFERENCES_MAX, STACK_MAX, STEPS_MAX, TEXT_BYTES_MAX};
pub use offset::Offset;
pub use parser::parse;
pub use reference::Reference;
pub use tree::{Binary, Formula, Step, Unary};
