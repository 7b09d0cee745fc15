//! Bodies and answers: trees written as they are read, values, reports of deltas, subscriptions, composite queries.

pub(crate) mod tree;
pub(crate) mod values;
pub(crate) mod composite;
pub(crate) mod delta;
pub(crate) mod subscriptions;
