//! Points as an Arrow IPC stream: columns `series`, `time`, `value`, `flag`.

mod batch;
mod message;
mod reader;
mod schema;
mod views;
mod writer;

pub(crate) use reader::ArrowReader;
pub(crate) use writer::ArrowWriter;
