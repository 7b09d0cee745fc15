//! Shapes of one small tree, in both forms.

use lang_yang::testing::{SchemaBuilder, string};
use lang_yang::{Content, DataNode};

use super::*;
use crate::fields::parse_fields;

fn schema() -> Schema {
    SchemaBuilder::new("m", "m")
        .module("add", "a")
        .container("top", |top| {
            top.leaf_or("mode", string(), "auto")
                .leaf_list("tag", string())
                .list("item", &["id"], |item| {
                    item.leaf("id", string())
                        .leaf_or("size", string(), "1")
                        .container("deep", |deep| deep.leaf_or("x", string(), "0"))
                        .state(|item| item.leaf("seen", string()))
                })
                .of_module("add", |top| top.container("more", |more| more.leaf("y", string())))
                .container("empty", |empty| empty.leaf_or("z", string(), "z"))
        })
        .build()
}

fn at(schema: &Schema, path: &[&str]) -> NodeId {
    let step = |parent: Option<NodeId>, name: &&str| schema.child(parent, None, name);
    path.iter().fold(None, |parent, name| Some(step(parent, name).unwrap())).unwrap()
}

fn leaf(schema: &Schema, path: &[&str], values: &[&str]) -> Leaf {
    let value = |text: &&str| Value { kind: ValueKind::Text, text: (*text).into() };
    Leaf { schema: at(schema, path), values: values.iter().map(value).collect() }
}

fn node(schema: &Schema, path: &[&str], leaves: Vec<Leaf>, children: Vec<DataNode>) -> DataNode {
    DataNode { schema: at(schema, path), content: Content { leaves, children } }
}

fn tree(schema: &Schema) -> DataNode {
    let item = |id: &str, mut leaves: Vec<Leaf>, children| {
        leaves.insert(0, leaf(schema, &["top", "item", "id"], &[id]));
        node(schema, &["top", "item"], leaves, children)
    };
    let deep = node(
        schema,
        &["top", "item", "deep"],
        vec![leaf(schema, &["top", "item", "deep", "x"], &["5"])],
        Vec::new(),
    );
    let first = item(
        "a",
        vec![
            leaf(schema, &["top", "item", "size"], &["1"]),
            leaf(schema, &["top", "item", "seen"], &["now"]),
        ],
        vec![deep],
    );
    let more =
        node(schema, &["top", "more"], vec![leaf(schema, &["top", "more", "y"], &["<&>"])], Vec::new());
    let tags = vec![leaf(schema, &["top", "tag"], &["t", "u"])];
    node(schema, &["top"], tags, vec![first, item("b", Vec::new(), Vec::new()), more])
}

fn put(shaper: &mut Shaper, schema: &Schema, above: usize, node: &DataNode) {
    if shaper.entry(schema, above, node.schema, &node.content.leaves) {
        for child in &node.content.children {
            put(shaper, schema, above + 1, child);
        }
    }
}

struct Asked {
    content: DataKind,
    depth: Option<u16>,
    fields: Option<&'static str>,
    defaults: Defaults,
}

const ALL: Asked = Asked { content: DataKind::All, depth: None, fields: None, defaults: Defaults::Explicit };

fn shown(form: Form, asked: &Asked) -> String {
    let schema = schema();
    let top = at(&schema, &["top"]);
    let selection = asked.fields.map_or(Selection::All, |fields| {
        Selection::of(&schema, Some(top), &parse_fields(fields).unwrap()).unwrap()
    });
    let wanted = Wanted::new(&schema, (asked.content, asked.defaults), asked.depth, selection);
    let mut shaper = Shaper::new(form, &schema, Some(top), wanted);
    put(&mut shaper, &schema, 1, &tree(&schema));
    shaper.end(&schema);
    String::from_utf8(shaper.writer.out).unwrap()
}

fn check(asked: &Asked, expected: &str) {
    assert_eq!(shown(Form::Json, asked), expected);
}

