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
//! A tree is kept as its steps in postfix order: no walk over it recurses, however long a formula is.
//!
//! Invariants: no text makes the parser panic; what it accepts keeps to the limits below; a printed formula
//! parses to the formula that was printed.

mod function;
mod offset;
mod reference;
mod reader;
mod tree;
mod parser;
mod print;
#[cfg(test)]
mod tests;

pub use function::Function;
pub use offset::{Duration, Offset};
pub use parser::{ParseError, parse};
pub use reference::{Reference, Rule};
pub use tree::{Binary, Formula, Step, Unary};

/// The longest formula in bytes.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// How deep parentheses, calls, signs and powers nest.
pub const DEPTH_MAX: usize = 64;
/// The most operators, calls, numbers and references of a formula.
pub const STEPS_MAX: usize = 4_096;
/// The most values that are held at once when a formula is evaluated.
pub const STACK_MAX: usize = 128;
/// The most different references of a formula.
pub const REFERENCES_MAX: usize = 256;
