//! What each operation makes of an entity, said by example; `write/tests.rs` checks by chance.

use store::Timestamp;

use super::*;
use crate::model::{PlainEntity, PlainInstance};
use crate::{Extra, Instance, Kind, MergeOptions, NotUpdated};

const NOW: Timestamp = Timestamp(200);
const BEFORE: Timestamp = Timestamp(100);
const ID: &str = "urn:x:1";

fn property(value: &str) -> Instance {
    Instance::new(Kind::Property, value)
}

fn of_dataset(dataset: &str, instance: Instance) -> Instance {
    Instance { dataset: Some(dataset.into()), ..instance }
}

fn attribute(name: u32, instances: Vec<Instance>) -> Attribute {
    Attribute { name: TermId(name), instances: instances.into() }
}

/// A draft without types.
fn draft(attributes: Vec<Attribute>) -> Draft {
    Draft { id: ID.into(), attributes, ..Draft::default() }
}

fn removal(dataset: Option<&str>) -> Instance {
    Instance { remove: true, value: None, dataset: dataset.map(Into::into), ..property("") }
}

/// Type 1, scope /a, 10: "1" with unit and member 20, 11: two datasets.
fn held() -> Vec<u8> {
    let mut first = property("1");
    first.unit_code = Some("CEL".into());
    first.observed_at = Some(Timestamp(7));
    first.members = vec![attribute(20, vec![property("\"m\"")]), attribute(21, vec![property("2")])];
    let second = vec![of_dataset("urn:d:1", property("3")), of_dataset("urn:d:2", property("4"))];
    let mut draft = draft(vec![attribute(10, vec![first]), attribute(11, second)]);
    draft.types.push(TermId(1));
    draft.scopes = Some(vec!["/a".into()]);
    encode_as(ID, &draft, BEFORE, BEFORE)
}

fn outcome(operation: &Operation) -> Result<Outcome, Error> {
    let held = held();
    apply(Some(&EntityView::parse(&held).unwrap()), ID, operation, NOW, 1 << 20)
}

fn entity_of(outcome: &Outcome) -> PlainEntity {
    PlainEntity::read(&EntityView::parse(outcome.bytes.as_ref().unwrap()).unwrap())
}

fn after(operation: &Operation) -> PlainEntity {
    let outcome = outcome(operation).unwrap();
    assert_eq!(outcome.change.fate, Fate::Updated);
    let entity = entity_of(&outcome);
    assert_eq!((entity.created, entity.modified), (BEFORE.0, NOW.0));
    entity
}

fn instance(entity: &PlainEntity, name: u32, dataset: Option<&str>) -> PlainInstance {
    let attribute = entity.attributes.iter().find(|attribute| attribute.name == name).unwrap();
    attribute.instances.iter().find(|instance| instance.dataset.as_deref() == dataset).unwrap().clone()
}

fn names(entity: &PlainEntity) -> Vec<u32> {
    entity.attributes.iter().map(|attribute| attribute.name).collect()
}

#[test]
fn create_is_refused_where_it_exists_and_without_a_type() {
    let mut new = draft(vec![attribute(10, vec![property("1")])]);
    let refused = |draft: &Draft| apply(None, ID, &Operation::Create(draft.clone()), NOW, 1 << 20);
    assert!(matches!(refused(&new), Err(Error::Invalid(_))));
    new.types.push(TermId(1));
    assert!(matches!(outcome(&Operation::Create(new.clone())), Err(Error::AlreadyExists(_))));
    let created = refused(&new).unwrap();
    assert_eq!(created.change.fate, Fate::Created);
    assert_eq!(entity_of(&created).created, NOW.0);
    new.attributes[0].instances.push(property("2"));
    assert!(matches!(refused(&new), Err(Error::Invalid(_))), "two default instances");
}

#[test]
fn what_is_not_there_can_only_be_created() {
    for operation in [
        Operation::Delete,
        Operation::Replace(draft(vec![])),
        Operation::Merge(draft(vec![]), MergeOptions::default()),
        Operation::Append { draft: draft(vec![]), keep_held: false },
        Operation::Update(draft(vec![])),
        Operation::PatchAttribute(attribute(10, vec![property("1")])),
        Operation::DeleteAttribute { name: TermId(10), instances: Instances::All },
        Operation::Retain { names: vec![], keep: true },
    ] {
        assert!(
            matches!(apply(None, ID, &operation, NOW, 1 << 20), Err(Error::NoSuchEntity(_))),
            "{operation:?}"
        );
    }
}

