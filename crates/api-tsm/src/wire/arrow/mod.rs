//! Points as an Arrow IPC stream: columns `series`, `time`, `value`, `flag`.

mod batch;
mod bounds;
mod message;
mod reader;
mod schema;
mod writer;

pub(crate) use reader::ArrowReader;
pub(crate) use writer::ArrowWriter;
