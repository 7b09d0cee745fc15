//! The query parameters of all operations, each declared once: checked, read and described by what stands here.

use api_http::{Parameter, ParameterValue};
use serde_json::{Value, json};

const NAMES: ParameterValue = ParameterValue::Like(&["temperature,name"]);
const IDS: ParameterValue = ParameterValue::Like(&["urn:ngsi-ld:Station:north"]);
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

pub(crate) const AGGR_METHODS: Parameter = Parameter::new(
    "aggrMethods",
    ParameterValue::Like(&["avg,max"]),
    "Aggregates: totalCount, distinctCount, sum, avg, min, max, stddev, sumsq.",
);
pub(crate) const AGGR_PERIOD_DURATION: Parameter = Parameter::new(
    "aggrPeriodDuration",
    ParameterValue::Text,
    "How long a period of aggregates is, as PT1H; PT0S: all.",
);
pub(crate) const ATTRS: Parameter = Parameter::new(
    "attrs",
    NAMES,
    "Only entities with one of these attributes, and of their attributes only these.",
);
pub(crate) const COLLATION: Parameter =
    Parameter::new("collation", ParameterValue::Text, "The language whose order of letters orderBy follows.");
pub(crate) const CONTAINED_BY: Parameter =
    Parameter::new("containedBy", IDS, "Entities that linked ones were reached through.");
pub(crate) const COORDINATES: Parameter =
    Parameter::new("coordinates", ParameterValue::Text, "Coordinates of the geometry, as JSON.");
pub(crate) const COUNT: Parameter = Parameter::new(
    "count",
    ParameterValue::Flag,
    "Whether the header NGSILD-Results-Count tells how many entities fit.",
);
pub(crate) const CSF: Parameter =
    Parameter::new("csf", ParameterValue::Text, "A filter of context sources, of which there are none.");
pub(crate) const DATASET_ID: Parameter =
    Parameter::new("datasetId", IDS, "Instances of attributes; @none is the one without.");
pub(crate) const DELETE_ALL: Parameter = Parameter::new(
    "deleteAll",
    ParameterValue::Flag,
    "Whether all instances go, not only the one without datasetId.",
);
pub(crate) const DETAILS: Parameter =
    Parameter::new("details", ParameterValue::Flag, "Whether to say more than the names.");
pub(crate) const DROP: Parameter =
    Parameter::new("drop", NAMES, "Attributes that are removed, instead of the entities.");
pub(crate) const END_TIME_AT: Parameter =
    Parameter::new("endTimeAt", ParameterValue::DateTime, "The end of between; it is excluded.");
pub(crate) const ENTITY_MAP: Parameter =
    Parameter::new("entityMap", ParameterValue::Text, "Not supported yet.");
pub(crate) const ENTITY_MAP_LIFETIME: Parameter =
    Parameter::new("entityMapLifetime", ParameterValue::Text, "Not supported yet.");
pub(crate) const EXPAND_VALUES: Parameter =
    Parameter::new("expandValues", NAMES, "Attributes whose values in q are names.");
pub(crate) const FORMAT: Parameter = Parameter::new(
    "format",
    ParameterValue::Word(&["normalized", "concise", "simplified", "keyValues"]),
    "How attributes are represented; goes before options.",
);
pub(crate) const GEOMETRY: Parameter = Parameter::new("geometry", GEOMETRIES, "What the coordinates are of.");
pub(crate) const GEOMETRY_PROPERTY: Parameter = Parameter::new(
    "geometryProperty",
    ParameterValue::Text,
    "The attribute that is the geometry of GeoJSON; location if it is left out.",
);
pub(crate) const GEOPROPERTY: Parameter = Parameter::new(
    "geoproperty",
    ParameterValue::Text,
    "The attribute that is compared; location if it is left out.",
);
pub(crate) const GEOREL: Parameter = Parameter::new(
    "georel",
    ParameterValue::Text,
    "How: near;maxDistance==100, near;minDistance==100, within, contains, intersects, equals, disjoint, overlaps.",
);
pub(crate) const ID: Parameter = Parameter::new("id", IDS, "Only entities with one of these ids.");
pub(crate) const ID_PATTERN: Parameter = Parameter::new(
    "idPattern",
    ParameterValue::Text,
    "Only entities whose id matches this regular expression.",
);
pub(crate) const JOIN: Parameter = Parameter::new(
    "join",
    ParameterValue::Word(&["flat", "inline", "@none"]),
    "Whether linked entities come along, beside or within.",
);
pub(crate) const JOIN_LEVEL: Parameter =
    Parameter::new("joinLevel", ParameterValue::Number(0), "How far links are followed.");
