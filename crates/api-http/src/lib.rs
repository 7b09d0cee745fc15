//! What all front ends share of HTTP: requests read whole within limits, routes, refusals,
//! query parameters, the choice of a media type, compression, paging links. No standard's JSON,
//! no model, no sockets.
//!
//! A front end gives a [`FrontEnd`]: its [`Route`]s, made with [`handler`], and the way it words a
//! [`Refusal`]. The server puts them into one [`Router`], reads bodies with [`read_body`], and
//! compresses answers with [`compress`].

mod body;
mod media;
mod paging;
mod params;
mod request;
mod response;
mod router;

pub use body::read_body;
pub use media::{MediaType, accept};
pub use paging::{PageLink, page_link};
pub use params::{Params, percent_decode, percent_decode_segment, percent_encode_into};
pub use request::{HeaderError, Request};
pub use response::{Response, compress, empty_response, json_response};
pub use router::{Answer, Found, FrontEnd, Handler, Refusal, Route, Router, handler, plain_refusal};
