//! Algorithms over a whole graph that lies in memory as lists of neighbours: ranks, components, communities, centralities. Pure
//! arithmetic: no store, no ids but numbers from 0.
//!
//! A graph is one or two [`Adjacency`]: the neighbours along the edges, and, if an algorithm asks for it, those against them
//! ([`Adjacency::reversed`]). [`Undirected`] has each edge at both of its ends, [`Simple`] also no loops and no parallel edges. Edges are
//! collected in an [`EdgeList`], or walked twice ([`Adjacency::from_edges`]).
//!
//! | what | function | edges | cost |
//! |---|---|---|---|
//! | vertices within, or at, some steps; a shortest path | [`Search`] | any | edges near the source |
//! | weakly connected components | [`weak_components`] | any direction | edges |
//! | strongly connected components | [`strong_components`] | out | edges |
//! | core numbers | [`core_numbers`] | simple | edges |
//! | triangles, of all or of each vertex; clustering | [`count_triangles`], [`triangles_by_vertex`], [`Clustering`] | simple | edges^1.5 at most |
//! | PageRank | [`page_rank`] | out and in | edges, each iteration |
//! | eigenvector centrality | [`eigenvector`] | in | edges, each iteration |
//! | betweenness, stress; estimates from a sample | [`betweenness`], [`stress`], [`betweenness_sampled`] | any | edges, each source |
//! | closeness; estimates from a sample | [`closeness`], [`closeness_sampled`] | any | edges, each source |
//! | label propagation | [`propagate_labels`] | any | edges, each iteration |
//! | Louvain | [`louvain`] | undirected, weights | edges, each sweep |
//!
//! The degree of a vertex is [`Adjacency::degree`]. Where two vertices have several edges, each counts, except in a simple graph.
//!
//! Invariants:
//! - results depend on the graph, the options and the seed alone: not on the number of threads, and not on the clock;
//! - every neighbour is a vertex of the graph: checked when the lists are built, and nowhere again;
//! - an algorithm asks its [`Run`] at least every 65,536 steps whether to go on; a step is a look at one neighbour.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use graph_algorithms::{Adjacency, PageRankOptions, Run, page_rank, weak_components};
//!
//! let edges = [(0, 1), (1, 2), (2, 0), (3, 4)];
//! let out = Adjacency::from_edges(5, || edges.into_iter())?;
//! let run = Run::unwatched(NonZeroUsize::MIN);
//! let components = weak_components(&out, &run)?;
//! assert_eq!((components.count(), components.of(4)), (2, 1));
//! let options = PageRankOptions { damping: 0.85, iterations: 20, tolerance: 1e-6 };
//! let ranks = page_rank(&out, &out.reversed(), options, &run)?;
//! assert!((ranks.ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
//! # Ok::<(), graph_algorithms::Error>(())
//! ```

#![expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "vertices and positions of edges are checked to fit 32 bits, and to exist, when lists are built; a wrong one is a bug, \
              and panics"
)]

mod error;
mod random;
mod run;
mod adjacency;
mod groups;
mod search;
mod components;
mod cores;
mod triangles;
mod rank;
mod paths;
mod centrality;
mod labels;
mod louvain;

pub use adjacency::{Adjacency, EdgeList, Simple, Undirected};
pub use centrality::{
    Closeness, betweenness, betweenness_sampled, closeness, closeness_sampled, sample_vertices, stress,
};
pub use components::{strong_components, weak_components};
pub use cores::core_numbers;
pub use error::Error;
pub use groups::Groups;
pub use labels::{LabelOptions, Labels, propagate_labels};
pub use louvain::{Communities, LouvainOptions, louvain};
pub use rank::{PageRank, PageRankOptions, eigenvector, page_rank};
pub use run::Run;
pub use search::Search;
pub use triangles::{Clustering, count_triangles, transitive_triangles, triangles_by_vertex};

#[cfg(test)]
mod testing;
