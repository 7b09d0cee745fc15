//! Bodies, answers and refusals of the HugeGraph API: JSON read into values of the graph, elements and schemas rendered from where they are
//! stored, errors as HugeGraph words them. No trees on the way, but for drafts of schemas.

pub mod problem;
mod dates;
mod tokens;
mod values;
mod ids;
mod elements;
mod render;
pub mod conditions;
mod drafts;
pub mod walks;
mod found;
mod schema;
mod groovy;
pub mod users;

pub use dates::put_time;
pub use drafts::{EdgeLabelGiven, IndexLabelGiven, PropertyKeyGiven, VertexLabelGiven, read_json};
pub use elements::{ElementReader, Given, GivenEdge, GivenVertex, VertexLabels};
pub use found::{WalkAnswer, put_ids, put_number, put_path, put_score, put_scores, put_weighted_path};
pub use groovy::script;
pub use ids::{put_vertex_id, vertex_id_of_list, vertex_id_of_url};
pub use render::{Page, put_edge_id, put_edge_ref};
pub use render::{put_edge, put_vertex};
pub use schema::put_part;
