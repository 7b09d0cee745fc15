//! What handlers read of a request beside its parameters: the tenant, the context, the body, the conditions, and what the
//! request may take of the server.

mod conditions;
mod link;
mod load;
mod target;
mod session;
mod body;
mod elements;

pub(crate) use body::body;
pub(crate) use conditions::state_condition;
pub(crate) use elements::{Elements, Parsed, Resolver};
#[cfg(feature = "testing")]
pub(crate) use link::context_link;
pub(crate) use load::{LIGHT_BYTES, Memory, beside, deadline, stored_bytes};
pub(crate) use session::{Session, tenant};
pub(crate) use target::{attribute_name, entity_id, same_id};
