//! What tests share, here and in `model-entities`: a plain model of entities, random operations, entities from JSON and filters from
//! text.
#![expect(
    missing_docs,
    clippy::result_unit_err,
    clippy::missing_errors_doc,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "for tests alone"
)]

pub mod operations;
pub mod plain;
pub mod query;
