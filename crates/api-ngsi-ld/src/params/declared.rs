//! The query parameters of all operations, each declared once: checked, read and described by what is here.

use api_http::{Parameter, ParameterValue};
use serde_json::{Value, json};

const GEOMETRIES: ParameterValue = ParameterValue::Word(&[
    "Point",
    "MultiPoint",
    "LineString",
    "MultiLineString",
    "Polygon",
    "MultiPolygon",
]);

fn time_property() -> Value {
    json!({ "enum": ["observedAt", "createdAt", "modifiedAt", "deletedAt"], "default": "observedAt" })
}

const fn text(name: &'static str, meaning: &'static str) -> Parameter {
    Parameter::new(name, ParameterValue::Text, meaning)
}

const fn flag(name: &'static str, meaning: &'static str) -> Parameter {
    Parameter::new(name, ParameterValue::Flag, meaning)
}

const fn number(name: &'static str, meaning: &'static str) -> Parameter {
    Parameter::new(name, ParameterValue::Number(0), meaning)
}

const fn moment(name: &'static str, meaning: &'static str) -> Parameter {
    Parameter::new(name, ParameterValue::DateTime, meaning)
}

/// Names of attributes or members, separated by commas.
const fn names(name: &'static str, meaning: &'static str) -> Parameter {
    Parameter::new(name, ParameterValue::Like(&["temperature,name"]), meaning)
}

const fn ids(name: &'static str, meaning: &'static str) -> Parameter {
    Parameter::new(name, ParameterValue::Like(&["urn:ngsi-ld:Station:north"]), meaning)
}

pub(crate) const AGGR_METHODS: Parameter = Parameter::new(
    "aggrMethods",
    ParameterValue::Like(&["avg,max"]),
    "Aggregates: totalCount, distinctCount, sum, avg, min, max, stddev, sumsq.",
);
pub(crate) const AGGR_PERIOD_DURATION: Parameter =
    text("aggrPeriodDuration", "How long a period of aggregates is, as PT1H; PT0S: all.");
pub(crate) const ATTRS: Parameter =
    names("attrs", "Only entities with one of these attributes, and of their attributes only these.");
pub(crate) const COLLATION: Parameter =
    text("collation", "The language whose order of letters orderBy follows.");
pub(crate) const CONTAINED_BY: Parameter =
    ids("containedBy", "Entities that linked ones were reached through.");
pub(crate) const COORDINATES: Parameter = text("coordinates", "Coordinates of the geometry, as JSON.");
pub(crate) const COUNT: Parameter =
    flag("count", "Whether the header NGSILD-Results-Count tells how many entities fit.");
pub(crate) const CSF: Parameter = text("csf", "A filter of context sources, of which there are none.");
pub(crate) const DATASET_ID: Parameter =
    ids("datasetId", "Instances of attributes; @none is the one without.");
pub(crate) const DELETE_ALL: Parameter =
    flag("deleteAll", "Whether all instances go, not only the one without datasetId.");
pub(crate) const DETAILS: Parameter = flag("details", "Whether to say more than the names.");
pub(crate) const DROP: Parameter = names("drop", "Attributes that are removed, instead of the entities.");
pub(crate) const END_TIME_AT: Parameter = moment("endTimeAt", "The end of between; it is excluded.");
pub(crate) const ENTITY_MAP: Parameter = text("entityMap", "Not supported yet.");
pub(crate) const ENTITY_MAP_LIFETIME: Parameter = text("entityMapLifetime", "Not supported yet.");
pub(crate) const EXPAND_VALUES: Parameter = names("expandValues", "Attributes whose values in q are names.");
pub(crate) const FORMAT: Parameter = Parameter::new(
    "format",
    ParameterValue::Word(&["normalized", "concise", "simplified", "keyValues"]),
    "How attributes are represented; goes before options.",
);
pub(crate) const GEOMETRY: Parameter = Parameter::new("geometry", GEOMETRIES, "What the coordinates are of.");
pub(crate) const GEOMETRY_PROPERTY: Parameter =
    text("geometryProperty", "The attribute that is the geometry of GeoJSON; location if it is left out.");
