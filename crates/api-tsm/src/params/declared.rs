//! The query parameters of all operations, each declared once: requests are checked against these lines, and the OpenAPI
//! document is made of them.

use api_http::{Parameter, ParameterValue};
use serde_json::{Value, json};

/// A time, or a date for its midnight.
const TIME: ParameterValue = ParameterValue::Like(&["2026-01-01T00:00:00Z", "2026-01-01"]);
/// The forms of points.
const FORMS: ParameterValue =
    ParameterValue::Word(&["rows", "timestamp", "compact", "arrow", "csv", "parquet"]);

/// The schema of what an interval counts; `No` is none.
pub(crate) fn interval() -> Value {
    json!({ "anyOf": [{ "$ref": "#/components/schemas/IntervalValue" }, { "const": "No" }] })
}

pub(crate) const FROM: Parameter = Parameter::new(
    "from",
    TIME,
    "Start of the time range, included. Of series with type End, the range selects the slots that lie in it. A date means its midnight in the time zone of the answer.",
);
pub(crate) const TO: Parameter = Parameter::new("to", TIME, "End of the time range, not included.");
pub(crate) const INTERVAL: Parameter = Parameter::new(
    "interval",
    ParameterValue::Schema(interval),
    "Resamples the points to this interval instead of the series' own; No is the same as leaving it out.",
);
pub(crate) const INTERVAL_MULTIPLIER: Parameter = Parameter::new(
    "intervalMultiplier",
    ParameterValue::Number(1),
    "Multiplies interval: 15 and Minute are quarter hours. Default: 1.",
);
pub(crate) const DAY_START: Parameter =
    Parameter::new("dayStart", ParameterValue::Text, "Local time at which days begin: 06:00 for gas days.");
pub(crate) const UNIT: Parameter =
    Parameter::new("unit", ParameterValue::Text, "Converts values to this unit instead of the series' own.");
pub(crate) const TIMEZONE: Parameter = Parameter::new(
    "timezone",
    ParameterValue::Text,
    "IANA time zone for days and for the times in the answer, instead of the series' own.",
);
pub(crate) const AGGREGATION: Parameter = Parameter::new(
    "aggregation",
    ParameterValue::Word(&["Sum", "Avg", "Min", "Max", "First", "Last", "Count", "TimeWeightedMean"]),
    "How the values within an interval are aggregated. Default: the aggregation of the unit.",
);
pub(crate) const GAPS: Parameter = Parameter::new(
    "gaps",
    ParameterValue::Word(&["None", "Null", "Previous", "Linear"]),
    "How slots without a value are filled.",
);
pub(crate) const AS_OF: Parameter =
    Parameter::new("asOf", TIME, "Reads an audited series as it was stored at this time.");
pub(crate) const QUOTATION: Parameter = Parameter::new(
    "quotation",
    ParameterValue::Text,
    "Which forecast: latest, before(DURATION), latestBefore(TIME), at(TIME), or its issue time.",
);
pub(crate) const QUOTATION_TIME: Parameter =
    Parameter::new("quotation", TIME, "Issue time of the forecast; for series with quotations.")
        .keyed("quotation.time");
pub(crate) const FORM: Parameter = Parameter::new(
    "form",
    FORMS,
    "Format of the answer; takes precedence over the header Accept. timestamp is another name for rows.",
);
pub(crate) const FORMAT: Parameter = Parameter::new("format", FORMS, "Another name for form.");
pub(crate) const MEDIA_TYPE: Parameter = Parameter::new(
    "mediaType",
    ParameterValue::Text,
    "Media type of the answer, instead of the header Accept.",
);
pub(crate) const NAME: Parameter =
    Parameter::new("name", ParameterValue::Text, "Name of a series; may be repeated.").repeatable();
pub(crate) const ID: Parameter =
    Parameter::new("id", ParameterValue::Text, "ID of a series; may be repeated.").repeatable();
pub(crate) const ATTRIBUTE: Parameter = Parameter::new(
    "attribute",
    ParameterValue::Text,
    "Selects all series with this attribute: NAME or NAME|VALUE. If repeated, series must have all of them.",
)
.repeatable();
pub(crate) const SEARCH_NAME: Parameter = Parameter::new(
    "name",
    ParameterValue::Text,
    "Pattern for the name: % matches any characters, _ exactly one.",
)
.keyed("search.name");
pub(crate) const SEARCH_ID: Parameter =
    Parameter::new("id", ParameterValue::Text, "ID of the series.").keyed("search.id");
