//! Random operations.

use proptest::prelude::*;
use smallvec::SmallVec;
use store::Timestamp;

use crate::{Attribute, Draft, Extra, Field, Instance, Instances, Kind, MergeOptions, Operation, TermId};

fn value() -> impl Strategy<Value = (Kind, &'static str)> {
    use Kind::{GeoProperty, JsonProperty, LanguageProperty, ListProperty, Property, Relationship};
    prop::sample::select(vec![
        (Property, "1"),
        (Property, "-2.50"),
        (Property, "\"blue\""),
        (Property, "[1,2,\"a\",[3]]"),
        (Property, "{\"a\":1,\"b\":{\"c\":2,\"d\":3}}"),
        (Property, "{\"b\":{\"c\":null,\"e\":{\"f\":null}},\"a\":\"urn:ngsi-ld:null\",\"z\":true}"),
        (Property, "{\"@type\":\"Date\",\"@value\":\"2026-11-21\"}"),
        (Property, "null"),
        (Relationship, "\"urn:x:2\""),
        (Relationship, "[\"urn:x:2\",\"urn:x:3\"]"),
        (LanguageProperty, "{\"en\":\"dog\"}"),
        (LanguageProperty, "{\"de\":\"Hund\",\"en\":\"urn:ngsi-ld:null\"}"),
        (GeoProperty, "{\"type\":\"Point\",\"coordinates\":[8.5,47.25]}"),
        (GeoProperty, "{\"type\":\"LineString\",\"coordinates\":[[8,47],[9,48]]}"),
        (JsonProperty, "{\"a\":[1]}"),
        (JsonProperty, "true"),
        (ListProperty, "[1,2]"),
    ])
}

fn time() -> impl Strategy<Value = Option<Timestamp>> {
    prop::option::weighted(0.2, (0..400_i64).prop_map(Timestamp))
}

fn leaf() -> impl Strategy<Value = Instance> {
    let dataset = prop::option::of(prop::sample::select(vec!["urn:d:1", "urn:d:2"]));
    let unit = prop::option::weighted(0.2, Just("CEL"));
    let extra = prop::option::weighted(0.2, prop::sample::select(vec![Extra::ObjectType, Extra::V2Type]));
    let says_kind = prop::bool::weighted(0.8);
    (value(), dataset, time(), time(), unit, extra, says_kind).prop_map(
        |((kind, value), dataset, observed_at, expires_at, unit, extra, says_kind)| Instance {
            kind: Some(kind).filter(|_| says_kind),
            dataset: dataset.map(Into::into),
            observed_at,
            expires_at: expires_at.filter(|time| time.0 % 3 == 0),
            unit_code: unit.map(Into::into),
            extras: extra.map(|tag| (tag, "\"T\"".into())).into_iter().collect(),
            ..Instance::new(kind, value)
        },
    )
}

fn attributes(instance: impl Strategy<Value = Instance>) -> impl Strategy<Value = Vec<Attribute>> {
    let attribute = (0..4_u32, prop::collection::vec(instance, 1..3)).prop_map(|(name, instances)| {
        let mut kept: SmallVec<[Instance; 1]> = SmallVec::new();
        for instance in instances {
            if !kept.iter().any(|one| one.dataset == instance.dataset) {
                kept.push(instance);
            }
        }
        Attribute { name: TermId(10 + name), instances: kept }
    });
    prop::collection::vec(attribute, 0..4).prop_map(|mut attributes| {
        let mut seen = Vec::new();
        attributes.retain(|attribute| !seen.contains(&attribute.name) && (seen.push(attribute.name), true).1);
        attributes
    })
}

pub fn instance() -> impl Strategy<Value = Instance> {
    (leaf(), attributes(leaf()), prop::bool::weighted(0.1), prop::collection::vec(10..14_u32, 0..2), fields())
        .prop_map(|(leaf, members, remove, removed, fields)| Instance {
            members: if remove { Vec::new() } else { members },
            remove,
            remove_members: removed.into_iter().map(TermId).collect(),
            remove_fields: fields.into_iter().collect(),
            ..leaf
        })
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    let fields = vec![Field::ObservedAt, Field::UnitCode, Field::ExpiresAt, Field::Extra(Extra::ObjectType)];
    prop::sample::subsequence(fields, 0..2)
}

pub fn draft() -> impl Strategy<Value = Draft> {
    let types = prop::collection::vec(1..4_u32, 0..3);
    let scopes =
        prop::option::of(prop::collection::vec(prop::sample::select(vec!["/a", "/a/b", "/c"]), 0..3));
    (types, scopes, time(), attributes(instance())).prop_map(|(types, scopes, expires_at, attributes)| {
        Draft {
            types: types.into_iter().map(TermId).collect(),
            scopes: scopes.map(|scopes| {
                let mut scopes: Vec<Box<str>> = scopes.into_iter().map(Into::into).collect();
                scopes.sort();
                scopes.dedup();
                scopes
            }),
            expires_at: expires_at.filter(|time| time.0 % 4 == 0),
            attributes,
            ..Draft::default()
        }
    })
}

pub fn operation() -> impl Strategy<Value = Operation> {
    let one = || {
        (10..14_u32, instance()).prop_map(|(name, instance)| Attribute {
            name: TermId(name),
            instances: smallvec::smallvec![instance],
        })
    };
    let merging = (draft(), time(), prop::option::of(Just("fr"))).prop_map(|(draft, observed_at, lang)| {
        Operation::Merge(draft, MergeOptions { observed_at, lang: lang.map(Into::into) })
    });
    let instances = prop_oneof![
        Just(Instances::All),
        Just(Instances::Default),
        Just(Instances::Dataset("urn:d:1".into()))
    ];
    prop_oneof![
        2 => draft().prop_map(Operation::Create),
        1 => draft().prop_map(Operation::Replace),
        3 => merging,
        2 => (draft(), any::<bool>()).prop_map(|(draft, keep_existing)| Operation::Append { draft, keep_existing }),
        2 => draft().prop_map(Operation::Update),
        2 => one().prop_map(|mut given| {
            // A patch need not give a value.
            if given.instances[0].observed_at.is_some() && !given.instances[0].remove {
                given.instances[0].value = None;
            }
            Operation::PatchAttribute(given)
        }),
        1 => one().prop_map(Operation::ReplaceAttribute),
        1 => (10..14_u32, instances).prop_map(|(name, instances)| {
            Operation::DeleteAttribute { name: TermId(name), instances }
        }),
        1 => Just(Operation::Delete),
        1 => Just(Operation::DeleteScopes),
        2 => draft().prop_map(Operation::UpsertReplace),
        3 => draft().prop_map(Operation::UpsertUpdate),
        1 => (prop::collection::vec(10..14_u32, 0..3), any::<bool>()).prop_map(|(names, keep)| {
            Operation::Retain { names: names.into_iter().map(TermId).collect(), keep }
        }),
    ]
}

pub fn draft_of(value: &str) -> Draft {
    let attribute =
        Attribute { name: TermId(10), instances: smallvec::smallvec![Instance::new(Kind::Property, value)] };
    Draft {
        id: "urn:x:1".into(),
        types: smallvec::smallvec![TermId(1)],
        attributes: vec![attribute],
        ..Draft::default()
    }
}