pub(crate) const GEOPROPERTY: Parameter =
    text("geoproperty", "The attribute that is compared; location if it is left out.");
pub(crate) const GEOREL: Parameter = text(
    "georel",
    "How: near;maxDistance==100, near;minDistance==100, within, contains, intersects, equals, disjoint, overlaps.",
);
pub(crate) const ID: Parameter = ids("id", "Only entities with one of these ids.");
pub(crate) const ID_PATTERN: Parameter =
    text("idPattern", "Only entities whose id matches this regular expression.");
pub(crate) const JOIN: Parameter = Parameter::new(
    "join",
    ParameterValue::Word(&["flat", "inline", "@none"]),
    "Whether linked entities come along, beside or within.",
);
pub(crate) const JOIN_LEVEL: Parameter = number("joinLevel", "How far links are followed.");
pub(crate) const JSON_KEYS: Parameter =
    names("jsonKeys", "Attributes whose values have keys that are not expanded; they never are.");
pub(crate) const KEEP: Parameter = names("keep", "Attributes that stay, instead of none.");
pub(crate) const KIND: Parameter = Parameter::new(
    "kind",
    ParameterValue::Word(&["Cached", "Hosted", "ImplicitlyCreated"]),
    "Only contexts of this kind.",
);
pub(crate) const LANG: Parameter =
    text("lang", "The language that texts are given in, as in Accept-Language.");
pub(crate) const LAST_N: Parameter = number("lastN", "The newest so many instances of each attribute.");
pub(crate) const LIMIT: Parameter =
    number("limit", "The most entities of a page; 0 with count=true tells only how many there are.");
pub(crate) const LOCAL: Parameter = flag("local", "Only what this broker has.");
pub(crate) const MERGE_LANG: Parameter =
    text("lang", "The language of values of language maps that are plain texts.").keyed("merge.lang");
pub(crate) const MERGE_OBSERVED_AT: Parameter =
    moment("observedAt", "When what is merged was observed, where it does not say itself.")
        .keyed("merge.observedAt");
pub(crate) const OFFSET: Parameter = number("offset", "How many entities are passed over.");
pub(crate) const OMIT: Parameter = names("omit", "Members that are left out.");
pub(crate) const OPTIONS: Parameter =
    text("options", "Words: normalized, concise, simplified or keyValues, sysAttrs, count.");
pub(crate) const OPTIONS_WRITE: Parameter = text(
    "options",
    "Words: how the body represents attributes; noOverwrite; of an upsert update or replace.",
)
.keyed("options.write");
pub(crate) const ORDER_BY: Parameter = names("orderBy", "What entities are ordered by.");
pub(crate) const ORDER_DIRECTION: Parameter = text("orderDirection", "asc or desc, one for each.");
pub(crate) const ORDER_FROM: Parameter =
    text("orderFrom", "Where distances are measured from, as coordinates.");
pub(crate) const ORDER_GEOMETRY: Parameter =
    Parameter::new("orderGeometry", GEOMETRIES, "What those coordinates are of.");
pub(crate) const HISTORY_FORMAT: Parameter = Parameter::new(
    "format",
    ParameterValue::Word(&[
        "normalized",
        "concise",
        "temporalValues",
        "simplified",
        "keyValues",
        "aggregatedValues",
    ]),
    "How instances are represented; goes before options.",
)
.keyed("past.format");
pub(crate) const HISTORY_OPTIONS: Parameter =
    text("options", "Words: temporalValues, aggregatedValues, sysAttrs, count and others.")
        .keyed("past.options");