#[test]
fn replace_keeps_id_types_and_created_at() {
    let entity = after(&Operation::Replace(draft(vec![attribute(12, vec![property("9")])])));
    assert_eq!((names(&entity), entity.types.clone(), entity.scopes.clone()), (vec![12], vec![1], vec![]));
    let mut typed = draft(vec![attribute(10, vec![property("9")])]);
    typed.types.push(TermId(2));
    let entity = after(&Operation::Replace(typed));
    assert_eq!(entity.types, [2]);
    let held = instance(&entity, 10, None);
    assert_eq!((held.created, held.modified, held.unit, held.members.len()), (BEFORE.0, NOW.0, None, 0));
}

#[test]
fn append_adds_and_overwrites_or_keeps() {
    let given = || {
        let instances = vec![of_dataset("urn:d:2", property("5")), of_dataset("urn:d:3", property("6"))];
        let mut draft = draft(vec![attribute(11, instances), attribute(12, vec![property("7")])]);
        draft.types.extend([TermId(1), TermId(2)]);
        draft.scopes = Some(vec!["/b".into(), "/a".into()]);
        draft
    };
    let entity = after(&Operation::Append { draft: given(), keep_held: false });
    assert_eq!((names(&entity), entity.types.clone()), (vec![10, 11, 12], vec![1, 2]));
    assert_eq!(entity.scopes, ["/a", "/b"]);
    assert_eq!(instance(&entity, 11, Some("urn:d:2")).value, "5");
    assert_eq!(instance(&entity, 11, Some("urn:d:1")).modified, BEFORE.0);
    let outcome = outcome(&Operation::Append { draft: given(), keep_held: true }).unwrap();
    let entity = entity_of(&outcome);
    assert_eq!(instance(&entity, 11, Some("urn:d:2")).value, "4");
    assert_eq!(instance(&entity, 11, Some("urn:d:3")).value, "6");
    assert_eq!(outcome.change.not_updated.as_slice(), [(TermId(11), NotUpdated::Held)]);
    assert_eq!(outcome.change.updated.as_slice(), [TermId(11), TermId(12)]);
}

#[test]
fn update_replaces_what_is_held_and_reports_the_rest() {
    let instances = vec![of_dataset("urn:d:1", property("5")), property("6")];
    let given = draft(vec![attribute(11, instances), attribute(12, vec![property("7")])]);
    let outcome = outcome(&Operation::Update(given)).unwrap();
    let entity = entity_of(&outcome);
    assert_eq!(names(&entity), [10, 11]);
    assert_eq!(instance(&entity, 11, Some("urn:d:1")).value, "5");
    assert_eq!(outcome.change.updated.as_slice(), [TermId(11)]);
    let missing = [(TermId(11), NotUpdated::NotHeld), (TermId(12), NotUpdated::NotHeld)];
    assert_eq!(outcome.change.not_updated.as_slice(), missing);
}

#[test]
fn patching_an_attribute_keeps_what_is_not_given() {
    let mut given = property("8");
    given.kind = None;
    given.observed_at = Some(Timestamp(9));
    given.members = vec![attribute(21, vec![property("3")])];
    let entity = after(&Operation::PatchAttribute(attribute(10, vec![given.clone()])));
    let held = instance(&entity, 10, None);
    assert_eq!((&*held.value, held.observed, held.unit.as_deref()), ("8", Some(9), Some("CEL")));
    assert_eq!((held.created, held.modified), (BEFORE.0, NOW.0));
    let members: Vec<_> =
        held.members.iter().map(|member| (member.name, member.instances[0].clone())).collect();
    assert_eq!((members[0].0, members[0].1.modified), (20, BEFORE.0));
    assert_eq!((members[1].0, &*members[1].1.value, members[1].1.created), (21, "3", BEFORE.0));
    given.value = None;
    given.remove_members = vec![TermId(20)];
    let entity = after(&Operation::PatchAttribute(attribute(10, vec![given.clone()])));
    let held = instance(&entity, 10, None);
    assert_eq!((&*held.value, held.members.len()), ("1", 1));
    given.kind = Some(Kind::Relationship);
    let refused = outcome(&Operation::PatchAttribute(attribute(10, vec![given.clone()])));
    assert!(matches!(refused, Err(Error::Invalid(message)) if message.contains("Property")));
    given.kind = None;
    let refused = outcome(&Operation::PatchAttribute(attribute(11, vec![given])));
    assert!(matches!(refused, Err(Error::NoSuchAttribute(TermId(11), None))));
    let removed = after(&Operation::PatchAttribute(attribute(11, vec![removal(Some("urn:d:1"))])));
    assert_eq!(removed.attributes[1].instances.len(), 1);
}