pub(crate) const JSON_KEYS: Parameter = Parameter::new(
    "jsonKeys",
    NAMES,
    "Attributes whose values have keys that are not expanded; they never are.",
);
pub(crate) const KEEP: Parameter = Parameter::new("keep", NAMES, "Attributes that stay, instead of none.");
pub(crate) const KIND: Parameter = Parameter::new(
    "kind",
    ParameterValue::Word(&["Cached", "Hosted", "ImplicitlyCreated"]),
    "Only contexts of this kind.",
);
pub(crate) const LANG: Parameter = Parameter::new(
    "lang",
    ParameterValue::Text,
    "The language that texts are given in, as in Accept-Language.",
);
pub(crate) const LAST_N: Parameter =
    Parameter::new("lastN", ParameterValue::Number(0), "The newest so many instances of each attribute.");
pub(crate) const LIMIT: Parameter = Parameter::new(
    "limit",
    ParameterValue::Number(0),
    "The most entities of a page; 0 with count=true tells only how many there are.",
);
pub(crate) const LOCAL: Parameter =
    Parameter::new("local", ParameterValue::Flag, "Only what this broker holds.");
pub(crate) const MERGE_LANG: Parameter = Parameter::new(
    "lang",
    ParameterValue::Text,
    "The language of values of language maps that are plain texts.",
)
.keyed("merge.lang");
pub(crate) const MERGE_OBSERVED_AT: Parameter = Parameter::new(
    "observedAt",
    ParameterValue::DateTime,
    "When what is merged was observed, where it does not say itself.",
)
.keyed("merge.observedAt");
pub(crate) const OFFSET: Parameter =
    Parameter::new("offset", ParameterValue::Number(0), "How many entities are passed over.");
pub(crate) const OMIT: Parameter = Parameter::new("omit", NAMES, "Members that are left out.");
pub(crate) const OPTIONS: Parameter = Parameter::new(
    "options",
    ParameterValue::Text,
    "Words: normalized, concise, simplified or keyValues, sysAttrs, count.",
);
pub(crate) const OPTIONS_WRITE: Parameter = Parameter::new(
    "options",
    ParameterValue::Text,
    "Words: how the body represents attributes; noOverwrite; of an upsert update or replace.",
)
.keyed("options.write");
pub(crate) const ORDER_BY: Parameter = Parameter::new("orderBy", NAMES, "What entities are ordered by.");
pub(crate) const ORDER_DIRECTION: Parameter =
    Parameter::new("orderDirection", ParameterValue::Text, "asc or desc, one for each.");
pub(crate) const ORDER_FROM: Parameter =
    Parameter::new("orderFrom", ParameterValue::Text, "Where distances are measured from, as coordinates.");
pub(crate) const ORDER_GEOMETRY: Parameter =
    Parameter::new("orderGeometry", GEOMETRIES, "What those coordinates are of.");