pub(crate) const PICK: Parameter = names("pick", "Members that are given, no others.");
pub(crate) const Q: Parameter = text("q", "A condition on attributes, as pm10>40;name==\"North\".");
pub(crate) const RELOAD: Parameter = flag("reload", "Whether it is fetched again instead of removed.");
pub(crate) const SCOPE_Q: Parameter = text("scopeQ", "A condition on scopes, as /city/#.");
pub(crate) const SPLIT_ENTITIES: Parameter = flag("splitEntities", "Changes nothing: entities are whole.");
pub(crate) const TIME_AT: Parameter = moment("timeAt", "The time that timerel compares with.");
pub(crate) const TIMEPROPERTY: Parameter = Parameter::new(
    "timeproperty",
    ParameterValue::Schema(time_property),
    "Which time of an instance is compared.",
);
pub(crate) const TIMEREL: Parameter = Parameter::new(
    "timerel",
    ParameterValue::Word(&["before", "after", "between"]),
    "Which instances: before, after, or between timeAt and endTimeAt.",
);
pub(crate) const TYPE: Parameter = text("type", "A condition on types, as Station,Sensor or (A;B)|C.");
pub(crate) const TYPE_WRITE: Parameter =
    text("type", "Only if the entity is of such a type.").keyed("type.write");

/// What finds entities: the same for queries, queries of history, and purges.
const MATCHING: &[Parameter] = &[
    ATTRS,
    COORDINATES,
    CSF,
    DATASET_ID,
    EXPAND_VALUES,
    GEOMETRY,
    GEOPROPERTY,
    GEOREL,
    ID,
    ID_PATTERN,
    JSON_KEYS,
    LOCAL,
    Q,
    SCOPE_Q,
    TYPE,
];
/// What leads through the pages of an answer.
const PAGING: &[Parameter] = &[COLLATION, COUNT, LIMIT, OFFSET, ORDER_BY, ORDER_DIRECTION];
/// What orders entities by their distance.
const ORDER_BY_DISTANCE: &[Parameter] = &[ORDER_FROM, ORDER_GEOMETRY];
/// How entities are shown.
const SHOWING: &[Parameter] = &[
    CONTAINED_BY,
    ENTITY_MAP,
    ENTITY_MAP_LIFETIME,
    FORMAT,
    GEOMETRY_PROPERTY,
    JOIN,
    JOIN_LEVEL,
    LANG,
    OMIT,
    OPTIONS,
    PICK,
    SPLIT_ENTITIES,
];
/// Which instances of history are shown, and how.
const SHOWING_HISTORY: &[Parameter] = &[
    AGGR_METHODS,
    AGGR_PERIOD_DURATION,
    END_TIME_AT,
    HISTORY_FORMAT,
    HISTORY_OPTIONS,
    LANG,
    LAST_N,
    OMIT,
    PICK,
    SPLIT_ENTITIES,
    TIME_AT,
    TIMEPROPERTY,
    TIMEREL,
];

/// Parameters of GET /entities and POST /entityOperations/query (6.4.3.2, 6.23.3.1).
pub(crate) const QUERY: &[&[Parameter]] = &[MATCHING, SHOWING, PAGING, ORDER_BY_DISTANCE];
/// Parameters of GET /entities/{id} (6.5.3.1).
pub(crate) const ENTITY: &[&[Parameter]] = &[&[ATTRS, DATASET_ID, JSON_KEYS, LOCAL, TYPE], SHOWING];
/// Parameters of DELETE /entities (6.4.3.3).
pub(crate) const PURGE: &[&[Parameter]] = &[MATCHING, &[DROP, GEOMETRY_PROPERTY, KEEP]];
/// Parameters of GET /temporal/entities and POST /temporal/entityOperations/query (6.18.3.2, 6.24.3.1).
pub(crate) const HISTORY_QUERY: &[&[Parameter]] = &[MATCHING, SHOWING_HISTORY, PAGING];
/// Parameters of GET /temporal/entities/{id} (6.19.3.1).
pub(crate) const HISTORY: &[&[Parameter]] = &[&[ATTRS, CSF, DATASET_ID, LOCAL, TYPE], SHOWING_HISTORY];

/// Parameters of writes of entities.
pub(crate) const WRITING: &[Parameter] = &[OPTIONS_WRITE, FORMAT, LOCAL];
/// Parameters of writes to one entity, which may have to be of a type.
pub(crate) const WRITING_ONE: &[Parameter] = &[OPTIONS_WRITE, FORMAT, TYPE_WRITE, LOCAL];
/// What merges have beside the parameters of writes.
pub(crate) const MERGING: &[Parameter] = &[MERGE_OBSERVED_AT, MERGE_LANG];
