//! Points as an Arrow IPC stream: columns `series`, `time`, `value`, `flag`.

mod schema;
mod batch;
mod bounds;
mod message;
mod reader;
mod writer;

pub(crate) use reader::ArrowReader;
pub(crate) use writer::ArrowWriter;
