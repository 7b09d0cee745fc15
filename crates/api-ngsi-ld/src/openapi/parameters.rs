//! The parameters, one line each.

use api_http::{path_parameter, query_parameter};
use serde_json::{Map, Value, json};

fn text() -> Value {
    json!({ "type": "string" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn boolean() -> Value {
    json!({ "type": "boolean" })
}

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn names() -> Value {
    json!({ "type": "string", "examples": ["temperature,name"] })
}

fn methods() -> Value {
    json!({ "type": "string", "examples": ["avg,max"] })
}

fn ids() -> Value {
    json!({ "type": "string", "examples": ["urn:ngsi-ld:Station:north"] })
}

fn geometry() -> Value {
    json!({ "enum": ["Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon"] })
}

fn form() -> Value {
    json!({ "enum": ["normalized", "concise", "simplified", "keyValues"] })
}

fn past_form() -> Value {
    json!({ "enum": ["normalized", "concise", "temporalValues", "simplified", "keyValues", "aggregatedValues"] })
}

fn relation() -> Value {
    json!({ "enum": ["before", "after", "between"] })
}

fn time_property() -> Value {
    json!({ "enum": ["observedAt", "createdAt", "modifiedAt", "deletedAt"], "default": "observedAt" })
}

fn join() -> Value {
    json!({ "enum": ["flat", "inline", "@none"] })
}

fn kind() -> Value {
    json!({ "enum": ["Cached", "Hosted", "ImplicitlyCreated"] })
}

/// A parameter of the query: key, name, schema, and what it means.
type Parameter = (&'static str, &'static str, fn() -> Value, &'static str);

const QUERY: &[Parameter] = &[
    (
        "aggrMethods",
        "aggrMethods",
        methods,
        "Aggregates: totalCount, distinctCount, sum, avg, min, max, stddev, sumsq.",
    ),
    (
        "aggrPeriodDuration",
        "aggrPeriodDuration",
        text,
        "How long a period of aggregates is, as PT1H; PT0S: all.",
    ),
    (
        "attrs",
        "attrs",
        names,
        "Only entities with one of these attributes, and of their attributes only these.",
    ),
    ("collation", "collation", text, "The language whose order of letters orderBy follows."),
    ("containedBy", "containedBy", ids, "Entities that linked ones were reached through."),
    ("coordinates", "coordinates", text, "Coordinates of the geometry, as JSON."),
    ("count", "count", boolean, "Whether the header NGSILD-Results-Count tells how many entities fit."),
    ("csf", "csf", text, "A filter of context sources, of which there are none."),
    ("datasetId", "datasetId", ids, "Instances of attributes; @none is the one without."),
    ("deleteAll", "deleteAll", boolean, "Whether all instances go, not only the one without datasetId."),
    ("details", "details", boolean, "Whether to say more than the names."),
    ("drop", "drop", names, "Attributes that are removed, instead of the entities."),
    ("endTimeAt", "endTimeAt", time, "The end of between; it is excluded."),
    ("entityMap", "entityMap", text, "Not supported yet."),
    ("entityMapLifetime", "entityMapLifetime", text, "Not supported yet."),
    ("expandValues", "expandValues", names, "Attributes whose values in q are names."),
    ("format", "format", form, "How attributes are represented; goes before options."),
    ("geometry", "geometry", geometry, "What the coordinates are of."),
    (
        "geometryProperty",
        "geometryProperty",
        text,
        "The attribute that is the geometry of GeoJSON; location if it is left out.",
    ),
    ("geoproperty", "geoproperty", text, "The attribute that is compared; location if it is left out."),
    (
        "georel",
        "georel",
        text,
        "How: near;maxDistance==100, near;minDistance==100, within, contains, intersects, equals, disjoint, overlaps.",
    ),
    ("id", "id", ids, "Only entities with one of these ids."),
    ("idPattern", "idPattern", text, "Only entities whose id matches this regular expression."),
    ("join", "join", join, "Whether linked entities come along, beside or within."),
    ("joinLevel", "joinLevel", count, "How far links are followed."),
    (
        "jsonKeys",
        "jsonKeys",
        names,
        "Attributes whose values have keys that are not expanded; they never are.",
    ),
    ("keep", "keep", names, "Attributes that stay, instead of none."),
    ("kind", "kind", kind, "Only contexts of this kind."),
    ("lang", "lang", text, "The language that texts are given in, as in Accept-Language."),
    ("lastN", "lastN", count, "The newest so many instances of each attribute."),
    (
        "limit",
        "limit",
        count,
        "The most entities of a page; 0 with count=true tells only how many there are.",
    ),
    ("local", "local", boolean, "Only what this broker holds."),
    ("merge.lang", "lang", text, "The language of values of language maps that are plain texts."),
    (
        "merge.observedAt",
        "observedAt",
        time,
        "When what is merged was observed, where it does not say itself.",
    ),
    ("offset", "offset", count, "How many entities are passed over."),
    ("omit", "omit", names, "Members that are left out."),
    ("options", "options", text, "Words: normalized, concise, simplified or keyValues, sysAttrs, count."),
    (
        "options.write",
        "options",
        text,
        "Words: how the body represents attributes; noOverwrite; of an upsert update or replace.",
    ),
    ("orderBy", "orderBy", names, "What entities are ordered by."),
    ("orderDirection", "orderDirection", text, "asc or desc, one for each."),
    ("orderFrom", "orderFrom", text, "Where distances are measured from, as coordinates."),
    ("orderGeometry", "orderGeometry", geometry, "What those coordinates are of."),
    ("past.format", "format", past_form, "How instances are represented; goes before options."),
    ("past.options", "options", text, "Words: temporalValues, aggregatedValues, sysAttrs, count and others."),
    ("pick", "pick", names, "Members that are given, no others."),
    ("q", "q", text, "A condition on attributes, as pm10>40;name==\"North\"."),
    ("reload", "reload", boolean, "Whether it is fetched again instead of removed."),
    ("scopeQ", "scopeQ", text, "A condition on scopes, as /city/#."),
    ("splitEntities", "splitEntities", boolean, "Changes nothing: entities are whole."),
    ("timeAt", "timeAt", time, "The time that timerel compares with."),
    ("timeproperty", "timeproperty", time_property, "Which time of an instance is compared."),
    ("timerel", "timerel", relation, "Which instances: before, after, or between timeAt and endTimeAt."),
    ("type", "type", text, "A condition on types, as Station,Sensor or (A;B)|C."),
    ("type.write", "type", text, "Only if the entity is of such a type."),
];

const PATH: &[(&str, &str)] = &[
    ("id", "The id of an entity, or of a context (its URL for a cached one), percent-encoded where needed."),
    ("attr", "The name of an attribute."),
    ("instance", "The id of an instance."),
    ("type", "The name of a type."),
];

const HEADERS: &[(&str, &str)] = &[
    (
        "NGSILD-Tenant",
        "Whose data is meant; Fiware-Service is another name for it. Nobody's: the default tenant's.",
    ),
    (
        "Link",
        "The context that names are spelled in, with the relation http://www.w3.org/ns/json-ld#context.",
    ),
];

/// All parameters by key.
pub(super) fn parameters() -> Value {
    let mut all = Map::new();
    for (name, text) in PATH {
        all.insert(format!("path.{name}"), path_parameter(name, text));
    }
    for (name, text) in HEADERS {
        let schema = json!({ "type": "string" });
        let parameter = json!({ "name": name, "in": "header", "description": text, "schema": schema });
        all.insert(format!("header.{name}"), parameter);
    }
    for (key, name, schema, text) in QUERY {
        all.insert((*key).to_owned(), query_parameter(name, text, &schema()));
    }
    Value::Object(all)
}
