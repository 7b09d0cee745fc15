//! One property graph as values: its schema, its vertices and edges as they are stored, their ids, keys and index rows, and the
//! conditions of queries on them. Nothing here waits, and nothing knows tenants, tasks or HTTP.

mod numbers;
mod value;

pub use numbers::{IndexLabelId, LabelId, PropertyKeyId};
pub use value::{Cardinality, DataType};
