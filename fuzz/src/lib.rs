//! What must hold of every parser and stored-form decoder, whatever the bytes: one [`Target`] each.
//!
//! The same targets run in two ways. `cargo test -p fuzz` mutates their seeds and `fuzz/corpus/NAME/*` at random, in
//! process, for a number of cases or a time (`TWINFOLD_FUZZ_SECONDS`). `cargo xtask fuzz` lets libFuzzer guide the
//! mutations by coverage (`src/bin/guided.rs`, behind the feature `guided`). What they find becomes a named test where the
//! bug was, and its input a file of the corpus.

mod config;
mod entities;
mod http;
mod configs;
mod graphs;
mod languages;
mod mutate;
mod ngsi_ld;
mod restconf;
mod rows;
mod run;
mod series;
mod stored;
mod yang;
mod yang_data;

pub use mutate::{Mutator, dictionary};
pub use run::{Plan, check};

/// A parser or decoder, and what must hold of it.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Of the folder of its corpus, too.
    pub name: &'static str,
    /// Panics where what must hold does not.
    pub run: fn(&[u8]),
    /// Inputs to begin with, made by the encoders of today, so that they are of the newest form.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    languages::JSON,
    languages::JSON_STRING,
    languages::FORMULA,
    languages::CPS_PATH,
    languages::CONTEXT,
    languages::TIME,
    languages::DURATION,
    yang::TEXT,
    yang::ARCHIVE,
    yang::PATTERN,
    yang::SCHEMA,
    yang::VALUE,
    yang_data::JSON,
    yang_data::XML,
    graphs::PREDICATE,
    graphs::EDGE_ID,
    graphs::ROW,
    graphs::ELEMENT,
    graphs::SCHEMA,
    graphs::RECORDS,
    configs::ROWS,
    http::PARAMETERS,
    http::PERCENT,
    http::ROUTE,
    http::HEADERS,
    http::URL,
    http::CREDENTIALS,
    restconf::PATH,
    restconf::FIELDS,
    restconf::PATCH,
    ngsi_ld::ENTITY,
    ngsi_ld::FRAGMENT,
    ngsi_ld::ATTRIBUTE,
    ngsi_ld::QUERY,
    ngsi_ld::TYPES,
    ngsi_ld::SCOPES,
    ngsi_ld::GEOMETRY,
    ngsi_ld::TIME,
    ngsi_ld::PARAMETERS,
    ngsi_ld::QUERY_BODY,
    ngsi_ld::LINK,
    ngsi_ld::BATCH,
    ngsi_ld::PAST,
    configs::PARAMETERS,
    configs::BODIES,
    series::JSON,
    series::CSV,
    series::ARROW,
    series::RENDERED,
    series::PARAMETERS,
    series::MASTER_DATA,
    series::MOMENT,
    entities::ENTITY,
    entities::CHANGES,
    stored::BLOCK,
    stored::BLOCK_OF_POINTS,
    stored::NUMBERS,
    stored::CATALOGUE,
    stored::SERIES_CHANGES,
    stored::CURSOR,
    config::TREE,
    rows::STRANDS,
    rows::DELIVERIES,
    rows::HISTORY,
    rows::KEY,
    rows::ENTITY_KEYS,
    rows::TENANTS,
    rows::ENGINE,
];

/// The target of a name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|target| target.name == name).copied()
}

/// Texts as seeds.
fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
