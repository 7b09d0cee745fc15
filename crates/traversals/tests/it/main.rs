//! Walks over graphs in a store, compared with plain searches over the same edges.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests panic")]
#![expect(clippy::cast_possible_truncation, reason = "small numbers of steps")]

mod graph;
mod modern;
mod neighbourhoods;
mod shortest;
mod all_paths;
mod patterns;
mod rays;
mod similar;
mod ranks;
mod plain_ranks;
mod ends;
