//! The graphs of tenants: their directory, schema, writes, reads, queries and tasks, over the store.

mod error;
mod reader;

pub use error::Error;
pub use reader::{
    EdgePage, EdgePages, EdgeRef, Reader, ReaderContext, StoredEdge, StoredVertex, VisibleLabels,
};
