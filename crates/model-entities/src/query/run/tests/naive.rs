//! A query as tests write it, and its answer by looking at every entity's JSON.

use std::cmp::Ordering;

use entity::query::moment::parse_moment;
use entity::query::{ScopeQuery, Selector};
use entity::testing::query::path;
use icu_collator::options::{CollatorOptions, Strength};
use icu_collator::{CollatorBorrowed, CollatorPreferences};
use regex::Regex;
use serde_json::Value;

use super::*;
use entity::geometry::parse_geometry;
use entity::testing::query::relates;
use entity::{Collation, GeoQuery, GeoRelation};

/// Conditions as texts of `testing::filter`.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    Leaf(String),
    And(Vec<Condition>),
    Or(Vec<Condition>),
}

/// Types: any of all of these.
pub(super) type Types = Vec<Vec<&'static str>>;

#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) ids: Vec<String>,
    pub(super) id_pattern: Option<String>,
    pub(super) types: Option<Types>,
    /// Ids, pattern and types; any of them.
    pub(super) selectors: Vec<(Vec<String>, Option<String>, Option<Types>)>,
    pub(super) attributes: Vec<&'static str>,
    pub(super) condition: Option<Condition>,
    pub(super) scope: Option<String>,
    pub(super) geo: Option<(GeoRelation, Value)>,
    pub(super) datasets: Vec<Option<&'static str>>,
    /// Attribute, and whether descending.
    pub(super) order: Option<(&'static str, bool)>,
    /// Its name.
    pub(super) collation: Option<&'static str>,
    pub(super) now: Option<&'static str>,
}

impl Condition {
    fn filter(&self) -> Filter {
        match self {
            Self::Leaf(text) => filter(text),
            Self::And(parts) => Filter::And(parts.iter().map(Self::filter).collect()),
            Self::Or(parts) => Filter::Or(parts.iter().map(Self::filter).collect()),
        }
    }
}

impl Asked {
    pub(super) fn query(&self) -> Query {
        let all = |types: &Vec<&str>| {
            TypeQuery::All(types.iter().map(|name| TypeQuery::Is(Some(term(name)))).collect())
        };
        let any = |types: &Types| match types.as_slice() {
            [one] if one.len() == 1 => TypeQuery::Is(Some(term(one[0]))),
            types => TypeQuery::Any(types.iter().map(all).collect()),
        };
        let boxed = |ids: &[String]| ids.iter().map(|id| id.as_str().into()).collect();
        let regex = |pattern: &String| Regex::new(pattern).unwrap();
        let levels =
            |scope: &String| scope.split('/').filter(|level| !level.is_empty()).map(Into::into).collect();
        let order = |(name, descending): (&str, bool)| OrderBy {
            key: match name {
                "id" => OrderKey::Id,
                "type" => OrderKey::Type,
                "scope" => OrderKey::Scope,
                name => OrderKey::Value(path(name)),
            },
            descending,
        };
        Query {
            ids: boxed(&self.ids),
            id_pattern: self.id_pattern.as_ref().map(regex),
            types: self.types.as_ref().map(any),
            selectors: self
                .selectors
                .iter()
                .map(|(ids, pattern, types)| Selector {
                    ids: boxed(ids),
                    id_pattern: pattern.as_ref().map(regex),
                    types: types.as_ref().map(any),
                })
                .collect(),
            attributes: self.attributes.iter().map(|name| Some(term(name))).collect(),
            filter: self.condition.as_ref().map(Condition::filter),
            scopes: self.scope.as_ref().map(|scope| ScopeQuery::Matches(levels(scope))),
            geo: self.geo.as_ref().map(|(relation, geometry)| GeoQuery {
                attribute: Some(term("location")),
                relation: *relation,
                geometry: parse_geometry(&geometry.to_string()).unwrap(),
            }),
            datasets: self.datasets.iter().map(|dataset| dataset.map(Into::into)).collect(),
            order: self.order.into_iter().map(order).collect(),
            collation: self.collation.map(|name| Collation::parse(name).unwrap()),
            now: self.now.and_then(parse_moment).unwrap_or_default(),
            ..Query::default()
        }
    }

