//! Bodies: JSON read into values of the graph, and elements rendered from where they are stored. No trees on the way, but for
//! drafts of schemas.

mod dates;
mod tokens;
mod values;
mod ids;
mod elements;
mod render;
pub(crate) mod conditions;
mod drafts;
pub(crate) mod walks;
mod found;
mod schema;
mod groovy;
pub(crate) mod users;

pub(crate) use dates::put_time;
pub(crate) use drafts::{EdgeLabelGiven, IndexLabelGiven, PropertyKeyGiven, VertexLabelGiven, read_json};
pub(crate) use elements::{ElementReader, Given, GivenEdge, GivenVertex, VertexLabels};
pub(crate) use found::{WalkAnswer, put_ids, put_number, put_path, put_score, put_scores, put_weighted_path};
pub(crate) use groovy::script;
pub(crate) use ids::{put_vertex_id, vertex_id_of_list, vertex_id_of_url};
pub(crate) use render::{Page, put_edge_id, put_edge_ref};
pub(crate) use render::{put_edge, put_vertex};
pub(crate) use schema::put_part;
