//! The operations and their parameters, one line each.

use serde_json::{Map, Value, json};

use crate::params;

/// What the operations are grouped by.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("repositories", "Spaces of series."),
    ("series", "Definitions: searched for, made, changed, removed."),
    ("data", "Points of one series."),
    ("bulk", "Points of many series in one request, and their sum."),
    ("units", "What values are measured in."),
    ("attributes", "What can be said of series."),
    ("hooks", "Who is told of changes."),
    ("docs", "This description."),
];

/// One operation.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) tag: &'static str,
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    /// Names of query parameters.
    pub(super) query: &'static [&'static [&'static str]],
    pub(super) body: Body,
    pub(super) status: u16,
    pub(super) gives: Gives,
    /// Statuses it refuses with.
    pub(super) refusals: &'static [u16],
}

/// What an operation is sent.
#[derive(Clone, Copy)]
pub(super) enum Body {
    None,
    /// JSON of a schema.
    Json(&'static str),
    /// Points.
    Points(&'static str),
}

/// What an operation answers.
#[derive(Clone, Copy)]
pub(super) enum Gives {
    Nothing,
    /// JSON of a schema.
    Json(&'static str),
    /// A list of them.
    List(&'static str),
    /// Points.
    Points(&'static str),
    Page,
    Document,
}

const READ_REFUSALS: &[u16] = &[400, 404, 406, 413];
const WRITE_REFUSALS: &[u16] = &[400, 404, 413, 415];
const NEW_REFUSALS: &[u16] = &[400, 404, 409, 415];
const FIND_REFUSALS: &[u16] = &[400, 404];
const PUT_REFUSALS: &[u16] = &[400, 404, 415];

/// An operation without parameters in its query.
const fn plain(
    line: (&'static str, &'static str),
    (tag, id, summary): (&'static str, &'static str, &'static str),
    body: Body,
    (status, gives): (u16, Gives),
    refusals: &'static [u16],
) -> Operation {
    let (method, path) = line;
    Operation { method, path, tag, id, summary, query: &[], body, status, gives, refusals }
}

/// An operation with such.
const fn with(query: &'static [&'static [&'static str]], operation: Operation) -> Operation {
    Operation { query, ..operation }
}

/// All operations, in the order of the route table.
pub(super) const OPERATIONS: &[Operation] = &[
    plain(
        ("GET", "/tsm/v1/repositories"),
        ("repositories", "listRepositories", "All repositories of the tenant."),
        Body::None,
        (200, Gives::List("Repository")),
        &[400],
    ),
    plain(
        ("POST", "/tsm/v1/repositories"),
        (
            "repositories",
            "createRepository",
            "Makes a repository. (Repositories are made on first use, too.)",
        ),
        Body::Json("Repository"),
        (201, Gives::Json("Repository")),
        NEW_REFUSALS,
    ),
    plain(
        ("GET", "/tsm/v1/repositories/{repository}"),
        ("repositories", "getRepository", "One repository."),
        Body::None,
        (200, Gives::Json("Repository")),
        FIND_REFUSALS,
    ),
    plain(
        ("PUT", "/tsm/v1/repositories/{repository}"),
        ("repositories", "changeRepository", "Changes its description."),
        Body::Json("Repository"),
        (200, Gives::Json("Repository")),
        PUT_REFUSALS,
    ),
    plain(
        ("DELETE", "/tsm/v1/repositories/{repository}"),
        ("repositories", "removeRepository", "Removes it with all that is in it."),
        Body::None,
        (204, Gives::Nothing),
        FIND_REFUSALS,
    ),
    with(
        &[params::SEARCH, params::PAGE],
        plain(
            ("GET", "/tsm/v1/repositories/{repository}/timeseries"),
            ("series", "searchSeries", "Series by name, in pages; the header Link leads to the next."),
            Body::None,
            (200, Gives::List("Series")),
            FIND_REFUSALS,
        ),
    ),
    plain(
        ("POST", "/tsm/v1/repositories/{repository}/timeseries"),
        ("series", "defineSeries", "Defines a series."),
        Body::Json("Series"),
        (201, Gives::Json("Series")),
        NEW_REFUSALS,
    ),
    plain(
        ("GET", "/tsm/v1/repositories/{repository}/timeseries/{series}"),
        ("series", "getSeries", "One definition."),
        Body::None,
        (200, Gives::Json("Series")),
        FIND_REFUSALS,
    ),
    plain(
        ("PUT", "/tsm/v1/repositories/{repository}/timeseries/{series}"),
        ("series", "replaceSeries", "Replaces a definition: what is left out goes back to its default."),
        Body::Json("Series"),
        (200, Gives::Json("Series")),
        NEW_REFUSALS,
    ),
    plain(
        ("PATCH", "/tsm/v1/repositories/{repository}/timeseries/{series}"),
        ("series", "changeSeries", "Changes a definition: what is left out stays, null takes away."),
        Body::Json("Series"),
        (200, Gives::Json("Series")),
        NEW_REFUSALS,
    ),
    plain(
        ("DELETE", "/tsm/v1/repositories/{repository}/timeseries/{series}"),
        ("series", "removeSeries", "Removes a series with all its points."),
        Body::None,
        (204, Gives::Nothing),
        FIND_REFUSALS,
    ),
    plain(
        ("POST", "/tsm/v1/repositories/{repository}/timeseriescollections/definition"),
        ("series", "defineManySeries", "Defines many series, all or none; answers their IDs in order."),
        Body::Json("Definitions"),
        (201, Gives::List("Defined")),
        &[400, 404, 409, 413, 415],
    ),
    with(
        &[params::READ],
        plain(
            ("GET", "/tsm/v1/repositories/{repository}/timeseries/{series}/data"),
            ("data", "readData", "Points of a series."),
            Body::None,
            (200, Gives::Points("Data")),
            READ_REFUSALS,
        ),
    ),
    with(
        &[params::WRITE],
        plain(
            ("PUT", "/tsm/v1/repositories/{repository}/timeseries/{series}/data"),
            ("data", "putData", "Puts points; with from and to they are all that is left between."),
            Body::Points("Points"),
            (204, Gives::Nothing),
            WRITE_REFUSALS,
        ),
    ),
    with(
        &[params::WRITE],
        plain(
            ("PATCH", "/tsm/v1/repositories/{repository}/timeseries/{series}/data"),
            ("data", "patchData", "The same as PUT."),
            Body::Points("Points"),
            (204, Gives::Nothing),
            WRITE_REFUSALS,
        ),
    ),
    with(
        &[params::WRITE],
        plain(
            ("DELETE", "/tsm/v1/repositories/{repository}/timeseries/{series}/data"),
            (
                "data",
                "removeData",
                "Removes the points from from to to, of which at least one must be given.",
            ),
            Body::None,
            (204, Gives::Nothing),
            FIND_REFUSALS,
        ),
    ),
    with(
        &[params::MODIFICATIONS],
        plain(
            ("GET", "/tsm/v1/repositories/{repository}/timeseries/{series}/data/modifications"),
            ("data", "listModifications", "When values of an audited series were written."),
            Body::None,
            (200, Gives::Json("Modifications")),
            FIND_REFUSALS,
        ),
    ),
    with(
        &[params::QUOTATIONS],
        plain(
            ("GET", "/tsm/v1/repositories/{repository}/timeseries/{series}/quotations"),
            ("data", "listQuotations", "Issue times of the forecasts of a series, latest first."),
            Body::None,
            (200, Gives::Json("Quotations")),
            FIND_REFUSALS,
        ),
    ),
    with(
        &[params::SELECTION, params::READ],
        plain(
            ("GET", "/tsm/v1/repositories/{repository}/timeseriescollections/data"),
            ("bulk", "readMany", "Points of many series, in the order asked for."),
            Body::None,
            (200, Gives::Points("Collection")),
            READ_REFUSALS,
        ),
    ),
    with(
        &[&["quotation"]],
        plain(
            ("PUT", "/tsm/v1/repositories/{repository}/timeseriescollections/data"),
            (
                "bulk",
                "putMany",
                "Puts points of many series. All is checked before anything is stored; then each series is one atom.",
            ),
            Body::Points("Collection"),
            (204, Gives::Nothing),
            WRITE_REFUSALS,
        ),
    ),
    with(
        &[params::READ_BY_BODY],
        plain(
            ("POST", "/tsm/v1/repositories/{repository}/timeseriescollections/data"),
            ("bulk", "readManyByBody", "The same as GET, for names that fit into no URL."),
            Body::Json("Selection"),
            (200, Gives::Points("Collection")),
            &[400, 404, 406, 413, 415],
        ),
    ),
    with(
        &[params::SELECTION, params::READ],
        plain(
            ("GET", "/tsm/v1/repositories/{repository}/timeseriescollections/data/sum"),
            ("bulk", "sumMany", "The sum of many series as one."),
            Body::None,
            (200, Gives::Points("Data")),
            READ_REFUSALS,
        ),
    ),
    with(
        &[params::READ_BY_BODY],
        plain(
            ("POST", "/tsm/v1/repositories/{repository}/timeseriescollections/data/sum"),
            ("bulk", "sumManyByBody", "The same as GET, for names that fit into no URL."),
            Body::Json("Selection"),
            (200, Gives::Points("Data")),
            &[400, 404, 406, 413, 415],
        ),
    ),
    plain(
        ("GET", "/tsm/v1/repositories/{repository}/units"),
        ("units", "listUnits", "All units."),
        Body::None,
        (200, Gives::List("Unit")),
        FIND_REFUSALS,
    ),
    plain(
        ("POST", "/tsm/v1/repositories/{repository}/units"),
        ("units", "createUnit", "Makes a unit."),
        Body::Json("Unit"),
        (201, Gives::Json("Unit")),
        NEW_REFUSALS,
    ),
    plain(
        ("GET", "/tsm/v1/repositories/{repository}/units/{unit}"),
        ("units", "getUnit", "One unit."),
        Body::None,
        (200, Gives::Json("Unit")),
        FIND_REFUSALS,
    ),
    plain(
        ("PUT", "/tsm/v1/repositories/{repository}/units/{unit}"),
        ("units", "putUnit", "Makes or replaces a unit."),
        Body::Json("Unit"),
        (204, Gives::Nothing),
        PUT_REFUSALS,
    ),
    plain(
        ("DELETE", "/tsm/v1/repositories/{repository}/units/{unit}"),
        ("units", "removeUnit", "Removes a unit that nothing uses."),
        Body::None,
        (204, Gives::Nothing),
        FIND_REFUSALS,
    ),
    plain(
        ("GET", "/tsm/v1/repositories/{repository}/attributes"),
        ("attributes", "listAttributes", "The same as attributetypes."),
        Body::None,
        (200, Gives::List("AttributeType")),
        FIND_REFUSALS,
    ),
    plain(
        ("POST", "/tsm/v1/repositories/{repository}/attributes"),
        ("attributes", "createAttribute", "The same as attributetypes."),
        Body::Json("AttributeType"),
        (201, Gives::Json("AttributeType")),
        NEW_REFUSALS,
    ),
    plain(
        ("GET", "/tsm/v1/repositories/{repository}/attributes/{attribute}"),
        ("attributes", "getAttribute", "The same as attributetypes."),
        Body::None,
        (200, Gives::Json("AttributeType")),
        FIND_REFUSALS,
    ),
    plain(
        ("PUT", "/tsm/v1/repositories/{repository}/attributes/{attribute}"),
        ("attributes", "putAttribute", "The same as attributetypes."),
        Body::Json("AttributeType"),
        (204, Gives::Nothing),
        PUT_REFUSALS,
    ),
    plain(
        ("DELETE", "/tsm/v1/repositories/{repository}/attributes/{attribute}"),
        ("attributes", "removeAttribute", "The same as attributetypes."),
        Body::None,
        (204, Gives::Nothing),
        FIND_REFUSALS,
    ),
    plain(
        ("GET", "/tsm/v1/repositories/{repository}/attributetypes"),
        ("attributes", "listAttributeTypes", "All types of attributes."),
        Body::None,
        (200, Gives::List("AttributeType")),
        FIND_REFUSALS,
    ),
    plain(
        ("POST", "/tsm/v1/repositories/{repository}/attributetypes"),
        ("attributes", "createAttributeType", "Makes a type of attributes."),
        Body::Json("AttributeType"),
        (201, Gives::Json("AttributeType")),
        NEW_REFUSALS,
    ),
    plain(
        ("GET", "/tsm/v1/repositories/{repository}/attributetypes/{attribute}"),
        ("attributes", "getAttributeType", "One type of attributes."),
        Body::None,
        (200, Gives::Json("AttributeType")),
        FIND_REFUSALS,
    ),
    plain(
        ("PUT", "/tsm/v1/repositories/{repository}/attributetypes/{attribute}"),
        ("attributes", "putAttributeType", "Makes or replaces a type of attributes."),
        Body::Json("AttributeType"),
        (204, Gives::Nothing),
        PUT_REFUSALS,
    ),
    plain(
        ("DELETE", "/tsm/v1/repositories/{repository}/attributetypes/{attribute}"),
        ("attributes", "removeAttributeType", "Removes a type that no series has."),
        Body::None,
        (204, Gives::Nothing),
        FIND_REFUSALS,
    ),
    plain(
        ("GET", "/tsm/v1/repositories/{repository}/hooks"),
        ("hooks", "listHooks", "All hooks, and how far each was told."),
        Body::None,
        (200, Gives::List("Hook")),
        FIND_REFUSALS,
    ),
    plain(
        ("POST", "/tsm/v1/repositories/{repository}/hooks"),
        ("hooks", "createHook", "Makes a hook, which is told what happens from now on."),
        Body::Json("Hook"),
        (201, Gives::Json("Hook")),
        NEW_REFUSALS,
    ),
    plain(
        ("GET", "/tsm/v1/repositories/{repository}/hooks/{hook}"),
        ("hooks", "getHook", "One hook."),
        Body::None,
        (200, Gives::Json("Hook")),
        FIND_REFUSALS,
    ),
    plain(
        ("PUT", "/tsm/v1/repositories/{repository}/hooks/{hook}"),
        ("hooks", "putHook", "Makes or replaces a hook."),
        Body::Json("Hook"),
        (204, Gives::Nothing),
        PUT_REFUSALS,
    ),
    plain(
        ("DELETE", "/tsm/v1/repositories/{repository}/hooks/{hook}"),
        ("hooks", "removeHook", "Removes a hook."),
        Body::None,
        (204, Gives::Nothing),
        FIND_REFUSALS,
    ),
    plain(
        ("GET", "/tsm/v1/docs"),
        ("docs", "docs", "This description, for people."),
        Body::None,
        (200, Gives::Page),
        &[400],
    ),
    plain(
        ("GET", "/tsm/v1/docs/openapi.json"),
        ("docs", "openapi", "This description, for programs."),
        Body::None,
        (200, Gives::Document),
        &[400],
    ),
];

/// The key of a query parameter: the same word means different things to a search.
pub(super) fn parameter_key(operation: &Operation, name: &str) -> String {
    let is_search = operation.id == "searchSeries";
    let is_write = matches!(operation.body, Body::Points(_)) || operation.method == "DELETE";
    match name {
        "name" | "id" | "attribute" | "unit" | "interval" | "asOf" if is_search => format!("search.{name}"),
        "quotation" if is_write || operation.id == "listModifications" => "quotation.time".to_owned(),
        name => name.to_owned(),
    }
}

/// A parameter: key, name, schema, whether it may be repeated, and what it means.
type Parameter = (&'static str, &'static str, fn() -> Value, bool, &'static str);

fn text() -> Value {
    json!({ "type": "string" })
}

fn number() -> Value {
    json!({ "type": "integer", "minimum": 1 })
}

fn boolean() -> Value {
    json!({ "type": "boolean" })
}

fn time() -> Value {
    json!({ "type": "string", "examples": ["2026-01-01T00:00:00Z", "2026-01-01"] })
}

pub(super) fn interval() -> Value {
    json!({ "anyOf": [{ "$ref": "#/components/schemas/IntervalValue" }, { "const": "No" }] })
}

fn alignment() -> Value {
    json!({ "enum": ["Begin", "End", "Spontaneous"] })
}

fn aggregation() -> Value {
    json!({ "enum": ["Sum", "Avg", "Min", "Max", "First", "Last", "Count", "TimeWeightedMean"] })
}

fn gaps() -> Value {
    json!({ "enum": ["None", "Null", "Previous", "Linear"] })
}

fn form() -> Value {
    json!({ "enum": ["rows", "timestamp", "compact", "arrow", "csv", "parquet"] })
}

const QUERY: &[Parameter] = &[
    (
        "from",
        "from",
        time,
        false,
        "The first instant; of right-aligned series slots that lie in the range are meant. A date is its midnight in the zone that is read in.",
    ),
    ("to", "to", time, false, "The first instant that is not meant any more."),
    (
        "interval",
        "interval",
        interval,
        false,
        "Reads on this raster instead of the series' own; No is as if it were left out.",
    ),
    ("intervalMultiplier", "intervalMultiplier", number, false, "How many of interval; 1 if it is left out."),
    ("dayStart", "dayStart", text, false, "When days begin, 06:00 for gas days."),
    ("unit", "unit", text, false, "Reads in this unit instead of the series' own."),
    ("timezone", "timezone", text, false, "Reads in this IANA zone instead of the series' own."),
    (
        "aggregation",
        "aggregation",
        aggregation,
        false,
        "How values are put together; by the unit's rule if it is left out.",
    ),
    ("gaps", "gaps", gaps, false, "What is done about slots without a value."),
    ("asOf", "asOf", time, false, "Reads an audited series as it stood then."),
    (
        "quotation",
        "quotation",
        text,
        false,
        "Which forecast: latest, before(N), latestBefore(TIME), at(TIME) or a time.",
    ),
    (
        "quotation.time",
        "quotation",
        time,
        false,
        "Which forecast, by its issue time; for series with quotations.",
    ),
    ("form", "form", form, false, "The form of the answer, before what Accept says; timestamp is rows."),
    ("format", "format", form, false, "The same as form."),
    ("mediaType", "mediaType", text, false, "The media type of the answer, in place of the header Accept."),
    ("name", "name", text, true, "A series by name; may be repeated."),
    ("id", "id", text, true, "A series by ID; may be repeated."),
    (
        "attribute",
        "attribute",
        text,
        true,
        "All series with this attribute, A or A|value; those with all of them if it is repeated.",
    ),
    ("search.name", "name", text, false, "A pattern: % stands for any characters, _ for one."),
    ("search.id", "id", text, false, "An ID."),
    (
        "search.attribute",
        "attribute",
        text,
        true,
        "An attribute that the series have, A or A|value; may be repeated.",
    ),
    ("search.unit", "unit", text, false, "Their unit."),
    ("search.interval", "interval", interval, false, "Their interval; No finds those without one."),
    ("search.asOf", "asOf", time, false, "When the attributes hold; at any time if it is left out."),
    ("type", "type", alignment, false, "What the times of points mean."),
    ("description", "description", text, false, "A pattern."),
    ("computed", "computed", boolean, false, "Only series that have a formula, or only such that have none."),
    ("limit", "limit", number, false, "The most rows of a page."),
    ("after", "after", text, false, "Goes on behind this name."),
    ("before", "before", time, false, "Goes on before this issue time."),
    ("writtenFrom", "writtenFrom", time, false, "Writes from then on."),
    ("writtenTo", "writtenTo", time, false, "Writes before then."),
];

const PATH: &[(&str, &str)] = &[
    ("repository", "The repository's name."),
    ("series", "The series' ID or name; digits are an ID before they are a name."),
    ("unit", "The unit's name."),
    ("attribute", "The type's name."),
    ("hook", "The hook's name."),
];

/// All parameters by key.
pub(super) fn parameters() -> Value {
    let mut all = Map::new();
    for (name, text) in PATH {
        let schema = json!({ "type": "string" });
        let parameter =
            json!({ "name": name, "in": "path", "required": true, "description": text, "schema": schema });
        all.insert(format!("path.{name}"), parameter);
    }
    for (key, name, schema, is_repeatable, text) in QUERY {
        let schema = if *is_repeatable { json!({ "type": "array", "items": schema() }) } else { schema() };
        let parameter = json!({ "name": name, "in": "query", "description": text, "schema": schema });
        all.insert((*key).to_owned(), parameter);
    }
    let header = json!({
        "name": "NGSILD-Tenant",
        "in": "header",
        "description": "Whose repositories are meant; Fiware-Service is another name for it. Nobody's: the default tenant's.",
        "schema": { "type": "string" },
    });
    all.insert("header.NGSILD-Tenant".to_owned(), header);
    Value::Object(all)
}
