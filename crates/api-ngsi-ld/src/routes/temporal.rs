//! `/temporal`: the history of entities. The entity as it is stays as it is.

pub(crate) mod entities;
pub(crate) mod attributes;
