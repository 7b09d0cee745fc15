//! Points as JSON: rows and compact.

mod cursor;
mod entry;
mod extent;
mod row;
mod document;
mod arrays;
mod flag_runs;
mod writer;

pub(crate) use document::JsonReader;
pub(crate) use writer::JsonWriter;
