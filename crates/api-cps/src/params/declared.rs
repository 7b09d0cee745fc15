//! The query parameters of all operations, each declared once: requests are checked against these lines, and the OpenAPI
//! document is made of them.

use api_http::{Parameter, ParameterValue};

/// How many levels of descendants, as the original words it.
const LEVELS: ParameterValue = ParameterValue::Like(&["none", "direct", "all", "0", "1", "-1", "3"]);
/// A time with milliseconds and an offset without a colon.
const OBSERVED: ParameterValue = ParameterValue::Like(&["2021-03-21T00:10:34.030-0100"]);

pub(crate) const DATASPACE: Parameter =
    Parameter::new("dataspace-name", ParameterValue::Text, "Name of the dataspace. Required.");
pub(crate) const SCHEMA_SET: Parameter =
    Parameter::new("schema-set-name", ParameterValue::Text, "Name of the schema set. Required.");
pub(crate) const VALIDATION: Parameter = Parameter::new(
    "validation",
    ParameterValue::Word(&["lenient", "strict"]),
    "How data under the schema set is checked. lenient: structure, types and keys, as ONAP CPS does; strict: all of YANG, \
     with when, must, leafref and mandatory. Default: lenient.",
);
pub(crate) const ANCHOR: Parameter =
    Parameter::new("anchor-name", ParameterValue::Text, "Name of the anchor. Required.");
pub(crate) const SCHEMA_SETS: Parameter = Parameter::new(
    "schema-set-names",
    ParameterValue::Text,
    "Only anchors of these schema sets: names, with commas between them; may be repeated.",
)
.repeatable();
pub(crate) const XPATH: Parameter = Parameter::new(
    "xpath",
    ParameterValue::Like(&["/", "/bookstore", "/bookstore/categories[@code='1']"]),
    "Path of a node. Default: /, the top of the anchor.",
);
pub(crate) const XPATH_REQUIRED: Parameter = Parameter::new(
    "xpath",
    ParameterValue::Like(&["/", "/bookstore", "/bookstore/categories[@code='1']"]),
    "Path of a node. Required.",
)
.keyed("xpath.required");
pub(crate) const SUBSCRIPTION_XPATH: Parameter = Parameter::new(
    "xpath",
    ParameterValue::Like(&["/dataspaces", "/dataspaces/dataspace[@name='my-dataspace']"]),
    "Path into the subscriptions. Required.",
)
.keyed("xpath.subscription");
pub(crate) const CPS_PATH: Parameter = Parameter::new(
    "cps-path",
    ParameterValue::Like(&["//books[@price>10]", "/bookstore/categories"]),
    "What is looked for, as a CPS path. Required.",
);
pub(crate) const INCLUDE_DESCENDANTS: Parameter = Parameter::new(
    "include-descendants",
    ParameterValue::Flag,
    "Whether nodes are given with all that lies below them. Default: false.",
);
pub(crate) const DESCENDANTS: Parameter = Parameter::new(
    "descendants",
    LEVELS,
    "How many levels below the nodes are given: none (0), direct (1), all (-1), or a number. Default: none.",
);
pub(crate) const DRY_RUN: Parameter = Parameter::new(
    "dry-run",
    ParameterValue::Flag,
    "true: the body is checked, and nothing is stored. Default: false.",
);
pub(crate) const OBSERVED_TIMESTAMP: Parameter = Parameter::new(
    "observed-timestamp",
    OBSERVED,
    "When the change was observed; notifications of it say so. Default: now.",
);
pub(crate) const PAGE_INDEX: Parameter = Parameter::new(
    "pageIndex",
    ParameterValue::Number(1),
    "Which page of anchors, from 1 on; with pageSize.",
);
pub(crate) const PAGE_SIZE: Parameter =
    Parameter::new("pageSize", ParameterValue::Number(1), "How many anchors a page has; with pageIndex.");
pub(crate) const TARGET_ANCHOR: Parameter = Parameter::new(
    "target-anchor-name",
    ParameterValue::Text,
    "Name of the anchor to compare with. Required.",
);
pub(crate) const GROUPING: Parameter = Parameter::new(
    "grouping-enabled",
    ParameterValue::Flag,
    "true: changes below one node are reported together. Default: false.",
);

/// Parameters of every write of nodes.
pub(crate) const WRITE: &[Parameter] = &[DRY_RUN, OBSERVED_TIMESTAMP];