#[test]
fn replacing_an_attribute_leaves_nothing_of_it() {
    let entity = after(&Operation::ReplaceAttribute(attribute(10, vec![property("8")])));
    let held = instance(&entity, 10, None);
    assert_eq!((held.unit, held.members.len(), held.created), (None, 0, BEFORE.0));
    let refused = outcome(&Operation::ReplaceAttribute(attribute(12, vec![property("8")])));
    assert!(matches!(refused, Err(Error::NoSuchAttribute(TermId(12), None))));
}

fn check_merge(kind: Kind, held: &str, given: &str, expected: &str) {
    let mut new = draft(vec![attribute(10, vec![Instance::new(kind, held)])]);
    new.types.push(TermId(1));
    let bytes = encode_as(ID, &new, BEFORE, BEFORE);
    let merging = draft(vec![attribute(10, vec![Instance { kind: None, ..Instance::new(kind, given) }])]);
    let options = MergeOptions { lang: Some("fr".into()), ..MergeOptions::default() };
    let view = EntityView::parse(&bytes).unwrap();
    let outcome = apply(Some(&view), ID, &Operation::Merge(merging, options), NOW, 1 << 20).unwrap();
    assert_eq!(instance(&entity_of(&outcome), 10, None).value, expected);
}

#[test]
fn merged_values_are_merged_where_they_have_members() {
    check_merge(
        Kind::Property,
        "{\"a\":1,\"b\":{\"c\":2}}",
        "{\"b\":{\"d\":3},\"a\":null}",
        "{\"b\":{\"c\":2,\"d\":3}}",
    );
    check_merge(Kind::Property, "{\"a\":1}", "{\"a\":\"urn:ngsi-ld:null\",\"é\\n\":2}", "{\"é\\n\":2}");
    check_merge(Kind::Property, "{\"a\":1}", "[1]", "[1]");
    check_merge(
        Kind::Property,
        "1",
        "{\"a\":\"urn:ngsi-ld:null\",\"b\":{\"c\":\"urn:ngsi-ld:null\"}}",
        "{\"b\":{}}",
    );
    check_merge(Kind::Property, "1", "{\"a\":{\"b\":null}}", "{\"a\":{\"b\":null}}");
    check_merge(Kind::Property, "{\"a\":1}", "{\"b\":{\"c\":null,\"d\":1}}", "{\"a\":1,\"b\":{\"d\":1}}");
    check_merge(
        Kind::LanguageProperty,
        "{\"en\":\"dog\"}",
        "{\"de\":\"Hund\"}",
        "{\"en\":\"dog\",\"de\":\"Hund\"}",
    );
    check_merge(Kind::LanguageProperty, "{\"en\":\"dog\"}", "\"chien\"", "{\"en\":\"dog\",\"fr\":\"chien\"}");
    let point = "{\"type\":\"Point\",\"coordinates\":[1,2]}";
    check_merge(Kind::GeoProperty, "{\"type\":\"Point\",\"coordinates\":[0,0],\"bbox\":[]}", point, point);
    let date = "{\"@type\":\"Date\",\"@value\":\"2026-11-21\"}";
    check_merge(Kind::Property, "{\"@type\":\"DateTime\",\"@value\":\"x\",\"y\":1}", date, date);
}

