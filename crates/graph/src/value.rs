//! Values of properties: their types.

mod kinds;

pub use kinds::{Cardinality, DataType};