#[test]
fn everything_is_shown_in_both_forms() {
    check(
        &ALL,
        r#"{"m:top":{"tag":["t","u"],"item":[{"id":"a","size":"1","seen":"now","deep":{"x":"5"}},{"id":"b"}],"add:more":{"y":"<&>"}}}"#,
    );
    assert_eq!(
        shown(Form::Xml, &ALL),
        r#"<top xmlns="urn:m"><tag>t</tag><tag>u</tag><item><id>a</id><size>1</size><seen>now</seen><deep><x>5</x></deep></item><item><id>b</id></item><more xmlns="urn:add"><y>&lt;&amp;&gt;</y></more></top>"#
    );
}

#[test]
fn levels_are_counted_from_the_resource_on() {
    let depth = |depth| Asked { depth: Some(depth), ..ALL };
    check(&depth(1), r#"{"m:top":{}}"#);
    check(&depth(2), r#"{"m:top":{"tag":["t","u"],"item":[{"id":"a"},{"id":"b"}],"add:more":{}}}"#);
    check(
        &depth(3),
        r#"{"m:top":{"tag":["t","u"],"item":[{"id":"a","size":"1","seen":"now","deep":{}},{"id":"b"}],"add:more":{"y":"<&>"}}}"#,
    );
    assert_eq!(shown(Form::Xml, &depth(1)), r#"<top xmlns="urn:m"/>"#);
}

#[test]
fn fields_show_what_they_name_and_what_leads_to_it() {
    let fields = |fields| Asked { fields: Some(fields), ..ALL };
    check(&fields("mode"), r#"{"m:top":{}}"#);
    check(&fields("tag;add:more"), r#"{"m:top":{"tag":["t","u"],"add:more":{"y":"<&>"}}}"#);
    check(&fields("item/deep"), r#"{"m:top":{"item":[{"id":"a","deep":{"x":"5"}}]}}"#);
    check(&fields("item(id;size)"), r#"{"m:top":{"item":[{"id":"a","size":"1"},{"id":"b"}]}}"#);
    check(&fields("item/id"), r#"{"m:top":{"item":[{"id":"a"},{"id":"b"}]}}"#);
    check(
        &fields("item(size);item/deep/x"),
        r#"{"m:top":{"item":[{"id":"a","size":"1","deep":{"x":"5"}}]}}"#,
    );
    check(&Asked { depth: Some(1), ..fields("item/deep") }, r#"{"m:top":{"item":[{"id":"a","deep":{}}]}}"#);
}

#[test]
fn configuration_and_state_are_told_apart() {
    let content = |content| Asked { content, ..ALL };
    check(&content(DataKind::State), r#"{"m:top":{"item":[{"id":"a","seen":"now"}]}}"#);
    check(
        &content(DataKind::Config),
        r#"{"m:top":{"tag":["t","u"],"item":[{"id":"a","size":"1","deep":{"x":"5"}},{"id":"b"}],"add:more":{"y":"<&>"}}}"#,
    );
}

#[test]
fn defaults_are_shown_as_asked() {
    let defaults = |defaults| Asked { defaults, content: DataKind::Config, ..ALL };
    check(
        &defaults(Defaults::Trim),
        r#"{"m:top":{"tag":["t","u"],"item":[{"id":"a","deep":{"x":"5"}},{"id":"b"}],"add:more":{"y":"<&>"}}}"#,
    );
    check(
        &defaults(Defaults::ReportAll),
        r#"{"m:top":{"mode":"auto","tag":["t","u"],"item":[{"id":"a","size":"1","deep":{"x":"5"}},{"id":"b","size":"1","deep":{"x":"0"}}],"add:more":{"y":"<&>"},"empty":{"z":"z"}}}"#,
    );
    let tagged = Asked { fields: Some("mode;item/size"), ..defaults(Defaults::ReportAllTagged) };
    check(
        &tagged,
        r#"{"m:top":{"mode":"auto","@mode":{"ietf-netconf-with-defaults:default":true},"item":[{"id":"a","size":"1"},{"id":"b","size":"1","@size":{"ietf-netconf-with-defaults:default":true}}]}}"#,
    );
    let mode = Asked { fields: Some("mode"), ..defaults(Defaults::ReportAllTagged) };
    assert_eq!(
        shown(Form::Xml, &mode),
        r#"<top xmlns="urn:m"><mode xmlns:wd="urn:ietf:params:xml:ns:netconf:default:1.0" wd:default="true">auto</mode></top>"#
    );
}
