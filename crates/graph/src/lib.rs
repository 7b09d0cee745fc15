//! One property graph as values: its schema, its vertices and edges as they are stored, their ids, keys and index rows, and the
//! conditions of queries on them. Nothing here waits, and nothing knows tenants, tasks or HTTP.

mod codes;
mod numbers;
mod value;
mod mode;
pub mod schema;
pub mod id;
pub mod element;
pub mod keys;
pub mod analyse;
pub mod index;
pub mod condition;
pub mod admit;
pub mod update;
pub mod plan;

pub use element::{Edge, EdgeView, Vertex, VertexView};
pub use id::{EdgeId, EdgeIdError, VERTEX_ID_BYTES_MAX, VertexId, VertexIdRef};
pub use keys::{EdgeDirection, EdgeKey};
pub use mode::{GraphMode, ReadMode};
pub use numbers::{IndexLabelId, LabelId, PropertyKeyId};
pub use schema::Schema;
pub use store::wire::Malformed;
pub use value::{
    Cardinality, DataType, Properties, PropertiesBuilder, PropertiesIter, PropertiesRef, Scalar, ScalarRef,
    ScalarsIter, ScalarsRef, Value, ValueRef,
};