    /// Ids of all that match, in order.
    pub(super) fn answer(&self, entities: &[Value]) -> Vec<String> {
        let mut found: Vec<&Value> =
            entities.iter().filter(|entity| self.matches(entity, entities)).collect();
        found.sort_by_key(|entity| text(&entity["id"]));
        if let Some((name, descending)) = self.order {
            let collator = self.collator();
            found.sort_by(|one, other| {
                let key = |entity| self.sort_key(entity, name, descending, &collator);
                let (one, other) = (key(one), key(other));
                let late = |key: &Option<Value>| key.as_ref().map_or(2, |key| u8::from(key.is_null()));
                late(&one).cmp(&late(&other)).then_with(|| match (one, other) {
                    (Some(one), Some(other)) if descending => compare_keys(&other, &one, &collator),
                    (Some(one), Some(other)) => compare_keys(&one, &other, &collator),
                    _ => Ordering::Equal,
                })
            });
        }
        found.into_iter().map(|entity| text(&entity["id"])).collect()
    }

    /// `None`: texts are ordered by their characters.
    fn collator(&self) -> Option<CollatorBorrowed<'static>> {
        if self.order.is_some_and(|(name, _)| name == "id") {
            return None;
        }
        let (mut options, mut preferences) = (CollatorOptions::default(), CollatorPreferences::default());
        match self.collation {
            None => {}
            Some("und-u-ks-level1") => options.strength = Some(Strength::Primary),
            Some(name) => {
                preferences = CollatorPreferences::from(&name.parse::<icu_locale_core::Locale>().unwrap())
            }
        }
        Some(CollatorBorrowed::try_new(preferences, options).unwrap())
    }

    /// The value that comes first.
    fn sort_key(
        &self,
        entity: &Value,
        name: &str,
        descending: bool,
        collator: &Option<CollatorBorrowed<'static>>,
    ) -> Option<Value> {
        let mut keys = match name {
            "id" => vec![entity["id"].clone()],
            "type" => vec![many(&entity["type"])[0].clone()],
            "scope" => {
                many(&entity["scope"]).into_iter().filter(|scope| scope.is_string()).cloned().collect()
            }
            name => {
                let instances = self.instances(entity, name).into_iter();
                instances
                    .flat_map(sorting_values)
                    .map(|value| sorted_inside(value, descending, collator))
                    .collect()
            }
        };
        keys.sort_by(|one, other| compare_keys(one, other, collator));
        if descending {
            keys.reverse();
        }
        keys.sort_by_key(Value::is_null);
        keys.into_iter().next()
    }

    fn matches(&self, entity: &Value, all: &[Value]) -> bool {
        let types: Vec<String> = many(&entity["type"]).into_iter().map(text).collect();
        let has = |name: &&str| types.iter().any(|held| held == name);
        let id = text(&entity["id"]);
        let selects = |ids: &[String], pattern: &Option<String>, types: &Option<Types>| {
            (ids.is_empty() || ids.contains(&id))
                && pattern.as_ref().is_none_or(|pattern| Regex::new(pattern).unwrap().is_match(&id))
                && types.as_ref().is_none_or(|types| types.iter().any(|all| all.iter().all(has)))
        };
        self.lives(entity)
            && selects(&self.ids, &self.id_pattern, &self.types)
            && (self.selectors.is_empty()
                || self.selectors.iter().any(|(ids, pattern, types)| selects(ids, pattern, types)))
            && (self.attributes.is_empty()
                || self.attributes.iter().any(|name| {
                    many(&entity[name])
                        .into_iter()
                        .any(|instance| instance.is_object() && self.lives(instance))
                }))
            && self.scope.as_ref().is_none_or(|wanted| {
                let pattern = wanted.trim_start_matches('/').replace('+', "[^/]+");
                let pattern = match pattern.strip_suffix('#') {
                    Some("") => String::new(),
                    Some(head) => format!("^/{}(/.*)?$", head.trim_end_matches('/')),
                    None => format!("^/{pattern}$"),
                };
                let pattern = Regex::new(&pattern).unwrap();
                many(&entity["scope"])
                    .into_iter()
                    .any(|scope| scope.is_string() && pattern.is_match(&text(scope)))
            })
            && self.geo.as_ref().is_none_or(|(relation, asked)| {
                let asked = parse_geometry(&asked.to_string()).unwrap();
                self.instances(entity, "location").into_iter().any(|instance| {
                    instance["type"] == "GeoProperty"
                        && parse_geometry(&instance["value"].to_string())
                            .is_some_and(|stored| relates(*relation, &stored, &asked))
                })
            })
            && self.condition.as_ref().is_none_or(|condition| self.holds(entity, condition, all))
    }

    fn lives(&self, thing: &Value) -> bool {
        match (self.now, thing["expiresAt"].as_str()) {
            (Some(now), Some(expires)) => parse_moment(expires) > parse_moment(now),
            _ => true,
        }
    }

    fn instances<'a>(&self, entity: &'a Value, name: &str) -> Vec<&'a Value> {
        let counts = |instance: &&Value| {
            let dataset = instance["datasetId"].as_str();
            instance.is_object()
                && self.lives(instance)
                && (self.datasets.is_empty() || self.datasets.contains(&dataset.map(leak)))
        };
        many(&entity[name]).into_iter().filter(counts).collect()
    }

    fn holds(&self, entity: &Value, condition: &Condition, all: &[Value]) -> bool {
        match condition {
            Condition::And(parts) => parts.iter().all(|part| self.holds(entity, part, all)),
            Condition::Or(parts) => parts.iter().any(|part| self.holds(entity, part, all)),
            Condition::Leaf(leaf) => self.holds_leaf(entity, leaf, all),
        }
    }

    /// What a path leads to: for each value its scalars, and whether they are links.
    fn reached(&self, entity: &Value, at: &str, all: &[Value]) -> Vec<(Vec<Value>, bool)> {
        let (at, beyond) = at.split_once('{').unwrap_or((at, ""));
        let (names, json) = at.split_once('[').unwrap_or((at, ""));
        let mut names = names.split('.');
        let mut instances = self.instances(entity, names.next().unwrap());
        for name in names {
            instances = instances
                .into_iter()
                .flat_map(|instance| many(&instance[name]))
                .filter(|member| member.is_object())
                .collect();
        }
        if let Some(beyond) = beyond.strip_suffix('}') {
            return instances.into_iter().flat_map(|instance| self.beyond(instance, beyond, all)).collect();
        }
        let json = json.trim_end_matches(']');
        let mut values = Vec::new();
        for instance in instances {
            match json {
                "" => values.push((scalars(instance), is_link(instance))),
                name if instance["type"] == "LanguageProperty" => {
                    values
                        .extend(instance["languageMap"].get(name).map(|value| (vec![value.clone()], false)));
                }
                name => {
                    let found = inside(value_of(instance), name).into_iter();
                    values.extend(found.map(|value| (list(value, true), false)));
                }
            }
        }
        values
    }

    /// What a path (perhaps behind types) leads to in the entities that a Relationship points to.
    fn beyond(&self, instance: &Value, path: &str, all: &[Value]) -> Vec<(Vec<Value>, bool)> {
        let typed = path.split_once(':').filter(|(types, _)| !types.contains('{'));
        let (types, path) = typed.unwrap_or(("", path));
        let of_type = |entity: &Value| {
            types.is_empty()
                || types.split(',').any(|name| many(&entity["type"]).iter().any(|held| *held == name))
        };
        let targets = if is_link(instance) { scalars(instance) } else { Vec::new() };
        // Of linked entities all instances count.
        let beyond = Self { now: self.now, ..Self::default() };
        let linked = targets.iter().filter_map(|id| all.iter().find(|entity| entity["id"] == *id));
        linked
            .filter(|entity| self.lives(entity) && of_type(entity))
            .flat_map(|entity| beyond.reached(entity, path, all))
            .collect()
    }

    fn holds_leaf(&self, entity: &Value, leaf: &str, all: &[Value]) -> bool {
        let words: Vec<&str> = leaf.splitn(3, ' ').collect();
        let missing = words[0].starts_with('!');
        let reached = self.reached(entity, words[0].trim_start_matches('!'), all);
        let ordered: Vec<Value> =
            reached.iter().filter(|(_, is_link)| !is_link).flat_map(|(values, _)| values.clone()).collect();
        let values: Vec<Vec<Value>> = reached.into_iter().map(|(values, _)| values).collect();
        let any = |test: &dyn Fn(&Value) -> bool| values.iter().flatten().any(test);
        let Some(sign) = words.get(1) else {
            return values.is_empty() == missing;
        };
        let operand = words[2];
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        match *sign {
            "~=" | "!~=" => {
                let pattern = Regex::new(operand).unwrap();
                let texts: Vec<&str> = ordered.iter().filter_map(Value::as_str).collect();
                let held = texts.iter().any(|text| pattern.is_match(text));
                held == (*sign == "~=") && !texts.is_empty()
            }
            "==" | "!=" => {
                let held = match operand.split_once("..") {
                    Some((low, high)) => {
                        let (low, high) = (parsed(low), parsed(high));
                        any(&|value| {
                            compare(value, &low) >= Some(0) && compare(value, &high).is_some_and(|it| it <= 0)
                        })
                    }
                    None => operand.split(',').any(|one| any(&|value| equal(value, &parsed(one)))),
                };
                held == (*sign == "==") && !values.is_empty()
            }
            sign => ordered.iter().any(|value| {
                compare(value, &parsed(operand)).is_some_and(|order| match sign {
                    "<" => order < 0,
                    "<=" => order <= 0,
                    ">" => order > 0,
                    _ => order >= 0,
                })
            }),
        }
    }
}

