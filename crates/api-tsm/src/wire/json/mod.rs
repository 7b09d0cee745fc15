//! Points as JSON: rows and compact.

mod arrays;
mod cursor;
mod document;
mod entry;
mod extent;
mod flag_runs;
mod row;
mod writer;

pub(crate) use document::JsonReader;
pub(crate) use writer::JsonWriter;
