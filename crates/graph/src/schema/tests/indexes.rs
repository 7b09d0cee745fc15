//! The rules of index labels, each by example.

use super::*;
use crate::value::Cardinality;

fn with(schema: &Schema, name: &str, kind: IndexKind, fields: &[&str]) -> Schema {
    after(schema.create_index_label(&index(name, "person", kind, fields), &NOW))
}

#[test]
fn ranges_are_of_the_type_of_their_field() {
    let mut schema = people();
    for (name, field, index_type) in
        [("age", "age", IndexType::RangeInt), ("birth", "birth", IndexType::RangeLong)]
    {
        schema = with(&schema, name, IndexKind::Range, &[field]);
        let made = schema.index_label_named(name).unwrap();
        assert_eq!((made.index_type, made.status), (index_type, SchemaStatus::Creating));
        assert!(!made.is_complete());
    }
    let person = schema.vertex_label_named("person").unwrap();
    assert_eq!(person.indexes.iter().map(|index| &*index.name).collect::<Vec<_>>(), ["age", "birth"]);
    assert_eq!(schema.indexes_of(IndexBase::Vertex(person.id)).len(), 2);
    assert_same(&reread(&schema), &schema);
    let built = schema.set_index_status(&[IndexLabelId(1), IndexLabelId(7)], SchemaStatus::Created).unwrap();
    assert!(built.schema.vertex_label_named("person").unwrap().indexes[0].is_complete());
    assert_eq!(built.put.len(), 1);
    assert!(built.schema.set_index_status(&[IndexLabelId(1)], SchemaStatus::Created).is_none());
}

#[test]
fn indexes_are_refused_for_what_they_name() {
    let check = |kind, fields: &[&str], text: &str| {
        let outcome = people().create_index_label(&index("i", "person", kind, fields), &NOW);
        assert_eq!(refusal(outcome), text);
    };
    check(IndexKind::Secondary, &[], "The index fields of 'i' can't be empty");
    check(
        IndexKind::Secondary,
        &["nope"],
        "Can't build index on undefined property key 'nope' for 'vertex label': 'person'",
    );
    check(
        IndexKind::Secondary,
        &["weight"],
        "Not all index fields '[weight]' are contained in schema properties '[name, age, city, birth]'",
    );
    check(
        IndexKind::Secondary,
        &["age", "age"],
        "Invalid index fields [age, age], which contains some duplicate properties",
    );
    check(
        IndexKind::Range,
        &["age", "birth"],
        "Range index can only build on one field, but got 2 fields: '[age, birth]'",
    );
    check(
        IndexKind::Range,
        &["city"],
        "Range index can only build on numeric or date property, but got TEXT(city)",
    );
    check(IndexKind::Search, &["age"], "Search index can only build on text property, but got INT(age)");
    check(
        IndexKind::Secondary,
        &["name", "age"],
        "No need to build index on properties [name, age], because they contains all primary keys [name] for vertex \
         label 'person'",
    );
    let mut draft = index("i", "nope", IndexKind::Secondary, &["age"]);
    assert_eq!(refusal(people().create_index_label(&draft, &NOW)), "Undefined vertex label: 'nope'");
    draft.base = None;
    assert_eq!(
        refusal(people().create_index_label(&draft, &NOW)),
        "The base type of index label 'i' can only be either VERTEX_LABEL or EDGE_LABEL"
    );
}

#[test]
fn many_values_are_indexed_alone() {
    let draft = PropertyKeyDraft { cardinality: Cardinality::Set, ..key("tags", DataType::Text) };
    let schema = after(people().create_property_key(&draft, &NOW));
    let schema = after(schema.create_vertex_label(&vertex("v", &["tags", "age"], &[]), &NOW));
    let create =
        |fields: &[&str]| schema.create_index_label(&index("i", "v", IndexKind::Secondary, fields), &NOW);
    assert_eq!(
        refusal(create(&["tags", "age"])),
        "Not allowed to build union index on property key 'tags' whose cardinality is multiple"
    );
    after(create(&["tags"]));
}

#[test]
fn an_index_is_absorbed_by_one_that_finds_more() {
    let schema = with(&people(), "by_city", IndexKind::Secondary, &["city"]);
    assert_eq!(
        refusal(schema.create_index_label(&index("again", "person", IndexKind::Secondary, &["city"]), &NOW)),
        "Repeated new index label again(SECONDARY) with fields [city] due to existed index label by_city(SECONDARY) \
         with fields [city]"
    );
    let draft = index("by_both", "person", IndexKind::Secondary, &["city", "age"]);
    let change = schema.create_index_label(&draft, &NOW).unwrap().change.unwrap();
    assert_eq!(change.removed.iter().map(|part| &**part.name()).collect::<Vec<_>>(), ["by_city"]);
    assert_eq!(change.schema.index_labels().count(), 1);
    let repeated =
        change.schema.create_index_label(&index("c", "person", IndexKind::Secondary, &["city"]), &NOW);
    assert!(refusal(repeated).starts_with("Repeated new index label c(SECONDARY)"));
    let schema = with(&change.schema, "shard", IndexKind::Shard, &["city", "age", "birth"]);
    assert_eq!(schema.index_labels().map(|index| &*index.name).collect::<Vec<_>>(), ["shard"]);
    assert_same(&reread(&schema), &schema);
}