fn equal(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

fn compare(one: &Value, other: &Value) -> Option<i32> {
    let order = match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64()?.partial_cmp(&other.as_f64()?)?,
        (Value::String(one), Value::String(other)) => one.cmp(other),
        _ => return None,
    };
    Some(order as i32)
}

/// Numbers, texts, objects, arrays, booleans, null.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Object(_) => 2,
        Value::Array(_) => 3,
        Value::Bool(_) => 4,
        Value::Null => 5,
    }
}

/// Without a collator, texts compare by their characters.
fn compare_keys(one: &Value, other: &Value, collator: &Option<CollatorBorrowed<'static>>) -> Ordering {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one.as_f64().unwrap().partial_cmp(&other.as_f64().unwrap()).unwrap()
        }
        (Value::String(one), Value::String(other)) => match collator {
            Some(collator) => collator.compare(one, other),
            None => one.cmp(other),
        },
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Array(one), Value::Array(other)) => match (one.first(), other.first()) {
            (Some(one), Some(other)) => compare_keys(one, other, collator),
            (one, other) => one.is_some().cmp(&other.is_some()),
        },
        (one, other) => rank(one).cmp(&rank(other)),
    }
}

/// The values of an instance, as they are sorted by: those of a typed value are what it says.
fn sorting_values(instance: &Value) -> Vec<Value> {
    let value = value_of(instance);
    match instance["type"].as_str() {
        Some("LanguageProperty") => value.as_object().unwrap().values().cloned().collect(),
        Some("JsonProperty" | "GeoProperty") => vec![value.clone()],
        _ => vec![match value {
            Value::Array(elements) => elements.iter().map(plain).collect(),
            value => plain(value),
        }],
    }
}

