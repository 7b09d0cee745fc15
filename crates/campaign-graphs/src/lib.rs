//! Load tests of graphs over HTTP: the rows that were published for HugeGraph, as families of the frame in `campaign`.
//!
//! [`hugegraph`] has the REST rows, [`graphdb`] the graph benchmarks. [`ALL`] is what a program hands to `campaign::run` beside the other families.
//!
//! Invariants: those of `campaign`; nothing here knows our server but by HTTP, so that HugeGraph itself can be put under
//! the same load.

pub mod rest;
#[cfg(test)]
mod toy_graph;
pub mod hugegraph;
pub mod graphdb;

use campaign::runner::AnyFamily;

/// The families of this crate: one line each.
pub const ALL: &[&dyn AnyFamily] = &[&hugegraph::HugeGraph, &graphdb::GRAPHDB, &graphdb::GRAPHDB_LJ];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_row_with_its_published_figures() {
        let text: String = ALL.iter().map(|family| family.list().unwrap()).collect();
        for id in ALL.iter().flat_map(|family| family.selection().unwrap().rows) {
            assert!(text.lines().any(|line| line.starts_with(&format!("{id} "))), "{id} in {text}");
        }
        assert!(text.contains("2026.8") && text.contains("48 cores"));
    }
}
