//! The family `stellio`: the requests of the published k6 suite, byte for byte where it matters, the sets they
//! run on, and the checks that the answers are right.

pub mod payload;
pub mod sets;
pub mod rows;
pub mod sessions;
pub mod instances;
mod evolution;
pub mod checks;
mod caveats;
mod figures;
mod family;

#[cfg(test)]
mod tests;

pub use family::Stellio;

/// The header lines of every request of the suite, GETs too.
pub const HEADERS: &str = "Content-Type: application/json\r\n\
    Link: <https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.7.jsonld>; \
    rel=\"http://www.w3.org/ns/json-ld#context\"; type=\"application/ld+json\"\r\n";

/// Where the entities live.
pub const ENTITIES: &str = "/ngsi-ld/v1/entities";

/// Where their past lives.
pub const TEMPORAL: &str = "/ngsi-ld/v1/temporal/entities";

/// Entities a page: the default of the published broker, stated here because a standard default does not exist.
pub const PAGE_ENTITIES: usize = 30;