pub(crate) const PAST_FORMAT: Parameter = Parameter::new(
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
pub(crate) const PAST_OPTIONS: Parameter = Parameter::new(
    "options",
    ParameterValue::Text,
    "Words: temporalValues, aggregatedValues, sysAttrs, count and others.",
)
.keyed("past.options");
pub(crate) const PICK: Parameter = Parameter::new("pick", NAMES, "Members that are given, no others.");
pub(crate) const Q: Parameter =
    Parameter::new("q", ParameterValue::Text, "A condition on attributes, as pm10>40;name==\"North\".");
pub(crate) const RELOAD: Parameter =
    Parameter::new("reload", ParameterValue::Flag, "Whether it is fetched again instead of removed.");
pub(crate) const SCOPE_Q: Parameter =
    Parameter::new("scopeQ", ParameterValue::Text, "A condition on scopes, as /city/#.");
pub(crate) const SPLIT_ENTITIES: Parameter =
    Parameter::new("splitEntities", ParameterValue::Flag, "Changes nothing: entities are whole.");
pub(crate) const TIME_AT: Parameter =
    Parameter::new("timeAt", ParameterValue::DateTime, "The time that timerel compares with.");
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
pub(crate) const TYPE: Parameter =
    Parameter::new("type", ParameterValue::Text, "A condition on types, as Station,Sensor or (A;B)|C.");
pub(crate) const TYPE_WRITE: Parameter =
    Parameter::new("type", ParameterValue::Text, "Only if the entity is of such a type.").keyed("type.write");

/// Parameters of GET /entities and POST /entityOperations/query (6.4.3.2, 6.23.3.1).
pub(crate) const QUERY: &[Parameter] = &[
    ATTRS,
    COLLATION,
    CONTAINED_BY,
    COORDINATES,
    COUNT,
    CSF,
    DATASET_ID,
    ENTITY_MAP,
    ENTITY_MAP_LIFETIME,
    EXPAND_VALUES,
    FORMAT,
    GEOMETRY,
    GEOMETRY_PROPERTY,
    GEOPROPERTY,
    GEOREL,
    ID,
    ID_PATTERN,
    JOIN,
    JOIN_LEVEL,
    JSON_KEYS,
    LANG,
    LIMIT,
    LOCAL,
    OFFSET,
    OMIT,
    OPTIONS,
    ORDER_BY,
    ORDER_DIRECTION,
    ORDER_FROM,
    ORDER_GEOMETRY,
    PICK,
    Q,
    SCOPE_Q,
    SPLIT_ENTITIES,
    TYPE,
];

/// Parameters of GET /entities/{id} (6.5.3.1).
pub(crate) const ENTITY: &[Parameter] = &[
    ATTRS,
    CONTAINED_BY,
    DATASET_ID,
    ENTITY_MAP,
    ENTITY_MAP_LIFETIME,
    FORMAT,
    GEOMETRY_PROPERTY,
    JOIN,
    JOIN_LEVEL,
    JSON_KEYS,
    LANG,
    LOCAL,
    OMIT,
    OPTIONS,
    PICK,
    SPLIT_ENTITIES,
    TYPE,
];

/// Parameters of DELETE /entities (6.4.3.3).
pub(crate) const PURGE: &[Parameter] = &[
    ATTRS,
    COORDINATES,
    CSF,
    DATASET_ID,
    DROP,
    EXPAND_VALUES,
    GEOMETRY,
    GEOMETRY_PROPERTY,
    GEOPROPERTY,
    GEOREL,
    ID,
    ID_PATTERN,
    JSON_KEYS,
    KEEP,
    LOCAL,
    Q,
    SCOPE_Q,
    TYPE,
];

/// Parameters of GET /temporal/entities and POST /temporal/entityOperations/query (6.18.3.2, 6.24.3.1).
pub(crate) const PAST_QUERY: &[Parameter] = &[
    AGGR_METHODS,
    AGGR_PERIOD_DURATION,
    ATTRS,
    COLLATION,
    COORDINATES,
    COUNT,
    CSF,
    DATASET_ID,
    END_TIME_AT,
    EXPAND_VALUES,
    PAST_FORMAT,
    GEOMETRY,
    GEOPROPERTY,
    GEOREL,
    ID,
    ID_PATTERN,
    JSON_KEYS,
    LANG,
    LAST_N,
    LIMIT,
    LOCAL,
    OFFSET,
    OMIT,
    PAST_OPTIONS,
    ORDER_BY,
    ORDER_DIRECTION,
    PICK,
    Q,
    SCOPE_Q,
    SPLIT_ENTITIES,
    TIME_AT,
    TIMEPROPERTY,
    TIMEREL,
    TYPE,
];

/// Parameters of GET /temporal/entities/{id} (6.19.3.1).
pub(crate) const PAST_ENTITY: &[Parameter] = &[
    AGGR_METHODS,
    AGGR_PERIOD_DURATION,
    ATTRS,
    CSF,
    DATASET_ID,
    END_TIME_AT,
    PAST_FORMAT,
    LANG,
    LAST_N,
    LOCAL,
    OMIT,
    PAST_OPTIONS,
    PICK,
    SPLIT_ENTITIES,
    TIME_AT,
    TIMEPROPERTY,
    TIMEREL,
    TYPE,
];

/// Parameters of writes of entities.
pub(crate) const WRITING: &[Parameter] = &[OPTIONS_WRITE, FORMAT, LOCAL];
/// Parameters of writes to one entity, which may have to be of a type.
pub(crate) const WRITING_ONE: &[Parameter] = &[OPTIONS_WRITE, FORMAT, TYPE_WRITE, LOCAL];
/// What merges have beside the parameters of writes.
pub(crate) const MERGING: &[Parameter] = &[MERGE_OBSERVED_AT, MERGE_LANG];
