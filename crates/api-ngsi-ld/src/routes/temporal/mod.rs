//! `/temporal`: the past of entities. The entity as it is stays as it is.

pub(crate) mod attributes;
mod reading;
pub(crate) mod entities;
