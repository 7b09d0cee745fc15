//! The configuration model: stored rows, change records, keys.

use crate::Target;

/// What is stored of configuration beside the pages of trees: the first byte says what.
pub(crate) const ROWS: Target = Target {
    name: "config_rows",
    run: |bytes| {
        if let Some((kind, stored)) = bytes.split_first() {
            model_config::testing::read_stored(*kind, stored);
        }
    },
    seeds: model_config::testing::stored_examples,
};
