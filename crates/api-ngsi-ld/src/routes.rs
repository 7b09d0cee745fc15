//! The handlers, one file per resource: read, call, answer.

pub(crate) mod entities;
pub(crate) mod attributes;
pub(crate) mod batch;
pub(crate) mod purge;
pub(crate) mod temporal;
pub(crate) mod discovery;
pub(crate) mod contexts;
pub(crate) mod info;
pub(crate) mod docs;
