//! The handlers, one file per resource: read, call, answer.

pub(crate) mod attributes;
pub(crate) mod batch;
pub(crate) mod conditions;
pub(crate) mod contexts;
pub(crate) mod discovery;
pub(crate) mod docs;
pub(crate) mod entities;
pub(crate) mod info;
pub(crate) mod purge;
pub(crate) mod temporal;

mod answer;
mod body;
mod load;
mod options;
mod reading;
mod session;

pub(crate) use answer::{GEO_JSON, JSON, JSON_LD};
pub(crate) use reading::{Join, Reading};
