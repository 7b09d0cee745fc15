//! Random entities and queries over a small world, so that they often meet.

use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use super::naive::{Asked, Condition, Types};
use entity::GeoRelation;

const TYPES: [&str; 3] = ["Car", "Bike", "Town"];
const SCOPES: [&str; 5] = ["/A", "/A/B", "/A/B/C", "/B", "/AA"];
const DATASETS: [Option<&str>; 3] = [None, Some("urn:d:1"), Some("urn:d:2")];
const EXPIRES: &str = "2023-01-01T00:00:00Z";

fn pick<T: Copy>(random: &mut StdRng, of: &[T]) -> T {
    of[random.random_range(0..of.len())]
}

fn text(random: &mut StdRng) -> String {
    let long = "l".repeat(63);
    match random.random_range(0..10) {
        9 => pick(random, &["X", "É", "e", "z", "ä", "a b", "10", "9"]).into(),
        0 => "x".into(),
        1 => "xy".into(),
        2 => "x\"y\n".into(),
        3 => String::new(),
        4 => "\u{0}z".into(),
        5 => format!("{long}m"),
        6 => format!("{long}mn"),
        7 => format!("{long}ma"),
        _ => format!("t{}", random.random_range(0..30)),
    }
}

fn number(random: &mut StdRng) -> Value {
    match random.random_range(0..4) {
        0 => json!(random.random_range(-3..10)),
        1 => json!(f64::from(random.random_range(-20..100)) / 4.0),
        2 => json!(random.random_range(0..1000)),
        _ => json!(f64::from(random.random_range(0..5)) * 1e9),
    }
}

fn scalar(random: &mut StdRng) -> Value {
    match random.random_range(0..10) {
        0..5 => number(random),
        5..8 => json!(text(random)),
        8 => json!(random.random_bool(0.5)),
        _ => Value::Null,
    }
}

fn value(random: &mut StdRng) -> Value {
    match random.random_range(0..10) {
        0 => json!([scalar(random), scalar(random)]),
        1 => json!({"k": scalar(random), "l": [{"k": scalar(random)}]}),
        2 => json!({"@type": "T", "@value": scalar(random)}),
        3 => json!([{"k": scalar(random)}, {"@value": scalar(random)}, [1]]),
        _ => scalar(random),
    }
}

fn geometry(random: &mut StdRng) -> Value {
    let mut at =
        || [f64::from(random.random_range(0..40)) / 10.0, f64::from(random.random_range(0..40)) / 10.0];
    let [x, y] = at();
    let far = at();
    match random.random_range(0..5) {
        0 | 1 => json!({"type": "Point", "coordinates": [x, y]}),
        2 => json!({"type": "LineString", "coordinates": [[x, y], far]}),
        3 => json!({"type": "MultiPoint", "coordinates": [[x, y], far]}),
        _ => json!({"type": "Polygon",
            "coordinates": [[[x, y], [x + 0.7, y], [x + 0.7, y + 0.7], [x, y + 0.7], [x, y]]]}),
    }
}

fn instance(random: &mut StdRng, name: &str) -> Value {
    if name == "location" {
        return json!({"type": "GeoProperty", "value": geometry(random)});
    }
    let link = |random: &mut StdRng| format!("urn:e:{:04}", random.random_range(0..60));
    match random.random_range(0..11) {
        10 => json!({"type": "ListRelationship", "objectList": [link(random), link(random)]}),
        0 => json!({"type": "Relationship", "object": link(random)}),
        1 => json!({"type": "LanguageProperty", "languageMap": {"en": text(random), "fr": text(random)}}),
        2 => json!({"type": "JsonProperty", "json": value(random)}),
        3 => json!({"type": "ListProperty", "valueList": [scalar(random), scalar(random)]}),
        _ => json!({"type": "Property", "value": value(random)}),
    }
}

