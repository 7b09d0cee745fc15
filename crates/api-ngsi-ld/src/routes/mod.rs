//! The handlers, one file per resource: read, call, answer.

pub(crate) mod conditions;
mod answer;
mod session;
mod body;
mod options;
mod load;
mod reading;
pub(crate) mod entities;
pub(crate) mod attributes;
pub(crate) mod batch;
pub(crate) mod contexts;
pub(crate) mod discovery;
pub(crate) mod docs;
pub(crate) mod info;
pub(crate) mod purge;
pub(crate) mod temporal;

pub(crate) use answer::{GEO_JSON, JSON, JSON_LD};
pub(crate) use reading::{Join, Reading};
