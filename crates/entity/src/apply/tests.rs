//! What each operation makes of an entity, said by example; `write/tests.rs` checks by chance.

use store::Timestamp;

use super::*;
use crate::testing::plain::{PlainEntity, PlainInstance};
use crate::{Extra, Instance, Instances, Kind, MergeOptions, NotUpdated};

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
fn existing() -> Vec<u8> {
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
    let existing = existing();
    apply(
        Some(&EntityView::parse(&existing).unwrap()),
        ID,
        operation,
        NOW,
        WriteRules { entity_bytes_max: 1 << 20, ..WriteRules::FREE },
    )
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
    let refused = |draft: &Draft| {
        apply(
            None,
            ID,
            &Operation::Create(draft.clone()),
            NOW,
            WriteRules { entity_bytes_max: 1 << 20, ..WriteRules::FREE },
        )
    };
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
        Operation::Append { draft: draft(vec![]), keep_existing: false },
        Operation::Update(draft(vec![])),
        Operation::PatchAttribute(attribute(10, vec![property("1")])),
        Operation::DeleteAttribute { name: TermId(10), instances: Instances::All },
        Operation::Retain { names: vec![], keep: true },
    ] {
        assert!(
            matches!(
                apply(
                    None,
                    ID,
                    &operation,
                    NOW,
                    WriteRules { entity_bytes_max: 1 << 20, ..WriteRules::FREE }
                ),
                Err(Error::NoSuchEntity(_))
            ),
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
    let existing = instance(&entity, 10, None);
    assert_eq!(
        (existing.created, existing.modified, existing.unit, existing.members.len()),
        (BEFORE.0, NOW.0, None, 0)
    );
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
    let entity = after(&Operation::Append { draft: given(), keep_existing: false });
    assert_eq!((names(&entity), entity.types.clone()), (vec![10, 11, 12], vec![1, 2]));
    assert_eq!((&entity.scopes, entity.scoped), (&vec!["/b".to_owned(), "/a".to_owned()], Some(BEFORE.0)));
    assert_eq!(instance(&entity, 11, Some("urn:d:2")).value, "5");
    assert_eq!(instance(&entity, 11, Some("urn:d:1")).modified, BEFORE.0);
    let outcome = outcome(&Operation::Append { draft: given(), keep_existing: true }).unwrap();
    let entity = entity_of(&outcome);
    assert_eq!(instance(&entity, 11, Some("urn:d:2")).value, "4");
    assert_eq!(instance(&entity, 11, Some("urn:d:3")).value, "6");
    assert_eq!(outcome.change.not_updated.as_slice(), [(TermId(11), NotUpdated::Exists)]);
    assert_eq!(outcome.change.updated.as_slice(), [TermId(11), TermId(12)]);
}

#[test]
fn update_replaces_what_exists_and_adds_the_rest() {
    let instances = vec![of_dataset("urn:d:1", property("5")), property("6")];
    let given = draft(vec![attribute(11, instances), attribute(12, vec![property("7")])]);
    let outcome = outcome(&Operation::Update(given)).unwrap();
    let entity = entity_of(&outcome);
    assert_eq!(names(&entity), [10, 11, 12]);
    assert_eq!(instance(&entity, 11, Some("urn:d:1")).value, "5");
    assert_eq!(instance(&entity, 11, None).value, "6");
    assert_eq!(instance(&entity, 12, None).value, "7");
    assert_eq!(outcome.change.updated.as_slice(), [TermId(11), TermId(12)]);
    assert!(outcome.change.not_updated.is_empty());
}

#[test]
fn what_is_given_is_checked_before_what_it_is_given_to() {
    let id = "urn:x:nobody";
    let twice = || draft(vec![attribute(1, vec![property("1")]), attribute(1, vec![property("2")])]);
    let long = || Draft { scopes: Some(vec!["/a".repeat(SCOPE_BYTES_MAX).into()]), ..Draft::default() };
    for (given, is_limit) in [(twice as fn() -> Draft, false), (long, true)] {
        for operation in [
            Operation::Replace(given()),
            Operation::Merge(given(), MergeOptions::default()),
            Operation::Append { draft: given(), keep_existing: true },
            Operation::Update(given()),
        ] {
            let error = apply(None, id, &operation, NOW, WriteRules::FREE).unwrap_err();
            assert_eq!(matches!(error, Error::Limit(_)), is_limit, "{error:?}");
            assert!(is_limit || matches!(error, Error::Invalid(_)), "{error:?}");
        }
    }
    let given =
        Operation::Append { draft: draft(vec![attribute(1, vec![property("1")])]), keep_existing: true };
    assert!(matches!(apply(None, id, &given, NOW, WriteRules::FREE), Err(Error::NoSuchEntity(_))));
}

/// As many attributes, instances, sub-attributes, scopes and types as are given.
fn large([attributes, instances, members, scopes, types]: [usize; 5]) -> Draft {
    let name = |number: usize| u32::try_from(number).unwrap() + 100;
    let named = |number| attribute(name(number), vec![property("1")]);
    let mut with_members = property("1");
    with_members.members = (0..members).map(named).collect();
    let of_datasets = (1..instances).map(|number| of_dataset(&format!("urn:d:{number}"), property("1")));
    let all = std::iter::once(with_members).chain(of_datasets).collect();
    let mut given = draft((1..attributes).map(named).collect());
    given.attributes.push(attribute(1, all));
    given.types = (0..types).map(|number| TermId(name(number))).collect();
    given.scopes = Some((0..scopes).map(|number| format!("/s{number}").into()).collect());
    given
}

#[test]
fn counts_have_limits_with_names() {
    let most = [ATTRIBUTES_MAX, INSTANCES_MAX, SUB_ATTRIBUTES_MAX, SCOPES_MAX, TYPES_MAX];
    let names = ["ATTRIBUTES_MAX", "INSTANCES_MAX", "SUB_ATTRIBUTES_MAX", "SCOPES_MAX", "TYPES_MAX"];
    for (at, name) in names.into_iter().enumerate() {
        for (more, fits) in [(0, true), (1, false)] {
            let mut counts = [1; 5];
            counts[at] = most[at] + more;
            let created = apply(None, "urn:x:1", &Operation::Create(large(counts)), NOW, WriteRules::FREE);
            match created {
                Ok(_) => assert!(fits, "{name}"),
                Err(Error::Limit(limit)) => assert!(!fits && limit.name.as_str() == name, "{limit}"),
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}

#[test]
fn what_is_added_counts_beside_what_exists() {
    let id = "urn:x:1";
    let existing = apply(
        None,
        id,
        &Operation::Create(large([ATTRIBUTES_MAX, INSTANCES_MAX, 1, 1, 1])),
        NOW,
        WriteRules::FREE,
    );
    let existing = existing.unwrap().bytes.unwrap();
    let existing = EntityView::parse(&existing).unwrap();
    let append = |given| {
        let operation = Operation::Append { draft: draft(vec![given]), keep_existing: false };
        apply(Some(&existing), id, &operation, NOW, WriteRules::FREE)
    };
    assert!(append(attribute(101, vec![property("2")])).is_ok());
    let error = append(attribute(7, vec![property("2")])).unwrap_err();
    assert!(error.to_string().ends_with("(ATTRIBUTES_MAX)"), "{error}");
    let error = append(attribute(1, vec![of_dataset("urn:d:new", property("2"))])).unwrap_err();
    assert!(error.to_string().ends_with("(INSTANCES_MAX)"), "{error}");
}

#[test]
fn patching_an_attribute_keeps_what_is_not_given() {
    let mut given = property("8");
    given.kind = None;
    given.observed_at = Some(Timestamp(9));
    given.members = vec![attribute(21, vec![property("3")])];
    let entity = after(&Operation::PatchAttribute(attribute(10, vec![given.clone()])));
    let existing = instance(&entity, 10, None);
    assert_eq!((&*existing.value, existing.observed, existing.unit.as_deref()), ("8", Some(9), Some("CEL")));
    assert_eq!((existing.created, existing.modified), (BEFORE.0, NOW.0));
    let members: Vec<_> =
        existing.members.iter().map(|member| (member.name, member.instances[0].clone())).collect();
    assert_eq!((members[0].0, members[0].1.modified), (20, BEFORE.0));
    assert_eq!((members[1].0, &*members[1].1.value, members[1].1.created), (21, "3", BEFORE.0));
    given.value = None;
    given.remove_members = vec![TermId(20)];
    let entity = after(&Operation::PatchAttribute(attribute(10, vec![given.clone()])));
    let existing = instance(&entity, 10, None);
    assert_eq!((&*existing.value, existing.members.len()), ("1", 1));
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
    let existing = instance(&entity, 10, None);
    assert_eq!((existing.unit, existing.members.len(), existing.created), (None, 0, BEFORE.0));
    let refused = outcome(&Operation::ReplaceAttribute(attribute(12, vec![property("8")])));
    assert!(matches!(refused, Err(Error::NoSuchAttribute(TermId(12), None))));
}

fn check_merge(kind: Kind, existing: &str, given: &str, expected: &str) {
    let mut new = draft(vec![attribute(10, vec![Instance::new(kind, existing)])]);
    new.types.push(TermId(1));
    let bytes = encode_as(ID, &new, BEFORE, BEFORE);
    let merging = draft(vec![attribute(10, vec![Instance { kind: None, ..Instance::new(kind, given) }])]);
    let options = MergeOptions { lang: Some("fr".into()), ..MergeOptions::default() };
    let view = EntityView::parse(&bytes).unwrap();
    let outcome = apply(
        Some(&view),
        ID,
        &Operation::Merge(merging, options),
        NOW,
        WriteRules { entity_bytes_max: 1 << 20, ..WriteRules::FREE },
    )
    .unwrap();
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
    let existing = instance(&entity, 10, None);
    assert_eq!((&*existing.value, existing.observed, existing.unit.as_deref()), ("5", Some(77), Some("CEL")));
    assert_eq!(existing.members.iter().map(|member| member.name).collect::<Vec<_>>(), [21, 22]);
    assert_eq!(existing.extras, [(Extra::ValueType, "\"T\"".to_owned())]);
    assert_eq!(entity.attributes[1].instances.len(), 1);
    assert_eq!(instance(&entity, 12, None).observed, None, "no time is made up");
    let other = draft(vec![attribute(10, vec![Instance::new(Kind::Relationship, "\"urn:x:2\"")])]);
    let entity = after(&Operation::Merge(other, MergeOptions::default()));
    let existing = instance(&entity, 10, None);
    assert_eq!((existing.kind, existing.unit, existing.members.len()), (Kind::Relationship, None, 0));
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
    // What a patch gives is a value as a whole: front ends let removals stand within JSON alone that is nobody's business.
    let entity = after(&Operation::PatchAttribute(attribute(10, vec![property(value)])));
    assert_eq!(&*instance(&entity, 10, None).value, value);
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
        Operation::Append { draft: draft(vec![attribute(10, vec![property("9")])]), keep_existing: true },
        Operation::Update(draft(vec![attribute(12, vec![removal(None)])])),
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

/// Four times as much takes about four times as long; were each member looked for among all, sixteen times.
#[test]
fn large_values_are_merged_in_linear_time() {
    let id = "urn:x:1";
    let object = |count: usize, value: &str| {
        let members: Vec<_> = (0..count).map(|number| format!("\"m{number}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let least = |count: usize| {
        let given = |value| draft(vec![attribute(1, vec![property(&object(count, value))])]);
        let created = Operation::Create(Draft { types: [TermId(1)].into_iter().collect(), ..given("1") });
        let existing = apply(None, id, &created, BEFORE, WriteRules::FREE).unwrap().bytes.unwrap();
        let existing = EntityView::parse(&existing).unwrap();
        let merge = Operation::Merge(given("2"), MergeOptions::default());
        let timed = (0..3).map(|_| {
            let started = std::time::Instant::now();
            let merged = apply(Some(&existing), id, &merge, NOW, WriteRules::FREE).unwrap().bytes.unwrap();
            assert_eq!(merged.len(), existing.bytes().len());
            started.elapsed()
        });
        timed.min().unwrap()
    };
    let (few, many) = (least(5_000), least(20_000));
    assert!(many < few * 10, "{few:?}, of four times as many {many:?}");
}

#[test]
fn scopes_are_set_added_updated_and_removed() {
    let mut given = draft(Vec::new());
    given.scopes = Some(vec!["/b".into(), "/c".into()]);
    let scopes = |operation: Operation| {
        let entity = after(&operation);
        (entity.scopes, entity.scoped)
    };
    let both = |since: Timestamp| (vec!["/b".to_owned(), "/c".to_owned()], Some(since.0));
    assert_eq!(scopes(Operation::Append { draft: given.clone(), keep_existing: false }), both(BEFORE));
    assert_eq!(scopes(Operation::UpsertUpdate(given.clone())), both(BEFORE));
    assert_eq!(scopes(Operation::Update(given.clone())), both(BEFORE));
    assert_eq!(scopes(Operation::Merge(given.clone(), MergeOptions::default())), both(BEFORE));
    let added = scopes(Operation::Append { draft: given.clone(), keep_existing: true });
    assert_eq!(added, (vec!["/a".to_owned(), "/b".to_owned(), "/c".to_owned()], Some(BEFORE.0)));
    assert_eq!(scopes(Operation::DeleteScopes), (Vec::new(), None));

    // An entity without scopes.
    let removed = outcome(&Operation::DeleteScopes).unwrap().bytes.unwrap();
    let bare = EntityView::parse(&removed).unwrap();
    let apply_bare = |operation: &Operation| {
        apply(
            Some(&bare),
            bare.id(),
            operation,
            NOW,
            WriteRules { entity_bytes_max: 1 << 20, ..WriteRules::FREE },
        )
    };
    let removal = apply_bare(&Operation::DeleteScopes);
    assert!(matches!(removal, Err(Error::NoSuchAttribute(TermId::SCOPE, None))), "{removal:?}");
    assert_eq!(apply_bare(&Operation::Update(given.clone())).unwrap().change.fate, Fate::Unchanged);
    let set = apply_bare(&Operation::Append { draft: given, keep_existing: true }).unwrap();
    let entity = entity_of(&set);
    assert_eq!((entity.scopes, entity.scoped), both(NOW));
}