fn plain(value: &Value) -> Value {
    value.get("@value").unwrap_or(value).clone()
}

/// Arrays with the element that comes first in front.
fn sorted_inside(value: Value, descending: bool, collator: &Option<CollatorBorrowed<'static>>) -> Value {
    let Value::Array(elements) = value else { return value };
    let mut elements: Vec<Value> =
        elements.into_iter().map(|element| sorted_inside(element, descending, collator)).collect();
    elements.sort_by(|one, other| compare_keys(one, other, collator));
    if descending {
        elements.reverse();
    }
    elements.sort_by_key(Value::is_null);
    Value::Array(elements)
}

fn is_link(instance: &Value) -> bool {
    matches!(instance["type"].as_str(), Some("Relationship" | "ListRelationship"))
}

fn value_of(instance: &Value) -> &Value {
    let members = ["value", "object", "objectList", "languageMap", "json", "valueList"];
    members.iter().find_map(|name| instance.get(name)).unwrap()
}

/// What an instance's value offers for comparing.
fn scalars(instance: &Value) -> Vec<Value> {
    let value = value_of(instance);
    match instance["type"].as_str() {
        Some("LanguageProperty") => value.as_object().unwrap().values().cloned().collect(),
        kind => list(value, !matches!(kind, Some("JsonProperty" | "GeoProperty"))),
    }
}

fn list(value: &Value, typed: bool) -> Vec<Value> {
    let plain = |value: &Value| match value {
        Value::Object(members) if typed => members.get("@value").cloned(),
        Value::Object(_) | Value::Array(_) => None,
        scalar => Some(scalar.clone()),
    };
    many(value).into_iter().filter_map(plain).collect()
}

fn inside<'a>(value: &'a Value, name: &str) -> Vec<&'a Value> {
    match value {
        Value::Array(elements) => elements.iter().flat_map(|element| inside(element, name)).collect(),
        other => other.get(name).into_iter().collect(),
    }
}

fn many(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |values| values.iter().collect())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn leak(text: &str) -> &'static str {
    ["urn:d:1", "urn:d:2"].into_iter().find(|known| *known == text).unwrap()
}