#[test]
fn ranges_and_uniqueness_absorb_their_own() {
    let schema = with(&people(), "s", IndexKind::Secondary, &["age"]);
    let schema = with(&schema, "r", IndexKind::Range, &["age"]);
    assert_eq!(schema.index_labels().count(), 1, "a range finds equal values, too");
    let draft = index("s", "person", IndexKind::Secondary, &["age"]);
    assert!(refusal(schema.create_index_label(&draft, &NOW)).contains("existed index label r(RANGE_INT)"));
    let schema = with(&schema, "u", IndexKind::Unique, &["city", "age"]);
    let wider = index("w", "person", IndexKind::Unique, &["age", "city", "birth"]);
    assert!(
        refusal(schema.create_index_label(&wider, &NOW)).starts_with("Repeated new index label w(UNIQUE)")
    );
    let schema = with(&schema, "n", IndexKind::Unique, &["city"]);
    assert_eq!(schema.index_labels().map(|index| &*index.name).collect::<Vec<_>>(), ["r", "n"]);
    let schema = with(&schema, "t", IndexKind::Search, &["city"]);
    assert_eq!(schema.index_labels().count(), 3);
}

#[test]
fn an_index_of_the_same_kind_may_exist() {
    let schema = with(&people(), "r", IndexKind::Range, &["age"]);
    let mut draft = index("r", "person", IndexKind::Range, &["age"]);
    assert_eq!(refusal(schema.create_index_label(&draft, &NOW)), "The index label 'r' has existed");
    draft.check_exist = false;
    assert!(schema.create_index_label(&draft, &NOW).unwrap().change.is_none());
    draft.index_kind = None;
    assert_eq!(refusal(schema.create_index_label(&draft, &NOW)), "The index label 'r' has existed");
    draft = IndexLabelDraft { rebuild: false, ..index("x", "person", IndexKind::Search, &["city"]) };
    assert!(schema.create_index_label(&draft, &NOW).unwrap().part.is_complete());
}

#[test]
fn the_indexes_of_a_label_go_with_it() {
    let schema = after(people().create_index_label(
        &IndexLabelDraft {
            base: Some((SchemaKind::EdgeLabel, "knows".into())),
            ..index("i", "", IndexKind::Range, &["weight"])
        },
        &NOW,
    ));
    assert_eq!(schema.index_label_named("i").unwrap().index_type, IndexType::RangeDouble);
    assert_eq!(schema.indexes_to_rebuild(SchemaKind::EdgeLabel, "knows").unwrap(), [IndexLabelId(1)]);
    assert_eq!(schema.indexes_to_rebuild(SchemaKind::IndexLabel, "i").unwrap(), [IndexLabelId(1)]);
    assert!(schema.indexes_to_rebuild(SchemaKind::VertexLabel, "person").unwrap().is_empty());
    let change = schema.remove_edge_label("knows").unwrap();
    let removed = change.removed.iter().map(SchemaPart::id);
    let id = |kind, number| PartId { kind, number };
    assert_eq!(removed.collect::<Vec<_>>(), [id(SchemaKind::IndexLabel, 1), id(SchemaKind::EdgeLabel, 1)]);
    assert_eq!(change.schema.index_labels().count(), 0);
    let change = schema.remove_index_label("i").unwrap();
    assert!(change.schema.edge_label_named("knows").unwrap().indexes.is_empty());
}

#[test]
fn notes_are_appended_and_eliminated() {
    let schema = with(&people(), "i", IndexKind::Range, &["age"]);
    let mut draft = IndexLabelDraft::named("i");
    draft.user_data.put("a", "[1]");
    let schema = after(schema.append_index_label(&draft));
    assert_eq!(schema.vertex_label_named("person").unwrap().indexes[0].user_data.get("a"), Some("[1]"));
    let schema = after(schema.eliminate_index_label(&draft));
    assert_eq!(schema.index_label_named("i").unwrap().user_data.get("a"), None);
    draft.fields = names(&["age"]);
    assert_eq!(
        refusal(schema.append_index_label(&draft)),
        "Not allowed to update index fields for index label 'i'"
    );
}
