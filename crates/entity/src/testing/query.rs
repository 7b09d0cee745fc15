//! What tests of queries share: entities from JSON, filters from text.

use geo::Geometry;
use regex::Regex;
use serde_json::Value;
use smallvec::SmallVec;
use store::Timestamp;

use crate::query::moment::parse_moment;
use crate::query::relation;
use crate::query::{Comparison, Filter, GeoRelation, LinkedPath, Meta, Operand, Path, Query, Scalar};
use crate::{Attribute, Draft, Instance, Kind, TermId, encode};

pub const CREATED: Timestamp = Timestamp(1_000_000);
pub const MODIFIED: Timestamp = Timestamp(2_000_000);

/// All names in tests; a name's term is its place, once a tenant has interned them in this order.
pub const NAMES: [&str; 21] = [
    "a", "b", "c", "d", "e", "j", "m", "n", "p", "r", "t", "v", "x", "name", "speed", "location", "street",
    "owner", "Car", "Bike", "Town",
];

pub fn term(name: &str) -> TermId {
    let place = NAMES.iter().position(|known| *known == name).unwrap_or_else(|| panic!("{name}"));
    TermId(u32::try_from(place).unwrap())
}

/// A draft from normalized NGSI-LD.
pub fn draft(json: &Value) -> Draft {
    let mut draft = Draft { id: json["id"].as_str().unwrap_or("urn:x:1").into(), ..Draft::default() };
    for (name, value) in json.as_object().unwrap() {
        match name.as_str() {
            "id" => {}
            "type" => draft.types = many(value).iter().map(|name| term(name.as_str().unwrap())).collect(),
            "scope" => {
                draft.scopes = Some(many(value).iter().map(|scope| scope.as_str().unwrap().into()).collect());
            }
            "expiresAt" => draft.expires_at = parse_moment(value.as_str().unwrap()),
            _ => draft.attributes.push(attribute(name, value)),
        }
    }
    if draft.types.is_empty() {
        draft.types.push(term("Town"));
    }
    draft
}

/// The stored form of [`draft`].
pub fn entity(json: &Value) -> Vec<u8> {
    encode(&draft(json), CREATED, MODIFIED)
}

fn many(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |values| values.iter().collect())
}

fn attribute(name: &str, value: &Value) -> Attribute {
    let instances = many(value).into_iter().map(instance).collect();
    Attribute { name: term(name), instances }
}

fn instance(json: &Value) -> Instance {
    let (kind, member) = match json["type"].as_str().unwrap_or("Property") {
        "GeoProperty" => (Kind::GeoProperty, "value"),
        "Relationship" => (Kind::Relationship, "object"),
        "LanguageProperty" => (Kind::LanguageProperty, "languageMap"),
        "VocabProperty" => (Kind::VocabProperty, "vocab"),
        "JsonProperty" => (Kind::JsonProperty, "json"),
        "ListProperty" => (Kind::ListProperty, "valueList"),
        "ListRelationship" => (Kind::ListRelationship, "objectList"),
        _ => (Kind::Property, "value"),
    };
    let mut instance = Instance::new(kind, json[member].to_string());
    let text = |name: &str| json[name].as_str();
    instance.dataset = text("datasetId").map(Into::into);
    instance.unit_code = text("unitCode").map(Into::into);
    instance.observed_at = text("observedAt").and_then(parse_moment);
    instance.expires_at = text("expiresAt").and_then(parse_moment);
    let known = ["type", "datasetId", "unitCode", "observedAt", "expiresAt", member];
    for (name, value) in json.as_object().unwrap() {
        if !known.contains(&name.as_str()) {
            instance.members.push(attribute(name, value));
        }
    }
    instance
}

/// A path such as `a.b[c.d]`, `a.observedAt`, `a{b}`, `a{Car,unknown:b}`.
pub fn path(text: &str) -> Path {
    let (text, linked) = match text.split_once('{') {
        Some((text, linked)) => (text, Some(Box::new(linked_path(linked.strip_suffix('}').unwrap())))),
        None => (text, None),
    };
    let (names, json) = text.split_once('[').unwrap_or((text, ""));
    let json = json.trim_end_matches(']').split('.').filter(|name| !name.is_empty()).map(Into::into);
    let mut found = Path { attribute: None, members: Vec::new(), meta: None, json: json.collect(), linked };
    for (at, name) in names.split('.').enumerate() {
        match name {
            "createdAt" => found.meta = Some(Meta::CreatedAt),
            "modifiedAt" => found.meta = Some(Meta::ModifiedAt),
            "observedAt" => found.meta = Some(Meta::ObservedAt),
            "unitCode" => found.meta = Some(Meta::UnitCode),
            "datasetId" => found.meta = Some(Meta::DatasetId),
            "unknown" if at > 0 => found.members.push(None),
            "unknown" => {}
            _ if at > 0 => found.members.push(Some(term(name))),
            _ => found.attribute = Some(term(name)),
        }
    }
    found
}

fn linked_path(text: &str) -> LinkedPath {
    let (types, text) = match text.split_once(':').filter(|(types, _)| !types.contains('{')) {
        Some((types, text)) => (types.split(',').collect(), text),
        None => (Vec::new(), text),
    };
    let term = |name: &str| (name != "unknown").then(|| term(name));
    LinkedPath { types: types.into_iter().map(term).collect(), path: path(text) }
}

/// One condition: `path`, `!path`, `path == 1,2`, `path >= 2`, `path == 1..5`, `path ~= pattern`;
/// operands are JSON, or a date-time.
pub fn filter(text: &str) -> Filter {
    let mut words = text.splitn(3, ' ');
    let (at, sign, operand) = (words.next().unwrap(), words.next(), words.next().unwrap_or_default());
    let comparison = match sign {
        None if at.starts_with('!') => return Filter::Missing(path(&at[1..])),
        None => return Filter::Exists(path(at)),
        Some("==") => Comparison::Equal,
        Some("!=") => Comparison::NotEqual,
        Some("<") => Comparison::Less,
        Some("<=") => Comparison::LessEqual,
        Some(">") => Comparison::Greater,
        Some(">=") => Comparison::GreaterEqual,
        Some("~=") => Comparison::Match,
        Some("!~=") => Comparison::NotMatch,
        Some(other) => panic!("no comparison: {other}"),
    };
    let operand = if matches!(comparison, Comparison::Match | Comparison::NotMatch) {
        Operand::Pattern(Regex::new(operand).unwrap())
    } else if let Some((low, high)) = operand.split_once("..") {
        Operand::Range(scalar(low), scalar(high))
    } else {
        Operand::Values(operand.split(',').map(scalar).collect::<SmallVec<_>>())
    };
    Filter::Compare(path(at), comparison, operand)
}

fn scalar(text: &str) -> Scalar {
    if let Some(time) = parse_moment(text) {
        return Scalar::Time(time);
    }
    match serde_json::from_str(text).unwrap() {
        Value::Number(number) => Scalar::Number(number.as_f64().unwrap()),
        Value::String(text) => Scalar::Text(text.into()),
        Value::Bool(bool) => Scalar::Bool(bool),
        Value::Null => Scalar::Null,
        other => panic!("no scalar: {other}"),
    }
}

/// A query for the first entities with this filter.
pub fn query(filter: Option<Filter>) -> Query {
    Query { filter, limit: 1000, now: Timestamp(0), ..Query::default() }
}

/// Whether `stored` lies to `asked` as `relation` says, without an index of the lines.
pub fn relates(relation: GeoRelation, stored: &Geometry<f64>, asked: &Geometry<f64>) -> bool {
    relation::relates(relation, stored, asked)
}
