use super::*;
use crate::schema::{
    Creation, IndexKind, IndexLabelDraft, LabelDraft, PropertyKeyDraft, SchemaKind, SchemaStatus,
    VertexLabelDraft,
};
use crate::{DataType, GraphMode, Scalar};

const NOW: Creation<'_> = Creation { graph: "hugegraph", mode: GraphMode::None, created: "\"now\"" };

/// Persons by city and age (SECONDARY), by age (RANGE), by name (SEARCH); software without an index.
fn schema(status: SchemaStatus) -> Schema {
    let mut schema = Schema::default();
    for (name, data_type) in [("name", DataType::Text), ("age", DataType::Int), ("city", DataType::Text)] {
        let draft = PropertyKeyDraft { data_type, ..PropertyKeyDraft::named(name) };
        schema = schema.create_property_key(&draft, &NOW).unwrap().change.unwrap().schema;
    }
    for (name, properties) in [("person", &["name", "age", "city"][..]), ("software", &["name"])] {
        let properties = properties.iter().map(|name| (*name).into()).collect();
        let label = LabelDraft { properties, ..LabelDraft::named(name) };
        let draft = VertexLabelDraft { label, ..VertexLabelDraft::named(name) };
        schema = schema.create_vertex_label(&draft, &NOW).unwrap().change.unwrap().schema;
    }
    let indexes = [
        ("byCityAndAge", IndexKind::Secondary, &["city", "age"][..]),
        ("byAge", IndexKind::Range, &["age"]),
        ("byName", IndexKind::Search, &["name"]),
    ];
    for (name, kind, fields) in indexes {
        let draft = IndexLabelDraft {
            base: Some((SchemaKind::VertexLabel, "person".into())),
            index_kind: Some(kind),
            fields: fields.iter().map(|name| (*name).into()).collect(),
            ..IndexLabelDraft::named(name)
        };
        schema = schema.create_index_label(&draft, &NOW).unwrap().change.unwrap().schema;
    }
    let all: Vec<_> = schema.index_labels().map(|index| index.id).collect();
    schema.set_index_status(&all, status).map_or(schema, |change| change.schema)
}

fn condition(schema: &Schema, name: &str, test: Test) -> Condition {
    Condition { key: schema.property_key_named(name).unwrap().id, test }
}

fn check(label: Option<&str>, tests: &[(&str, Test)], expected: &str) {
    let schema = schema(SchemaStatus::Created);
    let label = label.map(|name| schema.vertex_label_named(name).unwrap().id);
    let conditions = tests.iter().map(|(name, test)| condition(&schema, name, test.clone())).collect();
    let planned = match plan_vertices(&schema, &Query { label, conditions }) {
        Err(refusal) => refusal.to_string(),
        Ok(stages) => {
            let of_path = |path: &AccessPath| match &path.walked {
                Walked::Index { index, .. } => format!("{}*{}", index.name, path.ranges.len()),
                other => format!("{other:?}*{}", path.ranges.len()),
            };
            let of_stage = |stage: &Stage| stage.paths.iter().map(of_path).collect::<Vec<_>>().join("|");
            stages.iter().map(of_stage).collect::<Vec<_>>().join(" ")
        }
    };
    assert_eq!(planned, expected, "{label:?} {tests:?}");
}

fn text(text: &str) -> Scalar {
    Scalar::Text(text.into())
}

#[test]
fn conditions_are_served_by_indexes() {
    let city = ("city", Test::Equal(text("Beijing")));
    let age = ("age", Test::Equal(Scalar::Int(29)));
    let older = ("age", Test::Range(std::ops::Bound::Included(Scalar::Int(29)), std::ops::Bound::Unbounded));
    let person = Some("person");
    check(person, &[], "Label*1");
    check(None, &[], "Vertices*1");
    check(person, std::slice::from_ref(&city), "byCityAndAge*1");
    check(person, &[city.clone(), age.clone()], "byCityAndAge*1|byAge*1");
    check(person, &[older.clone(), city.clone()], "byCityAndAge*1|byAge*1");
    check(person, std::slice::from_ref(&older), "byAge*1");
    check(person, &[("age", Test::Outside(Scalar::Int(1), Scalar::Int(5)))], "byAge*2");
    check(person, &[("age", Test::Within(vec![Scalar::Int(1), Scalar::Int(5), Scalar::Int(1)]))], "byAge*2");
    check(person, &[("name", Test::TextContains("ab cd".into()))], "byName*3");
    check(None, &[("age", age.1)], "byAge*1");
    // Software has names, too, and no index of them.
    check(None, &[("name", Test::TextContains("(ab)".into()))], "byName*1 Label*1");
}

#[test]
fn what_no_index_serves_is_refused() {
    let refusal = |names: &str, of: &str, what: &str| {
        format!(
            "Don't accept query based on properties [{names}] that are not indexed in {of}, may not match {what} condition"
        )
    };
    let name = ("name", Test::Equal(text("marko")));
    check(Some("person"), std::slice::from_ref(&name), &refusal("name", "label 'person'", "secondary"));
    check(None, std::slice::from_ref(&name), &refusal("name", "any label", "secondary"));
    let other = ("age", Test::NotEqual(Scalar::Int(2)));
    check(Some("person"), std::slice::from_ref(&other), &refusal("age", "label 'person'", "not-equal"));
    check(Some("person"), &[other, name], &refusal("age, name", "label 'person'", "secondary/not-equal"));
}

#[test]
fn an_index_that_is_being_built_serves_nobody() {
    let schema = schema(SchemaStatus::Rebuilding);
    let conditions = vec![condition(&schema, "age", Test::Equal(Scalar::Int(2)))];
    let label = Some(schema.vertex_label_named("person").unwrap().id);
    let refusal = plan_vertices(&schema, &Query { label, conditions }).unwrap_err();
    let expected = "Can't query by label index 'byAge' due to it's in status REBUILDING(CREATED expected)";
    assert_eq!(refusal.to_string(), expected);
}
