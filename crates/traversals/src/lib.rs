//! Walks over a stored graph, each from some vertices on: neighbourhoods, paths, similarities, ranks. They read a graph as it is at one
//! moment, and count what they read.
//!
//! A walk numbers the vertices that it meets ([`Numbering`]); what it remembers of them lies in arrays and bits. It reads edges vertex by
//! vertex, in the order of its frontier, and knows nothing of rows. Ids come back at the end, by the numbering that each answer carries.
//!
//! Parameters are given as clients spell them: -1 is no limit. Each page says what its walk does at its capacity and its limit, and how
//! vertices of many edges are skipped. [`Measure`] is the same for all of them. A walk ends with [`Error::TimedOut`] at its deadline, and
//! with [`Error::Memory`] before it takes more than it may; once it is long it goes on in a lane ([`WalkOptions`]).
//!
//! Algorithms that look at every edge many times are no walks: [`whole`] reads a graph into memory for them.

mod error;
mod limits;
mod filter;
mod step;
mod numbering;
pub mod whole;
mod marks;
mod options;
mod layers;
mod answer;
mod dag;
mod forest;
mod path_set;
mod walk;
mod kout;
mod kneighbor;
mod shortest;
mod weighted;
mod paths;
mod collection_paths;
mod template_paths;
mod customized;
mod rays;
mod similarity;
mod fusiform;
mod count;
mod edge_exist;
mod personal_rank;
mod neighbor_rank;

pub use answer::{FoundPaths, Measure, Path, Reached, Scores};
pub use collection_paths::{CollectionPaths, collection_paths};
pub use count::{Count, Counted, count};
pub use customized::{
    Crosspoints, CustomizedCrosspoints, CustomizedPaths, CustomizedStep, SortBy, customized_crosspoints,
    customized_paths,
};
pub use edge_exist::{EdgeExist, edge_exist};
pub use error::Error;
pub use filter::LabelFilter;
pub use fusiform::{FusiformSimilarity, Similar, Similars, fusiform_similarity};
pub use kneighbor::{Kneighbor, kneighbor};
pub use kout::{Kout, TraverseMode, kout};
pub use limits::{DEPTH_MAX, ENDS_MAX, NO_LIMIT, defaults};
pub use neighbor_rank::{LayerRanks, NeighborRank, RankStep, neighbor_rank};
pub use numbering::Numbering;
pub use options::{WALK_BYTES_MAX, WalkMemory, WalkOptions};
pub use paths::{Paths, crosspoints, paths};
pub use personal_rank::{PersonalRank, RankLabel, WithLabel, personal_rank};
pub use rays::{Rays, rays, rings};
pub use shortest::{
    MultiNodeShortestPath, ShortestPath, all_shortest_paths, multi_node_shortest_path, shortest_path,
};
pub use similarity::{
    CommonNeighbors, JaccardSimilars, SameNeighbors, Score, adamic_adar, jaccard_similarity,
    jaccard_similars, resource_allocation, same_neighbors,
};
pub use step::{Direction, Step, StepLabel};
pub use store::{Deadline, Lane};
pub use template_paths::{TemplatePaths, TemplateStep, template_paths};
pub use weighted::{
    SingleSourceShortestPath, WeightedShortestPath, single_source_shortest_paths, weighted_shortest_path,
};
