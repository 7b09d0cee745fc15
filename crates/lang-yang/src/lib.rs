//! YANG (RFC 7950): modules in, a [`Schema`] out; data under a schema as a value ([`DataNode`]), read and written as JSON
//! (RFC 7951) and XML. No I/O, no tenants, nothing of how data is stored.

pub mod types;
pub mod schema;
pub mod tree;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod check;
mod data_error;
mod assembly;
mod any_xml;
mod nodes_bound;
mod json_read;
mod xml_read;
mod style;
mod json_write;
mod xml_write;
mod stored;
pub mod statement;
mod modules;
mod archive;
mod engine;
mod compile;
mod strict;
#[cfg(test)]
mod round_trip;

pub use archive::{ArchiveError, ArchiveLimits, RATIO_BYTES_MIN, unpack};
pub use assembly::{Envelope, Metadata, NameRules, ReadOptions};
pub use check::{Kinds, Prefixes, Scalar, TypeError, ValueRules};
pub use compile::{Compiled, LEVELS_MAX, NODES_MAX, PATTERNS_BYTES_MAX, compile};
pub use data_error::{DataError, DataProblem, Place};
pub use engine::{CompileOptions, Features};
pub use json_read::read_json;
pub use json_write::{JsonWriter, write_content_json};
pub use modules::{
    COMPARISONS_MAX, CompileError, DERIVATIONS_MAX, EXPANDED_DEPTH_MAX, EXPANDED_NODES_MAX,
    EXPANDED_STATEMENTS_MAX, FILES_MAX, IDENTITIES_MAX, IMPORT_PATHS_MAX, TEXT_BYTES_MAX, YangFile,
};
pub use nodes_bound::{json_nodes_bound, xml_nodes_bound};
pub use schema::{Any, Identities, Identity, InCase, Module, ModuleId, NodeId, NodeKind, Schema, SchemaNode};
pub use stored::Malformed;
pub use strict::{Invalid, Strict};
pub use style::{Defaults, LongNumbers, Names, Style, ValueRef};
pub use tree::{Content, DataNode, Leaf, Value, ValueKind};
pub use types::{
    IntegerWidth, Leafref, PATTERN_BYTES_MAX, PATTERN_TEXT_BYTES_MAX, PATTERN_WORK_MAX, Pattern,
    PatternError, Type, TypeKind,
};
pub use xml_read::read_xml;
pub use xml_write::{XmlWriter, write_content_xml};