pub(crate) const SEARCH_ATTRIBUTE: Parameter = Parameter::new(
    "attribute",
    ParameterValue::Text,
    "An attribute that the series must have: NAME or NAME|VALUE. May be repeated.",
)
.keyed("search.attribute")
.repeatable();
pub(crate) const SEARCH_UNIT: Parameter =
    Parameter::new("unit", ParameterValue::Text, "Unit of the series.").keyed("search.unit");
pub(crate) const SEARCH_INTERVAL: Parameter = Parameter::new(
    "interval",
    ParameterValue::Schema(interval),
    "Interval of the series; No finds series without one.",
)
.keyed("search.interval");
pub(crate) const SEARCH_AS_OF: Parameter =
    Parameter::new("asOf", TIME, "Time at which the attributes must be valid. Default: any time.")
        .keyed("search.asOf");
pub(crate) const TYPE: Parameter = Parameter::new(
    "type",
    ParameterValue::Word(&["Begin", "End", "Spontaneous"]),
    "Whether the time of a point is the begin or the end of its slot, or of no slot.",
);
pub(crate) const DESCRIPTION: Parameter = Parameter::new(
    "description",
    ParameterValue::Text,
    "Pattern for the description: % matches any characters, _ exactly one.",
);
pub(crate) const COMPUTED: Parameter = Parameter::new(
    "computed",
    ParameterValue::Flag,
    "true: only series with a formula; false: only series without one.",
);
pub(crate) const LIMIT: Parameter =
    Parameter::new("limit", ParameterValue::Number(1), "Maximum number of rows on a page.");
pub(crate) const AFTER: Parameter =
    Parameter::new("after", ParameterValue::Text, "Continues after this name.");
pub(crate) const BEFORE: Parameter = Parameter::new("before", TIME, "Continues before this issue time.");
pub(crate) const WRITTEN_FROM: Parameter =
    Parameter::new("writtenFrom", TIME, "Only writes made at or after this time.");
pub(crate) const WRITTEN_TO: Parameter =
    Parameter::new("writtenTo", TIME, "Only writes made before this time.");

/// For answers that are JSON only.
const MEDIA_TYPE_JSON: Parameter = Parameter::new(
    "mediaType",
    ParameterValue::Word(&["application/json"]),
    "Media type of the answer, instead of the header Accept; this resource has only JSON.",
)
.keyed("mediaType.json");

/// Parameters that every operation has whose answer has one media type.
pub(crate) const ANY: &[Parameter] = &[MEDIA_TYPE_JSON];

/// Parameters of every read of points.
pub(crate) const READ: &[Parameter] = &[
    FROM,
    TO,
    INTERVAL,
    INTERVAL_MULTIPLIER,
    DAY_START,
    UNIT,
    TIMEZONE,
    AGGREGATION,
    GAPS,
    AS_OF,
    QUOTATION,
    FORM,
    FORMAT,
    MEDIA_TYPE,
];

/// Parameters in the address of a read whose other parameters are in its body.
pub(crate) const READ_BY_BODY: &[Parameter] = &[MEDIA_TYPE];

/// Parameters of a search, apart from those of pages.
pub(crate) const SEARCH: &[Parameter] = &[
    SEARCH_NAME,
    SEARCH_ID,
    TYPE,
    DESCRIPTION,
    SEARCH_ATTRIBUTE,
    SEARCH_UNIT,
    SEARCH_INTERVAL,
    INTERVAL_MULTIPLIER,
    COMPUTED,
    SEARCH_AS_OF,
];

/// Parameters of writes to one series.
pub(crate) const WRITE: &[Parameter] = &[FROM, TO, QUOTATION_TIME];

/// Parameters that say which series.
pub(crate) const SELECTION: &[Parameter] = &[NAME, ID, ATTRIBUTE];

/// Parameters of modifications.
pub(crate) const MODIFICATIONS: &[Parameter] = &[FROM, TO, WRITTEN_FROM, WRITTEN_TO, QUOTATION_TIME];

/// Parameters of a list of quotations.
pub(crate) const QUOTATIONS: &[Parameter] = &[BEFORE, LIMIT];

/// Parameters of pages.
pub(crate) const PAGE: &[Parameter] = &[LIMIT, AFTER];
