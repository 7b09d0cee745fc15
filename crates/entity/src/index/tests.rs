//! Which rows an entity has, and that a difference of rows is exact.

use std::collections::BTreeSet;

use store::Timestamp;

use super::*;
use crate::{Attribute, Draft, Instance, encode};

fn attribute(name: u32, instances: Vec<Instance>) -> Attribute {
    Attribute { name: TermId(name), instances: instances.into() }
}

fn rows_of(draft: &Draft) -> BTreeSet<Vec<u8>> {
    let bytes = encode(draft, Timestamp(1), Timestamp(1));
    let rows = index_rows(&EntityView::parse(&bytes).unwrap(), &Indexed::All);
    let all: Vec<_> = rows.keys().map(<[u8]>::to_vec).collect();
    assert!(all.is_sorted_by(|one, two| one < two), "sorted, each key once");
    all.into_iter().collect()
}

fn draft(types: &[u32], attributes: Vec<Attribute>) -> Draft {
    let types = types.iter().map(|of_type| TermId(*of_type)).collect();
    Draft { id: "urn:x:1".into(), types, attributes, ..Draft::default() }
}

/// One attribute 9 in an entity of type 5: which values is it found under?
fn check(kind: Kind, value: &str, expected: &[IndexValue<'_>]) {
    let rows = rows_of(&draft(&[5], vec![attribute(9, vec![Instance::new(kind, value)])]));
    let found: Vec<_> = rows.iter().filter(|key| key[0] == keys::VALUE).cloned().collect();
    let mut wanted: Vec<_> = expected
        .iter()
        .map(|value| {
            let mut key = Vec::new();
            put_value(&mut key, TermId(5), TermId(9), *value, "urn:x:1");
            key
        })
        .collect();
    wanted.sort();
    assert_eq!(found, wanted, "{kind:?} {value}");
}

#[test]
fn scalars_are_found_by_value() {
    use IndexValue::{Bool, Exists, Number, Text};
    check(Kind::Property, "8.5", &[Number(8.5)]);
    check(Kind::Property, "-0", &[Number(0.0)]);
    check(Kind::Property, "\"a\\nb\"", &[Text("a\nb")]);
    check(Kind::Property, "true", &[Bool(true)]);
    check(Kind::Property, "null", &[Exists]);
    check(Kind::Property, "[1,\"a\",1,[2],{\"b\":3}]", &[Number(1.0), Text("a")]);
    check(Kind::Property, "[]", &[Exists]);
    check(Kind::Property, "{\"a\":1}", &[Exists]);
    check(
        Kind::Property,
        "{\"@type\":\"DateTime\",\"@value\":\"2026-01-01T00:00:00Z\"}",
        &[Text("2026-01-01T00:00:00Z")],
    );
    check(Kind::Property, "[{\"@type\":\"Date\",\"@value\":\"2026-01-01\"}]", &[Text("2026-01-01")]);
    check(Kind::JsonProperty, "{\"@value\":\"a\"}", &[Exists]);
    check(Kind::JsonProperty, "false", &[Bool(false)]);
    check(Kind::Relationship, "[\"urn:a\",\"urn:b\"]", &[Text("urn:a"), Text("urn:b")]);
    check(Kind::VocabProperty, "\"http://a/b\"", &[Text("http://a/b")]);
    check(
        Kind::LanguageProperty,
        "{\"en\":\"dog\",\"de\":[\"Hund\",\"Köter\"]}",
        &[Text("dog"), Text("Hund"), Text("Köter")],
    );
    check(Kind::ListProperty, "[3,2]", &[Number(3.0), Number(2.0)]);
    check(Kind::ListRelationship, "[\"urn:a\"]", &[Text("urn:a")]);
    check(Kind::GeoProperty, "{\"type\":\"Point\",\"coordinates\":[1,2]}", &[Exists]);
}

#[test]
fn every_type_has_its_rows() {
    let second = Instance { dataset: Some("urn:d".into()), ..Instance::new(Kind::Property, "2") };
    let instances = vec![Instance::new(Kind::Property, "3"), second];
    let mut draft = draft(&[5, 4], vec![attribute(9, instances)]);
    draft.scopes = Some(vec!["/a/b".into(), "/c".into()]);
    draft.expires_at = Some(Timestamp(77));
    let rows = rows_of(&draft);
    let count = |row| rows.iter().filter(|key| key[0] == row).count();
    assert_eq!((count(b'T'), count(b'V'), count(b'S'), count(b'X')), (2, 4, 2, 1));
    assert!(rows.iter().all(|key| keys::id_of_key(key) == Some("urn:x:1")));
}

#[test]
fn attributes_that_are_not_indexed_have_no_rows() {
    let attributes = [9, 10, 11].map(|name| attribute(name, vec![Instance::new(Kind::Property, "3")]));
    let bytes = encode(&draft(&[5, 6], attributes.into()), Timestamp(1), Timestamp(1));
    let view = EntityView::parse(&bytes).unwrap();
    let names = |indexed| {
        let rows = index_rows(&view, &indexed);
        let of_values = rows.keys().filter(|key| key[0] == keys::VALUE);
        let names = of_values.filter_map(keys::attribute_of_key).map(|name| name.0).collect::<Vec<_>>();
        let types = rows.keys().filter(|key| key[0] == keys::TYPE).count();
        assert_eq!(attribute_rows(&view, &indexed).count(), names.len());
        (types, names)
    };
    assert_eq!(names(Indexed::None), (2, vec![]));
    assert_eq!(names(Indexed::Of([TermId(9), TermId(11)].into())), (2, vec![9, 11, 9, 11]));
    assert_eq!(names(Indexed::All), (2, vec![9, 10, 11, 9, 10, 11]));
}

#[test]
fn an_entity_without_types_is_found_by_scope_alone() {
    let mut draft = draft(&[], vec![attribute(9, vec![Instance::new(Kind::Property, "3")])]);
    draft.scopes = Some(vec!["/a".into()]);
    assert_eq!(rows_of(&draft).len(), 1);
}

#[test]
fn a_difference_turns_one_set_of_rows_into_the_other() {
    let value = |text: &str| vec![attribute(9, vec![Instance::new(Kind::Property, text)])];
    let drafts = [
        draft(&[5], value("[1,2,3]")),
        draft(&[5, 6], value("[2,3,\"a\"]")),
        draft(&[6], value("null")),
        draft(&[], vec![]),
    ];
    for (before, after) in drafts.iter().flat_map(|one| drafts.iter().map(move |two| (one, two))) {
        let stored = [before, after].map(|draft| encode(draft, Timestamp(1), Timestamp(1)));
        let rows =
            stored.each_ref().map(|bytes| index_rows(&EntityView::parse(bytes).unwrap(), &Indexed::All));
        let mut writes = Vec::new();
        diff(&rows[0], &rows[1], &mut writes);
        let mut table = rows_of(before);
        let wanted = rows_of(after);
        for write in writes {
            match write {
                Write::Put(key, _) => assert!(table.insert(key.to_vec()), "no row is written in vain"),
                Write::Delete(key) => assert!(table.remove(&key[..]), "no row is deleted in vain"),
                other => panic!("not in a difference: {other:?}"),
            }
        }
        assert_eq!(table, wanted);
    }
}