#[test]
fn merging_adds_merges_and_removes() {
    let mut given = property("5");
    given.extras.push((Extra::ValueType, "\"T\"".into()));
    given.members = vec![attribute(20, vec![removal(None)]), attribute(22, vec![property("6")])];
    let attributes = vec![
        attribute(10, vec![given]),
        attribute(11, vec![removal(Some("urn:d:1")), removal(Some("urn:d:9"))]),
        attribute(12, vec![property("7")]),
        attribute(13, vec![removal(None)]),
    ];
    let options = MergeOptions { observed_at: Some(Timestamp(77)), lang: None };
    let entity = after(&Operation::Merge(draft(attributes), options));
    assert_eq!(names(&entity), [10, 11, 12]);
    let held = instance(&entity, 10, None);
    assert_eq!((&*held.value, held.observed, held.unit.as_deref()), ("5", Some(77), Some("CEL")));
    assert_eq!(held.members.iter().map(|member| member.name).collect::<Vec<_>>(), [21, 22]);
    assert_eq!(held.extras, [(Extra::ValueType, "\"T\"".to_owned())]);
    assert_eq!(entity.attributes[1].instances.len(), 1);
    assert_eq!(instance(&entity, 12, None).observed, None, "no time is made up");
    let other = draft(vec![attribute(10, vec![Instance::new(Kind::Relationship, "\"urn:x:2\"")])]);
    let entity = after(&Operation::Merge(other, MergeOptions::default()));
    let held = instance(&entity, 10, None);
    assert_eq!((held.kind, held.unit, held.members.len()), (Kind::Relationship, None, 0));
}

#[test]
fn what_is_new_keeps_no_removal() {
    let value = "{\"a\":\"urn:ngsi-ld:null\",\"b\":[null],\"c\":null}";
    let settled = "{\"b\":[null],\"c\":null}";
    let mut new = property(value);
    new.members = vec![attribute(20, vec![property(value)])];
    let attributes = vec![attribute(11, vec![property(value)]), attribute(12, vec![new])];
    let entity = after(&Operation::Merge(draft(attributes), MergeOptions::default()));
    assert_eq!(&*instance(&entity, 11, None).value, settled);
    assert_eq!(&*instance(&entity, 12, None).value, settled);
    assert_eq!(&*instance(&entity, 12, None).members[0].instances[0].value, settled);
    let entity = after(&Operation::PatchAttribute(attribute(10, vec![property(value)])));
    assert_eq!(&*instance(&entity, 10, None).value, settled);
}

#[test]
fn attributes_are_deleted_by_instance() {
    let delete = |name, instances| Operation::DeleteAttribute { name: TermId(name), instances };
    assert_eq!(names(&after(&delete(11, Instances::All))), [10]);
    let entity = after(&delete(11, Instances::Dataset("urn:d:1".into())));
    assert_eq!(entity.attributes[1].instances.len(), 1);
    let refused = outcome(&delete(11, Instances::Default));
    assert!(matches!(refused, Err(Error::NoSuchAttribute(TermId(11), None))));
    let retain = |keep| Operation::Retain { names: vec![TermId(10)], keep };
    assert_eq!(names(&after(&retain(true))), [10]);
    assert_eq!(names(&after(&retain(false))), [11]);
}

#[test]
fn what_touches_nothing_changes_nothing() {
    for operation in [
        Operation::Merge(draft(vec![]), MergeOptions::default()),
        Operation::Append { draft: draft(vec![attribute(10, vec![property("9")])]), keep_held: true },
        Operation::Update(draft(vec![attribute(12, vec![property("9")])])),
        Operation::Retain { names: vec![], keep: false },
    ] {
        let outcome = outcome(&operation).unwrap();
        assert_eq!(outcome.change.fate, Fate::Unchanged, "{operation:?}");
        assert!(outcome.bytes.is_none() && outcome.writes.is_empty());
    }
    let same =
        after(&Operation::Update(draft(vec![attribute(11, vec![of_dataset("urn:d:1", property("3"))])])));
    assert_eq!(instance(&same, 11, Some("urn:d:1")).modified, NOW.0, "an equal value is written anew");
}

#[test]
fn an_update_writes_only_the_rows_that_change() {
    let patch = |value: &str| Operation::PatchAttribute(attribute(10, vec![property(value)]));
    assert_eq!(outcome(&patch("2")).unwrap().writes.len(), 2);
    assert_eq!(outcome(&patch("1.0")).unwrap().writes.len(), 0);
    let delete = outcome(&Operation::Delete).unwrap();
    assert!(delete.writes.iter().all(|write| matches!(write, Write::Delete(_))));
    // By type, by scope, three values.
    assert_eq!(delete.writes.len(), 5);
}
