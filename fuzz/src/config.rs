//! What trees of YANG data are stored as.

use config::testing;

use crate::Target;

/// Roots, pages, records and labels: the first byte says which.
pub(crate) const TREE: Target = Target {
    name: "config_tree",
    run: |bytes| {
        if let Some((kind, stored)) = bytes.split_first() {
            testing::read_stored(*kind, stored);
        }
    },
    seeds: testing::stored_examples,
};
