//! Points as CSV (RFC 4180): columns `series`, `time`, `value`, `flag`.

mod record;
mod reader;
mod writer;

pub(crate) use reader::CsvReader;
pub(crate) use writer::CsvWriter;
