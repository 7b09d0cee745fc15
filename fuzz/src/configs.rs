//! The configuration model: stored rows, change records, keys; and what the CPS API is sent.

use api_cps::testing;

use crate::{Target, texts};

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
/// Parameters of the CPS API.
pub(crate) const PARAMETERS: Target = Target {
    name: "cps_parameters",
    run: |bytes| _ = std::str::from_utf8(bytes).map(testing::parameters),
    seeds: || {
        texts(&[
            "xpath=/a/b[@k='1']&dry-run=true&observed-timestamp=2021-03-21T00:10:34.030-0100",
            "cps-path=//b&include-descendants=TRUE",
            "cps-path=//b&descendants=-1&pageIndex=1&pageSize=10",
            "schema-set-name=s&validation=strict",
        ])
    },
};
/// Bodies of the CPS API that are no data: composite queries, reports of deltas.
pub(crate) const BODIES: Target = Target {
    name: "cps_bodies",
    run: |bytes| _ = testing::bodies(bytes),
    seeds: || {
        texts(&[
            r#"{"cpsPath":"/a","operator":"or","conditions":[{"cpsPath":"//b[@c=1]"}]}"#,
            r#"[{"action":"replace","xpath":"/a","sourceData":{"a":{"b":1}},"target-data":{"a":{}}}]"#,
            "<deltaReports><deltaReport id=\"1\"><action>create</action><xpath>/a[@k=&apos;1&apos;]</xpath><target-data><b/><c>1</c></target-data></deltaReport></deltaReports>",
        ])
    },
};
