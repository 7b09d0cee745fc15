//! The query parameters of all operations, each declared once: checked, read and described by what stands here.

use api_http::{Parameter, ParameterValue};
use serde_json::{Value, json};

/// A time, or a date for its midnight.
const TIME: ParameterValue = ParameterValue::Like(&["2026-01-01T00:00:00Z", "2026-01-01"]);
/// The forms of points.
const FORMS: ParameterValue =
    ParameterValue::Word(&["rows", "timestamp", "compact", "arrow", "csv", "parquet"]);

/// What an interval counts, or that there is none.
pub(crate) fn interval() -> Value {
    json!({ "anyOf": [{ "$ref": "#/components/schemas/IntervalValue" }, { "const": "No" }] })
}

pub(crate) const FROM: Parameter = Parameter::new(
    "from",
    TIME,
    "The first instant; of right-aligned series slots that lie in the range are meant. A date is its midnight in the zone that is read in.",
);
pub(crate) const TO: Parameter = Parameter::new("to", TIME, "The first instant that is not meant any more.");
pub(crate) const INTERVAL: Parameter = Parameter::new(
    "interval",
    ParameterValue::Schema(interval),
    "Reads on this raster instead of the series' own; No is as if it were left out.",
);
pub(crate) const INTERVAL_MULTIPLIER: Parameter = Parameter::new(
    "intervalMultiplier",
    ParameterValue::Number(1),
    "How many of interval; 1 if it is left out.",
);
pub(crate) const DAY_START: Parameter =
    Parameter::new("dayStart", ParameterValue::Text, "When days begin, 06:00 for gas days.");
pub(crate) const UNIT: Parameter =
    Parameter::new("unit", ParameterValue::Text, "Reads in this unit instead of the series' own.");
pub(crate) const TIMEZONE: Parameter =
    Parameter::new("timezone", ParameterValue::Text, "Reads in this IANA zone instead of the series' own.");
pub(crate) const AGGREGATION: Parameter = Parameter::new(
    "aggregation",
    ParameterValue::Word(&["Sum", "Avg", "Min", "Max", "First", "Last", "Count", "TimeWeightedMean"]),
    "How values are put together; by the unit's rule if it is left out.",
);
pub(crate) const GAPS: Parameter = Parameter::new(
    "gaps",
    ParameterValue::Word(&["None", "Null", "Previous", "Linear"]),
    "What is done about slots without a value.",
);
pub(crate) const AS_OF: Parameter = Parameter::new("asOf", TIME, "Reads an audited series as it stood then.");
pub(crate) const QUOTATION: Parameter = Parameter::new(
    "quotation",
    ParameterValue::Text,
    "Which forecast: latest, before(N), latestBefore(TIME), at(TIME) or a time.",
);
pub(crate) const QUOTATION_TIME: Parameter =
    Parameter::new("quotation", TIME, "Which forecast, by its issue time; for series with quotations.")
        .keyed("quotation.time");
pub(crate) const FORM: Parameter =
    Parameter::new("form", FORMS, "The form of the answer, before what Accept says; timestamp is rows.");
pub(crate) const FORMAT: Parameter = Parameter::new("format", FORMS, "The same as form.");
pub(crate) const MEDIA_TYPE: Parameter = Parameter::new(
    "mediaType",
    ParameterValue::Text,
    "The media type of the answer, in place of the header Accept.",
);
pub(crate) const NAME: Parameter =
    Parameter::new("name", ParameterValue::Text, "A series by name; may be repeated.").repeatable();
pub(crate) const ID: Parameter =
    Parameter::new("id", ParameterValue::Text, "A series by ID; may be repeated.").repeatable();
pub(crate) const ATTRIBUTE: Parameter = Parameter::new(
    "attribute",
    ParameterValue::Text,
    "All series with this attribute, A or A|value; those with all of them if it is repeated.",
)
.repeatable();
pub(crate) const SEARCH_NAME: Parameter =
    Parameter::new("name", ParameterValue::Text, "A pattern: % stands for any characters, _ for one.")
        .keyed("search.name");
pub(crate) const SEARCH_ID: Parameter =
    Parameter::new("id", ParameterValue::Text, "An ID.").keyed("search.id");
pub(crate) const SEARCH_ATTRIBUTE: Parameter = Parameter::new(
    "attribute",
    ParameterValue::Text,
    "An attribute that the series have, A or A|value; may be repeated.",
)
.keyed("search.attribute")
.repeatable();
pub(crate) const SEARCH_UNIT: Parameter =
    Parameter::new("unit", ParameterValue::Text, "Their unit.").keyed("search.unit");
pub(crate) const SEARCH_INTERVAL: Parameter = Parameter::new(
    "interval",
    ParameterValue::Schema(interval),
    "Their interval; No finds those without one.",
)
.keyed("search.interval");
pub(crate) const SEARCH_AS_OF: Parameter =
    Parameter::new("asOf", TIME, "When the attributes hold; at any time if it is left out.")
        .keyed("search.asOf");
pub(crate) const TYPE: Parameter = Parameter::new(
    "type",
    ParameterValue::Word(&["Begin", "End", "Spontaneous"]),
    "What the times of points mean.",
);
pub(crate) const DESCRIPTION: Parameter = Parameter::new("description", ParameterValue::Text, "A pattern.");
pub(crate) const COMPUTED: Parameter = Parameter::new(
    "computed",
    ParameterValue::Flag,
    "Only series that have a formula, or only such that have none.",
);
pub(crate) const LIMIT: Parameter =
    Parameter::new("limit", ParameterValue::Number(1), "The most rows of a page.");
pub(crate) const AFTER: Parameter =
    Parameter::new("after", ParameterValue::Text, "Goes on behind this name.");
pub(crate) const BEFORE: Parameter = Parameter::new("before", TIME, "Goes on before this issue time.");
pub(crate) const WRITTEN_FROM: Parameter = Parameter::new("writtenFrom", TIME, "Writes from then on.");
pub(crate) const WRITTEN_TO: Parameter = Parameter::new("writtenTo", TIME, "Writes before then.");

/// Of answers that are given as JSON alone.
const MEDIA_TYPE_JSON: Parameter = Parameter::new(
    "mediaType",
    ParameterValue::Word(&["application/json"]),
    "The media type of the answer, as everywhere in place of the header Accept.",
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

/// Parameters in the address of a read whose parameters are in its body.
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
