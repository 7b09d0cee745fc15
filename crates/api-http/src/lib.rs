//! What all front ends share of HTTP: requests read within limits, routes, refusals,
//! query parameters, the choice of a media type, compression, paging links. No standard's JSON,
//! no model, no sockets.
//!
//! A front end gives a [`FrontEnd`]: its [`Route`]s, made with [`handler`], and the way it words a
//! [`Refusal`]. The server puts them into one [`Router`], reads bodies with [`read_body`], and
//! compresses answers with [`compress`].
//!
//! What may be too large for memory passes in pieces: a route made with [`streamed_handler`] reads its body
//! from a [`RequestStream`], and an answer may have a body made by [`stream`]. What all bodies and answers hold at once is
//! bounded by a [`MemoryBudget`].

mod budget;
mod media;
mod coding;
mod params;
mod request;
mod stream;
mod conditions;
mod response;
mod router;
mod body;
mod incoming;
mod openapi;
mod pace;
mod paging;
mod tenant;
#[cfg(feature = "testing")]
pub mod testing;

pub use body::{BODY_BYTES_HELD, read_body};
pub use budget::{MemoryBudget, MemoryFull, RequestMemory, Reservation, SMALL_BYTES, Share};
pub use conditions::{ConditionError, Conditions, States, check_untagged, tagged};
pub use incoming::{RequestStream, StreamLimits};
pub use media::{MediaType, accept};
pub use openapi::{
    ApiDescription, description_page, parameter_reference, path_parameter, path_parameters, query_parameter,
    schema_reference,
};
pub use pace::log_refusal;
pub use paging::{PageLink, next_link, page_link};
pub use params::{Params, percent_decode, percent_decode_segment, percent_encode_into};
pub use request::{HeaderError, Request};
pub use response::{
    DataDamaged, RequestTimedOut, Response, compress, empty_response, end_with_newline, json_response,
};
pub use router::{
    Answer, Found, FrontEnd, Handler, Refusal, Route, Router, handler, plain_refusal, streamed_handler,
};
pub use stream::{
    Body, BrokenOff, EndReason, Gone, STREAM_BYTES_HELD, StreamBody, StreamEnd, StreamSender, stream,
};
pub use tenant::{FIWARE_SERVICE, TENANT, TenantError, tenant};
