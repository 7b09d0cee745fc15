//! Load tests of configuration trees over HTTP: the flows and the limits that were published for CPS, and long series of
//! small transactions, as families of the frame in `campaign`.
//!
//! [`cps`] has the flows, [`limits`] the jobs beside their expected seconds, [`transactions`] the long series, [`uploads`] schema sets.
//! [`ALL`] is what a program hands to `campaign::run` beside the other families. The YANG modules are those of `yang-samples`; the published
//! ones come from a folder of the user's.
//!
//! Invariants: those of `campaign`; nothing here knows our server but by HTTP, so that CPS itself can be put under the same
//! load.

pub mod rest;
pub mod tree;
pub mod script;
#[cfg(test)]
mod toy_cps;
pub mod cps;
pub mod limits;
pub mod transactions;
pub mod uploads;

use campaign::runner::AnyFamily;

/// The families of this crate: one line each.
pub const ALL: &[&dyn AnyFamily] =
    &[&cps::Cps307, &limits::CpsLimits, &transactions::ConfigTransactions, &uploads::ConfigUploads];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_row_with_its_published_figures() {
        let text: String = ALL.iter().map(|family| family.list().unwrap()).collect();
        for id in ALL.iter().flat_map(|family| family.selection().unwrap().rows) {
            assert!(text.lines().any(|line| line.starts_with(&format!("{id} "))), "{id} in {text}");
        }
        assert!(text.contains("16.8") && text.contains("i7-8665U"));
    }
}