fn attribute(random: &mut StdRng, name: &str) -> Value {
    let instances: Vec<Value> = DATASETS
        .iter()
        .filter_map(|dataset| {
            let mut instance = random.random_bool(0.5).then(|| instance(random, name))?;
            if let Some(dataset) = dataset {
                instance["datasetId"] = json!(dataset);
            }
            if random.random_bool(0.1) {
                instance["expiresAt"] = json!(EXPIRES);
            }
            if random.random_bool(0.2) {
                instance["m"] = json!({"type": "Property", "value": value(random)});
            }
            Some(instance)
        })
        .collect();
    json!(instances)
}

pub(super) fn entity(random: &mut StdRng, at: usize) -> Value {
    let mut entity = Map::new();
    entity.insert(
        "id".into(),
        json!(format!("urn:{}:{at:04}", if at.is_multiple_of(3) { "odd" } else { "e" })),
    );
    let mut types = vec![pick(random, &TYPES)];
    if random.random_bool(0.3) {
        let other = TYPES.into_iter().find(|name| *name != types[0]);
        types.extend(other);
    }
    entity.insert("type".into(), json!(types));
    if random.random_bool(0.5) {
        entity.insert("scope".into(), json!([pick(random, &SCOPES)]));
    }
    if random.random_bool(0.05) {
        entity.insert("expiresAt".into(), json!(EXPIRES));
    }
    for name in ["a", "b", "c", "location"] {
        let attribute = attribute(random, name);
        if attribute != json!([]) {
            entity.insert(name.into(), attribute);
        }
    }
    Value::Object(entity)
}

/// Operands hold neither commas nor dots in texts, which the test's syntax could not tell.
fn operand(random: &mut StdRng) -> String {
    match scalar(random) {
        Value::Null => "0".into(),
        other => other.to_string(),
    }
}

fn leaf(random: &mut StdRng) -> String {
    let at = match random.random_range(0..10) {
        0 => "a[k]".into(),
        1 => "b[l]".into(),
        2 => "a[en]".into(),
        3 => "b.m".into(),
        4 => pick(random, &["a{b}", "a{Car:b}", "b{Car,Bike:a[k]}", "b{a{Town:c}}", "c{unknown:a}"]).into(),
        _ => pick(random, &["a", "b", "c"]).to_owned(),
    };
    match random.random_range(0..14) {
        0 => at,
        1 => format!("!{at}"),
        2 => format!("{at} ~= {}", pick(random, &["^x", "^t1", "y", "^lll", "^l*m", "^x|y"])),
        3 => format!("{at} !~= {}", pick(random, &["^x", "y"])),
        4 => format!("{at} == {},{}", operand(random), operand(random)),
        5 => format!("{at} != {},{}", operand(random), operand(random)),
        6 => format!("{at} == {}..{}", operand(random), operand(random)),
        7 => format!("{at} != {}..{}", operand(random), operand(random)),
        8 => format!("{at} != {}", operand(random)),
        9 | 10 => format!("{at} == {}", operand(random)),
        _ => format!("{at} {} {}", pick(random, &["<", "<=", ">", ">="]), operand(random)),
    }
}

fn condition(random: &mut StdRng, depth: u32) -> Condition {
    let parts = |random: &mut StdRng| (0..2).map(|_| condition(random, depth + 1)).collect();
    match random.random_range(0..4) {
        0 if depth < 2 => Condition::And(parts(random)),
        1 if depth < 2 => Condition::Or(parts(random)),
        _ => Condition::Leaf(leaf(random)),
    }
}

fn types(random: &mut StdRng) -> Types {
    match random.random_range(0..4) {
        0 => vec![vec![pick(random, &TYPES)], vec![pick(random, &TYPES)]],
        1 => vec![vec!["Car", "Bike"], vec!["Town"]],
        _ => vec![vec![pick(random, &TYPES)]],
    }
}

fn selector(random: &mut StdRng, entities: usize) -> (Vec<String>, Option<String>, Option<Types>) {
    let ids: Vec<_> = (0..3).map(|_| format!("urn:e:{:04}", random.random_range(0..entities + 2))).collect();
    let pattern = pick(random, &["^urn:odd:00", "^urn:e:000", "1$"]).to_owned();
    let of_types = random.random_bool(0.7).then(|| types(random));
    match random.random_range(0..4) {
        0 | 1 => (ids, None, of_types),
        2 => (Vec::new(), Some(pattern), of_types),
        _ => (Vec::new(), None, of_types),
    }
}

