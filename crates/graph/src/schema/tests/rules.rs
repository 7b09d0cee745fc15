//! The rules of property keys, vertex labels and edge labels, each by example.

use super::*;
use crate::value::Cardinality;

#[test]
fn parts_are_numbered_by_kind_from_one() {
    let schema = people();
    let numbers =
        |kind| schema.parts().filter(move |part| part.id().kind == kind).map(|part| part.id().number);
    assert_eq!(numbers(SchemaKind::PropertyKey).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(numbers(SchemaKind::VertexLabel).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(numbers(SchemaKind::EdgeLabel).collect::<Vec<_>>(), [1, 2]);
    let person = schema.vertex_label_named("person").unwrap();
    assert_eq!((person.id, person.id_strategy), (LabelId(1), IdStrategy::PrimaryKey));
    assert_eq!(schema.vertex_label_named("software").unwrap().id_strategy, IdStrategy::Automatic);
    assert_eq!(person.user_data.get("~create_time"), Some("\"2026-11-23 04:00:00.000\""));
    assert_same(&reread(&schema), &schema);
}

#[test]
fn a_number_is_not_given_again() {
    let schema = after(Schema::default().create_property_key(&key("a", DataType::Text), &NOW));
    let schema = schema.remove_property_key("a").unwrap().schema;
    let outcome = schema.create_property_key(&key("a", DataType::Int), &NOW).unwrap();
    assert_eq!(outcome.part.id, PropertyKeyId(2));
}

#[test]
fn names_are_checked() {
    let check = |name: &str, text: &str| {
        let outcome = Schema::default().create_property_key(&key(name, DataType::Text), &NOW);
        assert_eq!(refusal(outcome), text);
    };
    check("", "The name can't be empty.");
    check("~a", "Illegal schema name '~a'");
    check("a ", "Illegal schema name 'a '");
    check("a:b", "The name can't contain character ':'.");
    check("a>", "The name can't contain character '>'.");
    check(&"a".repeat(256), "The length of name must less than 256 bytes.");
    after(Schema::default().create_property_key(&key(&"ä".repeat(255), DataType::Text), &NOW));
}

#[test]
fn a_second_creation_is_refused_unless_it_says_the_same_and_may_exist() {
    let schema = people();
    let mut age = key("age", DataType::Int);
    assert_eq!(refusal(schema.create_property_key(&age, &NOW)), "The property key 'age' has existed");
    age.check_exist = false;
    let outcome = schema.create_property_key(&age, &NOW).unwrap();
    assert_eq!((outcome.part.id, outcome.change.is_none()), (PropertyKeyId(2), true));
    age.data_type = DataType::Long;
    assert_eq!(refusal(schema.create_property_key(&age, &NOW)), "The property key 'age' has existed");

    let mut person = vertex("person", &["birth", "name", "age", "city"], &["name"]);
    person.label.check_exist = false;
    assert!(schema.create_vertex_label(&person, &NOW).unwrap().change.is_none());
    person.label.properties.pop();
    assert_eq!(refusal(schema.create_vertex_label(&person, &NOW)), "The vertex label 'person' has existed");

    let mut knows = edge("knows", "person", "person", &["weight"]);
    knows.label.check_exist = false;
    assert!(schema.create_edge_label(&knows, &NOW).unwrap().change.is_none());
    knows.links = vec![("person".into(), "software".into())];
    assert_eq!(refusal(schema.create_edge_label(&knows, &NOW)), "The edge label 'knows' has existed");
}

#[test]
fn a_graph_that_is_restored_demands_numbers_and_others_refuse_them() {
    let restoring = Creation { mode: GraphMode::Restoring, ..NOW };
    let schema = Schema::default();
    let mut draft = key("a", DataType::Text);
    let create = |schema: &Schema, draft: &PropertyKeyDraft| schema.create_property_key(draft, &restoring);
    assert_eq!(refusal(create(&schema, &draft)), "Must provide schema id if in RESTORING mode");
    draft.id = Some(7);
    assert_eq!(
        refusal(schema.create_property_key(&draft, &NOW)),
        "Can't build schema with provided id '7' when graph 'hugegraph' in mode 'NONE'"
    );
    let schema = after(create(&schema, &draft));
    draft.name = "b".into();
    assert_eq!(refusal(create(&schema, &draft)), "The property key id '7' has existed");
    for (id, text) in [
        (0, "Not allowed to assign 0 as property key id"),
        (-1, "Schema id must be number and >0, but got '-1'"),
        (1 << 32, "Schema id must be below 2^32, but got '4294967296'"),
    ] {
        draft.id = Some(id);
        assert_eq!(refusal(create(&schema, &draft)), text);
    }
    draft.id = Some(1 << 30);
    let schema = after(create(&schema, &draft));
    assert_eq!(schema.property_key_named("b").unwrap().id, PropertyKeyId(1 << 30));
    draft = key("c", DataType::Text);
    let schema = after(schema.create_property_key(&draft, &NOW));
    assert_eq!(schema.property_key_named("c").unwrap().id, PropertyKeyId((1 << 30) + 1));
    assert_same(&reread(&schema), &schema);
}

#[test]
fn aggregates_and_computed_properties_go_with_their_types() {
    let check = |aggregate_type, cardinality, data_type, text: Option<&str>| {
        let draft = PropertyKeyDraft { aggregate_type, cardinality, ..key("k", data_type) };
        let refused =
            Schema::default().create_property_key(&draft, &NOW).map(drop).map_err(|e| e.to_string());
        assert_eq!(refused.err().as_deref(), text);
    };
    use crate::value::DataType as D;
    use AggregateType as A;
    use Cardinality as C;
    check(A::Max, C::Single, D::Date, None);
    check(A::Sum, C::Single, D::Double, None);
    check(A::Old, C::Single, D::Text, None);
    check(A::Set, C::Set, D::Text, None);
    check(A::List, C::List, D::Text, None);
    let with = |what: &str| format!("Not allowed to set aggregate type {what}");
    let text = with("'SUM' for property key 'k' with data type 'DATE'");
    check(A::Sum, C::Single, D::Date, Some(&text));
    let text = with("'MAX' for property key 'k' with data type 'TEXT'");
    check(A::Max, C::Single, D::Text, Some(&text));
    let text = with("'SET' for property key 'k' with cardinality 'SINGLE'");
    check(A::Set, C::Single, D::Text, Some(&text));
    let text = with("'MAX' for property key 'k' with cardinality 'LIST'");
    check(A::Max, C::List, D::Int, Some(&text));

    let olap = |write_type, aggregate_type, data_type| {
        let draft = PropertyKeyDraft { write_type, aggregate_type, ..key("k", data_type) };
        Schema::default().create_property_key(&draft, &NOW)
    };
    after(olap(WriteType::OlapRange, A::None, D::Date));
    assert_eq!(
        refusal(olap(WriteType::OlapRange, A::None, D::Text)),
        "Not allowed to set write type to OLAP_RANGE for property key 'k' with data type 'TEXT'"
    );
    assert_eq!(
        refusal(olap(WriteType::OlapCommon, A::Max, D::Int)),
        "Not allowed to set aggregate type 'MAX' for olap property key 'k'"
    );
}

#[test]
fn vertex_labels_are_refused_for_what_they_name() {
    let check = |change: &dyn Fn(&mut VertexLabelDraft), text: &str| {
        let mut draft = vertex("v", &["name", "age", "birth"], &["name"]);
        change(&mut draft);
        assert_eq!(refusal(people().create_vertex_label(&draft, &NOW)), text);
    };
    check(&|v| v.label.properties.push("nope".into()), "Undefined property key: 'nope'");
    check(
        &|v| v.primary_keys = names(&["name", "name"]),
        "Invalid primary keys [name, name], which contains some duplicate properties",
    );
    check(
        &|v| v.primary_keys = names(&["city"]),
        "The primary key 'city' of vertex label 'v' must be contained in properties: [name, age, birth]",
    );
    check(
        &|v| v.label.properties.clear(),
        "The properties of vertex label 'v' can't be empty when id strategy is 'PRIMARY_KEY'",
    );
    check(
        &|v| v.id_strategy = IdStrategy::CustomizeNumber,
        "Not allowed to assign primary keys when using 'CUSTOMIZE_NUMBER' id strategy",
    );
    check(
        &|v| (v.id_strategy, v.primary_keys) = (IdStrategy::PrimaryKey, Vec::new()),
        "Must assign some primary keys when using 'PRIMARY_KEY' id strategy",
    );
    check(
        &|v| v.label.nullable_keys = names(&["city"]),
        "The nullableKeys: [city] to be created or appended must belong to the origin/new properties: \
         []/[name, age, birth]",
    );
    check(
        &|v| v.label.nullable_keys = names(&["name"]),
        "The nullableKeys: [name] are not allowed to belong to primaryKeys: [name] of vertex label 'v'",
    );
    check(&|v| v.label.ttl_ms = -1, "The ttl must be >= 0, but got: -1");
    check(&|v| v.label.ttl_start_time = Some("birth".into()), "Can't set ttl start time if ttl is not set");
    check(
        &|v| (v.label.ttl_ms, v.label.ttl_start_time) = (9, Some("age".into())),
        "The ttl start time property must be date type,but got 'age(INT)'",
    );
    check(
        &|v| (v.label.ttl_ms, v.label.ttl_start_time) = (9, Some("city".into())),
        "The ttl start time 'city' must be contained in properties '[name, age, birth]' for vertex label 'v'",
    );
    check(
        &|v| v.label.user_data.put("a", "null"),
        "Not allowed to pass null userdata value when create or append schema",
    );
    check(
        &|v| v.label.user_data.put("a", &"1".repeat(USER_DATA_BYTES_MAX)),
        "too many bytes of user data: at most 65536",
    );
}

#[test]
fn labels_grow_by_nullable_properties_only() {
    let schema = people();
    let mut more = vertex("person", &["weight"], &[]);
    assert_eq!(
        refusal(schema.append_vertex_label(&more)),
        "The new added properties: [weight] must be nullable"
    );
    more.label.nullable_keys = names(&["weight", "age"]);
    more.label.user_data.put("icon", "\"p.png\"");
    let schema = after(schema.append_vertex_label(&more));
    let person = schema.vertex_label_named("person").unwrap();
    assert_eq!(
        schema.names_of(&person.properties).collect::<Vec<_>>(),
        ["name", "age", "city", "birth", "weight"]
    );
    assert_eq!(schema.names_of(&person.nullable_keys).collect::<Vec<_>>(), ["age", "weight"]);
    assert_eq!(person.user_data.get("icon"), Some("\"p.png\""));
    assert_eq!(
        refusal(schema.eliminate_vertex_label(&more)),
        "Not support to eliminate properties for vertex label currently"
    );
    (more.label.properties, more.label.nullable_keys) = (Vec::new(), Vec::new());
    let schema = after(schema.eliminate_vertex_label(&more));
    assert_eq!(schema.vertex_label_named("person").unwrap().user_data.get("icon"), None);

    let refuse = |change: &dyn Fn(&mut VertexLabelDraft), text: &str| {
        let mut draft = VertexLabelDraft::named("person");
        change(&mut draft);
        assert_eq!(refusal(schema.append_vertex_label(&draft)), text);
    };
    refuse(
        &|v| v.primary_keys = names(&["age"]),
        "Not allowed to update primary keys for vertex label 'person'",
    );
    refuse(
        &|v| v.id_strategy = IdStrategy::Automatic,
        "Not allowed to update id strategy for vertex label 'person'",
    );
    refuse(
        &|v| v.label.enable_label_index = Some(true),
        "Not allowed to update enable_label_index for vertex label 'person'",
    );
    refuse(&|v| v.label.name = "x".into(), "Can't update vertex label 'x' since it doesn't exist");
}

#[test]
fn edge_labels_are_refused_for_what_they_name() {
    let check = |change: &dyn Fn(&mut EdgeLabelDraft), text: &str| {
        let mut draft = edge("e", "person", "software", &["weight", "birth"]);
        change(&mut draft);
        assert_eq!(refusal(people().create_edge_label(&draft, &NOW)), text);
    };
    check(&|e| e.links.clear(), "The links of standard and subtype edge label can't be empty");
    let general = |e: &mut EdgeLabelDraft| {
        e.kind = EdgeLabelKind::General;
        e.links.clear();
    };
    check(&general, "The links of standard and subtype edge label can't be empty");
    check(
        &|e| e.links.push(("person".into(), "person".into())),
        "The links size of standard and subtype edge label must be 1",
    );
    check(
        &|e| e.links = vec![("nope".into(), "person".into())],
        "Undefined source vertex label 'nope' in edge label 'e'",
    );
    check(
        &|e| e.sort_keys = names(&["weight"]),
        "EdgeLabel can't contain sortKeys when the cardinality property is single",
    );
    check(
        &|e| e.frequency = Some(Frequency::Multiple),
        "EdgeLabel must contain sortKeys when the cardinality property is multiple",
    );
    check(
        &|e| (e.frequency, e.sort_keys) = (Some(Frequency::Multiple), names(&["age"])),
        "The sort key 'age' must be contained in properties '[weight, birth]' for edge label 'e'",
    );
    check(&|e| e.kind = EdgeLabelKind::Parent, "The links of the parent edge label must be empty");
    check(
        &|e| e.kind = EdgeLabelKind::Sub,
        "When creating a subtype edgeLabel, the edgeLabel name of the parent type edgeLabel must be entered",
    );
    check(
        &|e| (e.kind, e.parent) = (EdgeLabelKind::Sub, Some("nope".into())),
        "Can't create subtype edge label 'e' since it's parent edge label doesn't exist",
    );
}

#[test]
fn edges_live_no_longer_than_their_vertices() {
    let mut brief = vertex("brief", &["name"], &[]);
    brief.label.ttl_ms = 100;
    let schema = after(people().create_vertex_label(&brief, &NOW));
    let mut draft = edge("e", "person", "brief", &[]);
    draft.label.ttl_ms = 101;
    assert_eq!(
        refusal(schema.create_edge_label(&draft, &NOW)),
        "The ttl(101) of edge label 'e' should less than ttl(0) of source label 'person' and ttl(100) of target \
         label 'brief'"
    );
    draft.label.ttl_ms = 100;
    after(schema.create_edge_label(&draft, &NOW));
}

#[test]
fn a_parent_has_the_links_and_sort_keys_of_its_sub_labels() {
    let parent = EdgeLabelDraft { kind: EdgeLabelKind::Parent, ..EdgeLabelDraft::named("acts") };
    let sub = |name: &str, target: &str, sort_key: &str| EdgeLabelDraft {
        kind: EdgeLabelKind::Sub,
        parent: Some("acts".into()),
        frequency: Some(Frequency::Multiple),
        sort_keys: names(&[sort_key]),
        ..edge(name, "person", target, &["weight", "birth"])
    };
    let schema = after(people().create_edge_label(&parent, &NOW));
    let schema = after(schema.create_edge_label(&sub("writes", "software", "birth"), &NOW));
    let schema = after(schema.create_edge_label(&sub("meets", "person", "birth"), &NOW));
    let (person, software) = (LabelId(1), LabelId(2));
    let acts = schema.edge_label_named("acts").unwrap();
    assert!(
        acts.may_join(person, software) && acts.may_join(person, person) && !acts.may_join(software, person)
    );
    assert_eq!(schema.names_of(&acts.sort_keys).collect::<Vec<_>>(), ["birth"]);
    assert_eq!(schema.sub_labels(acts.id).map(|sub| &*sub.name).collect::<Vec<_>>(), ["writes", "meets"]);
    assert_eq!(schema.edge_label_named("meets").unwrap().key_label(), acts.id);
    assert!(
        refusal(schema.create_edge_label(&sub("likes", "person", "weight"), &NOW))
            .contains("need to be consistent")
    );
    assert_eq!(
        refusal(schema.remove_edge_label("acts")),
        "Not allowed to remove a parent edge label: 'acts' because the sub edge label 'writes' is still existing"
    );
    let change = schema.remove_edge_label("writes").unwrap();
    assert!(!change.schema.edge_label_named("acts").unwrap().may_join(person, software));
    assert_eq!((change.put.len(), change.removed.len()), (1, 1));
    assert_same(&reread(&change.schema), &change.schema);
    let again = EdgeLabelDraft { label: LabelDraft { check_exist: false, ..parent.label.clone() }, ..parent };
    assert!(schema.create_edge_label(&again, &NOW).unwrap().change.is_none());
}

#[test]
fn what_is_in_use_stays() {
    let schema = people();
    assert_eq!(
        refusal(schema.remove_property_key("age")),
        "Not allowed to remove property key: 'age' because the vertex label 'person' is still using it."
    );
    assert_eq!(
        refusal(schema.remove_property_key("weight")),
        "Not allowed to remove property key: 'weight' because the edge label 'knows' is still using it."
    );
    assert_eq!(
        refusal(schema.remove_vertex_label("software")),
        "Not allowed to remove vertex label 'software' because the edge label 'created' still link with it"
    );
    assert_eq!(refusal(schema.remove_edge_label("x")), "edge label with name 'x' does not exist");
    let change = schema.remove_edge_label("created").unwrap();
    let removed = change.removed[0].id();
    let change = change.schema.remove_vertex_label("software").unwrap();
    assert_eq!(change.schema.removed().count(), 2);
    assert_same(&reread(&change.schema), &change.schema);
    let finished = change.schema.finish_removal(removed).unwrap();
    assert_eq!((finished.schema.removed().count(), &finished.finished[..]), (1, &[removed][..]));
    assert!(finished.schema.finish_removal(removed).is_none());

    let restoring = Creation { mode: GraphMode::Restoring, ..NOW };
    let mut again = vertex("software", &["name"], &[]);
    again.label.id = Some(2);
    assert_eq!(
        refusal(change.schema.create_vertex_label(&again, &restoring)),
        "The vertex label id '2' is still being removed"
    );
}

#[test]
fn rows_that_do_not_go_together_are_refused() {
    let schema = people();
    let without = |number: u32, kind: SchemaKind| {
        let parts = schema.parts().filter(move |part| part.id() != PartId { kind, number });
        Schema::assemble(parts, [], schema.numbers())
    };
    assert!(without(99, SchemaKind::PropertyKey).is_ok());
    assert!(without(1, SchemaKind::PropertyKey).is_err(), "a label names it");
    assert!(without(1, SchemaKind::VertexLabel).is_err(), "an edge label names it");
    assert!(Schema::assemble(schema.parts(), [], Numbers::default()).is_err(), "a number that was not given");
    let mut twin = PropertyKey::clone(schema.property_key_named("age").unwrap());
    twin.id = PropertyKeyId(3);
    let parts = schema.parts().chain([SchemaPart::PropertyKey(twin.into())]);
    assert!(Schema::assemble(parts, [], schema.numbers()).is_err(), "two of a name");
}
