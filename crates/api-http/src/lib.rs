//! What all front ends share of HTTP: requests read within limits, routes, refusals,
//! query parameters, the choice of a media type, compression, paging links. No standard's JSON,
//! no model, no sockets.
//!
//! A front end gives a [`FrontEnd`]: its [`Route`]s, each with the [`Operation`] that it is and a [`handler`] (or made in its
//! [`Frame`], where handlers may refuse), and the way it words a [`Refusal`]. The server puts them into one [`Router`], reads bodies with [`read_body`], and compresses answers
//! with [`compress`].
//!
//! ```
//! use api_http::{
//!     FrontEnd, Given, Operation, Parameter, ParameterValue, Request, Route, Router, check_parameters, handler,
//!     json_response, plain_refusal,
//! };
//! use http::{Method, StatusCode};
//!
//! const NAME: Parameter = Parameter::new("name", ParameterValue::Text, "Who is greeted.");
//! /// GET /greetings
//! const GREET: Operation = Operation::new("greetings", "greet", "Greets somebody.").query(&[&[NAME]]);
//!
//! let greet = |(), request: Request| async move {
//!     if check_parameters(&request).is_err() {
//!         return json_response(StatusCode::BAD_REQUEST, "text/plain", "no such parameter");
//!     }
//!     let name = Given::of(&request).get(&NAME).unwrap_or("world").to_owned();
//!     json_response(StatusCode::OK, "text/plain", format!("hello, {name}"))
//! };
//! let routes = vec![Route {
//!     method: Method::GET,
//!     path: "/greetings",
//!     operation: &GREET,
//!     handler: handler(&(), greet),
//!     is_admin: false,
//! }];
//! let router =
//!     Router::new(vec![FrontEnd { name: "greetings", prefix: "/greetings", routes, refuse: plain_refusal }]);
//! let found = router.find(&Method::GET, "/greetings/").expect("the route");
//! assert_eq!(found.operation.id, "greet");
//! ```
//!
//! What may be too large for memory passes in pieces: a route made with [`streamed_handler`] reads its body
//! from a [`RequestStream`], and an answer may have a body made by [`stream`], or come in chunks ([`chunked_response`]). What all bodies and answers hold at once is
//! bounded by a [`MemoryBudget`].

mod budget;
mod media;
mod coding;
mod params;
mod parameter;
mod operation;
mod request;
mod given;
mod stream;
mod response;
mod chunks;
mod conditions;
mod dates;
mod refusal;
mod body;
mod incoming;
mod router;
mod frame;
mod multipart;
mod openapi;
mod pace;
mod paging;
mod tenant;
mod credentials;
#[cfg(feature = "testing")]
pub mod testing;

pub use body::{BODY_BYTES_HELD, read_body};
pub use budget::{MemoryBudget, MemoryFull, RequestMemory, Reservation, SMALL_BYTES, Share};
pub use chunks::{CHUNK_BYTES, Chunks, WHOLE_BYTES_MAX, chunked_response};
pub use conditions::{
    ConditionError, Conditions, ReadJudged, States, check_untagged, entity_tag, judge_read, tagged,
};
pub use credentials::{Credentials, CredentialsError};
pub use dates::{DateConditions, date_value};
pub use frame::{DRAIN_BYTES_MAX, Frame};
pub use given::{Given, ParameterError, check_parameters};
pub use incoming::{RequestStream, StreamLimits};
pub use media::{MediaType, accept, essence};
pub use multipart::{FormError, FormLimits, FormPart, read_form};
pub use openapi::{
    ApiDescription, Document, Line, description_page, document_operation, page_operation, schema_reference,
};
pub use operation::{Content, Gives, Header, Operation, Tagging};
pub use pace::log_refusal;
pub use paging::{PageLink, next_link, page_link};
pub use parameter::{Parameter, ParameterValue};
pub use params::{Params, percent_decode, percent_decode_segment, percent_encode_into};
pub use refusal::Refusal;
pub use request::{HeaderError, Request};
pub use response::{
    DataDamaged, RequestTimedOut, Response, compress, empty_response, end_with_newline, json_response,
    located, no_content,
};
pub use router::{
    Admission, Answer, Found, FrontEnd, Guard, Handler, Route, Router, handler, plain_refusal,
    streamed_handler,
};
pub use stream::{
    Body, BrokenOff, EndReason, Gone, STREAM_BYTES_HELD, StreamBody, StreamEnd, StreamSender, stream,
};
pub use tenant::{FIWARE_SERVICE, TENANT, TenantError, tenant};