pub(super) fn asked(random: &mut StdRng, entities: usize) -> Asked {
    let mut asked = Asked::default();
    if random.random_bool(0.6) {
        asked.types = Some(types(random));
    }
    if random.random_bool(0.7) {
        asked.condition = Some(condition(random, 0));
    }
    if random.random_bool(0.1) {
        let ids = (0..4).map(|_| format!("urn:e:{:04}", random.random_range(0..entities + 2)));
        asked.ids = ids.collect();
    }
    if random.random_bool(0.15) {
        asked.id_pattern = Some(pick(random, &["^urn:odd", "^urn:e:000", "1$", "^urn:(odd|e)"]).into());
    }
    if random.random_bool(0.2) {
        asked.selectors = (0..random.random_range(1..4)).map(|_| selector(random, entities)).collect();
    }
    if random.random_bool(0.15) {
        asked.attributes = vec![pick(random, &["a", "b", "c"]), pick(random, &["d", "location"])];
    }
    if random.random_bool(0.15) {
        let scopes = ["/A", "/A/#", "/A/+", "/#", "/+/B", "/A/B", "/+/B/#"];
        asked.scope = Some(pick(random, &scopes).into());
    }
    if random.random_bool(0.2) {
        let near = GeoRelation::Near { max: Some(50_000.0), min: pick(random, &[None, Some(10_000.0)]) };
        let relations = [
            near,
            near,
            GeoRelation::Near { max: None, min: Some(100_000.0) },
            GeoRelation::Within,
            GeoRelation::Contains,
            GeoRelation::Intersects,
            GeoRelation::Equals,
            GeoRelation::Disjoint,
            GeoRelation::Overlaps,
        ];
        asked.geo = Some((pick(random, &relations), geometry(random)));
    }
    if random.random_bool(0.2) {
        asked.datasets = vec![pick(random, &DATASETS)];
    }
    if random.random_bool(0.2) {
        asked.order = Some((pick(random, &["a", "b", "id", "type", "scope"]), random.random_bool(0.5)));
        let collations = ["und", "de-u-co-phonebk", "und-u-ks-level1", "und-u-kn", "sv"];
        asked.collation = random.random_bool(0.5).then(|| pick(random, &collations));
    }
    if random.random_bool(0.4) {
        asked.now = Some(EXPIRES);
    }
    asked
}

/// All over the world, and some shapes over much of it.
fn world_geometry(random: &mut StdRng) -> Value {
    let mut at = || [random.random_range(-180.0..=180.0), random.random_range(-90.0..=90.0_f64)];
    let ([x, y], far) = (at(), at());
    let (width, height) = (random.random_range(0.0..40.0_f64), random.random_range(0.0..40.0_f64));
    let (east, north) = ((x + width).min(180.0), (y + height).min(90.0));
    match random.random_range(0..6) {
        0..3 => json!({"type": "Point", "coordinates": [x, y]}),
        3 => json!({"type": "LineString", "coordinates": [[x, y], far]}),
        4 => json!({"type": "MultiPoint", "coordinates": [[x, y], far]}),
        _ => {
            json!({"type": "Polygon", "coordinates": [[[x, y], [east, y], [east, north], [x, north], [x, y]]]})
        }
    }
}

pub(super) fn place(random: &mut StdRng, at: usize) -> Value {
    json!({"id": format!("urn:e:{at:03}"), "type": "Town",
        "location": {"type": "GeoProperty", "value": world_geometry(random)}})
}

pub(super) fn asked_of_places(random: &mut StdRng) -> Asked {
    let near = GeoRelation::Near { max: Some(random.random_range(0.0..5_000_000.0)), min: None };
    let relations = [
        near,
        near,
        GeoRelation::Within,
        GeoRelation::Contains,
        GeoRelation::Intersects,
        GeoRelation::Overlaps,
    ];
    let geo = Some((pick(random, &relations), world_geometry(random)));
    Asked { types: Some(vec![vec!["Town"]]), geo, ..Asked::default() }
}
