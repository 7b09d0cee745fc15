//! Random data under random schemas: what is written is read back as it was, in every form and style.

mod oracle;

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};

use crate::check::{Kinds, Prefixes, Scalar, ValueRules};
use crate::schema::{InCase, NodeId, NodeKind, Schema};
use crate::style::Style;
use crate::testing::{
    Members, SchemaBuilder, boolean, decimal, empty, enumeration, identity, instance_identifier, integer,
    string, union,
};
use crate::tree::{Content, DataNode, Leaf, Value, ValueKind};
use crate::types::{IntegerWidth, Type, TypeKind};
use crate::{
    ReadOptions, json_nodes_bound, read_json, read_xml, write_content_json, write_content_xml,
    xml_nodes_bound,
};

const MODULES: [&str; 3] = ["first", "second", "third"];
const IDENTITIES: &[(&str, &[&str])] = &[
    ("first:base", &[]),
    ("first:one", &["first:base"]),
    ("second:two", &["first:base"]),
    ("third:one", &["first:base", "first:one"]),
];

fn schema(random: &mut StdRng) -> Schema {
    let mut builder = SchemaBuilder::new(MODULES[0], "f").module(MODULES[1], "s").module(MODULES[2], "t");
    for module in MODULES {
        builder = builder.top(|top| top.of_module(module, |top| add(top, random, 0)));
    }
    builder.leaf("target", string()).build_with(IDENTITIES)
}

/// Adds some nodes of every kind.
fn add(mut members: Members, random: &mut StdRng, depth: usize) -> Members {
    // One name is that of several modules, others are their own.
    let count = random.random_range(0..6 - depth);
    for number in 0..count {
        let name = format!("n{number}");
        members = match random.random_range(0..12) {
            0..=2 if depth < 4 => members.container(&name, |inner| add(inner, random, depth + 1)),
            3 | 4 if depth < 4 => {
                let keys: &[&str] = if random.random() { &["k"] } else { &["k", "l"] };
                let types = [any_type(random, true), any_type(random, true)];
                members.list(&name, keys, |entry| {
                    let [k, l] = types;
                    let entry = add(entry, random, depth + 1).leaf("l", l);
                    entry.leaf("k", k)
                })
            }
            5 => members.leaf_list(&name, any_type(random, true)),
            6 => members.anydata(&name),
            7 if depth < 4 => members.choice_of(2, |case, inner| {
                let type_ = any_type(random, false);
                let inner = inner.leaf(&format!("{name}c{case}"), type_);
                if case == 0 {
                    inner
                } else {
                    inner.container(&format!("{name}d"), |deep| add(deep, random, depth + 2))
                }
            }),
            8 => members.state(|state| state.leaf_list(&name, string())),
            _ => members.leaf(&name, any_type(random, false)),
        };
    }
    if depth > 0 && depth < 3 && random.random_bool(0.3) {
        let module = MODULES.choose(random).expect("some");
        // What another module adds may have the names of what is there; of one module, a name is there once.
        members = members.of_module(module, |inner| inner.leaf("n0x", any_type(random, false)));
        let other = MODULES.iter().find(|other| *other != module).expect("some");
        members = members.of_module(other, |inner| inner.leaf("n0x", string()));
    }
    members
}

fn any_type(random: &mut StdRng, is_key: bool) -> Type {
    let widths = IntegerWidth::ALL;
    match random.random_range(0..if is_key { 10 } else { 11 }) {
        0..=2 => string(),
        3 | 4 => integer(*widths.choose(random).expect("some")),
        5 => decimal(random.random_range(1..=18)),
        6 => boolean(),
        7 => enumeration(&["a", "b c", "ü"]),
        8 => identity(&[0]),
        9 => union(&[integer(IntegerWidth::Int16), boolean(), string()]),
        _ => match random.random_range(0..3) {
            0 => Type::new(TypeKind::Binary { lengths: Box::default() }),
            1 => instance_identifier(),
            _ => empty(),
        },
    }
}

fn any_text(random: &mut StdRng) -> String {
    const PARTS: [&str; 18] = [
        "a",
        "Z9",
        " ",
        "\"",
        "\\",
        "'",
        "<",
        ">",
        "&",
        "é",
        "\u{10ffff}",
        "\n",
        "\t",
        "\r",
        "]]>",
        "/",
        "&amp;",
        "\u{fffd}",
    ];
    (0..random.random_range(0..6)).map(|_| *PARTS.choose(random).expect("some")).collect()
}

/// A value of a type, as its own check makes it canonical.
fn any_value(schema: &Schema, id: NodeId, random: &mut StdRng) -> Value {
    let node = schema.node(id);
    let type_ = node.type_().expect("a leaf");
    let rules =
        ValueRules { schema, module: node.module, prefixes: Prefixes::Modules, kinds: Kinds::Lenient };
    let mut tries = (0..1000).map(|_| any_text_of(schema, type_, random));
    let value = tries.find_map(|text| type_.check(Scalar::Text(&text), &rules).ok());
    value.unwrap_or_else(|| panic!("no value of {}", schema.path(id)))
}

/// A text that a type is likely to take.
fn any_text_of(schema: &Schema, type_: &Type, random: &mut StdRng) -> String {
    match type_.resolved().kind() {
        TypeKind::Integer { width, ranges } => {
            let all = [width.bounds()];
            let range = if ranges.is_empty() { &all[0] } else { ranges.choose(random).expect("some") };
            random.random_range(*range.start()..=*range.end()).to_string()
        }
        TypeKind::Decimal { fraction_digits, ranges } => {
            let scaled: i64 = match ranges.choose(random) {
                Some(range) => random.random_range(*range.start()..=*range.end()),
                None => random.random(),
            };
            let digits = usize::from(*fraction_digits);
            let all = format!("{:0>width$}", scaled.unsigned_abs(), width = digits + 1);
            let (whole, fraction) = all.split_at(all.len() - digits);
            format!("{}{whole}.{fraction}", if scaled < 0 { "-" } else { "" })
        }
        TypeKind::Boolean => random.random::<bool>().to_string(),
        TypeKind::Enumeration(names) => names.choose(random).expect("some").0.to_string(),
        TypeKind::Bits(names) => {
            let set: Vec<&str> = names.iter().filter(|_| random.random()).map(|(name, _)| &**name).collect();
            set.join(" ")
        }
        TypeKind::Identity(_) => schema.identities.choose(random).expect("some").0.to_string(),
        TypeKind::Empty => String::new(),
        TypeKind::Binary { .. } => "AAEC".repeat(random.random_range(0..4)),
        TypeKind::Union(members) => any_text_of(schema, members.choose(random).expect("some"), random),
        TypeKind::InstanceIdentifier { .. } => {
            let plain = |id: &NodeId| {
                matches!(schema.node(*id).kind, NodeKind::Leaf { .. } | NodeKind::Container { .. })
            };
            let path = |id: NodeId| std::iter::successors(Some(id), |id| schema.node(*id).parent);
            let ids: Vec<NodeId> = (0..).map(NodeId).take(schema.nodes.len()).collect();
            let fits: Vec<NodeId> = ids.into_iter().filter(|id| path(*id).all(|id| plain(&id))).collect();
            schema.path(*fits.choose(random).expect("the target"))
        }
        TypeKind::String { .. } | TypeKind::Leafref(_) => any_text(random),
    }
}

/// One case of each choice around some nodes.
fn any_cases(schema: &Schema, children: &[NodeId], random: &mut StdRng) -> Vec<InCase> {
    let mut cases: Vec<InCase> =
        children.iter().flat_map(|id| schema.node(*id).choices.iter().copied()).collect();
    cases.shuffle(random);
    let mut chosen: Vec<InCase> = Vec::new();
    for case in cases {
        if !chosen.iter().any(|other| other.choice == case.choice) {
            chosen.push(case);
        }
    }
    chosen
}

fn any_content(schema: &Schema, parent: Option<NodeId>, random: &mut StdRng) -> Content {
    let mut content = Content::default();
    let cases = any_cases(schema, schema.children(parent), random);
    let keys = parent.map_or(&[][..], |parent| schema.keys(parent));
    for id in schema.children(parent) {
        let node = schema.node(*id);
        let is_chosen = node.choices.iter().all(|case| cases.contains(case));
        if !keys.contains(id) && (!is_chosen || random.random_bool(0.3)) {
            continue;
        }
        match &node.kind {
            NodeKind::Container { .. } => {
                content
                    .children
                    .push(DataNode { schema: *id, content: any_content(schema, Some(*id), random) });
            }
            NodeKind::List { keys, .. } => {
                for entry in any_entries(schema, *id, keys, random) {
                    content.children.push(DataNode { schema: *id, content: entry });
                }
            }
            NodeKind::Leaf { .. } => {
                content.leaves.push(Leaf { schema: *id, values: vec![any_value(schema, *id, random)] });
            }
            NodeKind::LeafList { .. } => {
                let mut values: Vec<Value> = Vec::new();
                for _ in 0..random.random_range(1..12) {
                    let value = any_value(schema, *id, random);
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                content.leaves.push(Leaf { schema: *id, values });
            }
            NodeKind::Any(_) => {
                let text = any_json(random, 0);
                content.leaves.push(Leaf {
                    schema: *id,
                    values: vec![Value { kind: ValueKind::Json, text: text.into() }],
                });
            }
        }
    }
    content
}

fn any_entries(schema: &Schema, list: NodeId, keys: &[NodeId], random: &mut StdRng) -> Vec<Content> {
    let mut entries: Vec<Content> = Vec::new();
    let count_max = if random.random_bool(0.1) { 14 } else { 4 };
    for _ in 0..random.random_range(1..count_max) {
        let entry = any_content(schema, Some(list), random);
        let texts = |entry: &Content| -> Vec<String> {
            entry
                .leaves
                .iter()
                .filter(|leaf| keys.contains(&leaf.schema))
                .map(|leaf| leaf.values[0].text.to_string())
                .collect()
        };
        if !entries.iter().any(|other| texts(other) == texts(&entry)) {
            entries.push(entry);
        }
    }
    entries
}

/// An object that XML can hold, too: members are text, objects, and arrays of several of both.
fn any_json(random: &mut StdRng, depth: usize) -> String {
    let value = |random: &mut StdRng| match random.random_range(0..3) {
        0 if depth < 3 => {
            let object = any_json(random, depth + 1);
            if object == "{}" { "\"\"".to_owned() } else { object }
        }
        _ => lang_json::string_to(&any_text(random)),
    };
    let member = |number| {
        let values: Vec<String> = (0..random.random_range(1..3)).map(|_| value(random)).collect();
        let text = values.join(",");
        if values.len() == 1 { format!("\"m{number}\":{text}") } else { format!("\"m{number}\":[{text}]") }
    };
    let members: Vec<String> = (0..random_count(depth)).map(member).collect();
    format!("{{{}}}", members.join(","))
}

fn random_count(depth: usize) -> usize {
    3 - depth.min(3)
}

const STATE: ReadOptions = ReadOptions { takes_state: true, ..ReadOptions::RFC7951 };
const MANY: ReadOptions = ReadOptions { names: crate::NameRules::Lenient, ..STATE };

/// One line for each form: how it is written, and how it is read.
fn check(schema: &Schema, content: &Content) {
    for (style, options) in [(Style::RFC7951, STATE), (Style::CPS, ReadOptions::CPS)] {
        let mut json = Vec::new();
        write_content_json(schema, content, style, &mut json);
        let text = String::from_utf8(json).unwrap();
        let options = ReadOptions { nodes_max: json_nodes_bound(text.as_bytes()), ..options };
        serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let read = read_json(schema, None, text.as_bytes(), &options)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(&read, content, "{text}");

        let mut xml = Vec::new();
        write_content_xml(schema, content, style, &mut xml);
        let text = String::from_utf8(xml).unwrap();
        if text.is_empty() {
            continue;
        }
        let options = if style == Style::CPS { ReadOptions::CPS } else { MANY };
        let options = ReadOptions { nodes_max: xml_nodes_bound(text.as_bytes()), ..options };
        let read = read_xml(schema, None, text.as_bytes(), &options)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(&read, content, "{text}");
    }
}

/// The same members of all objects in another order, with white space between.
fn shuffled(value: &serde_json::Value, random: &mut StdRng) -> String {
    match value {
        serde_json::Value::Object(members) => {
            let mut members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{} :\t{}", lang_json::string_to(name), shuffled(value, random)))
                .collect();
            members.shuffle(random);
            format!("{{\n {} }}", members.join("\n, "))
        }
        serde_json::Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| shuffled(item, random)).collect();
            format!("[ {} ]", items.join(" , "))
        }
        other => other.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((300 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn data_is_read_as_it_was_written(seed: u64) {
        let random = &mut StdRng::seed_from_u64(seed);
        let schema = schema(random);
        let content = any_content(&schema, None, random);
        check(&schema, &content);
    }

    #[test]
    fn the_order_of_members_does_not_count(seed: u64) {
        let random = &mut StdRng::seed_from_u64(seed);
        let schema = schema(random);
        let mut content = any_content(&schema, None, random);
        strip_any(&mut content);
        let mut json = Vec::new();
        write_content_json(&schema, &content, Style::RFC7951, &mut json);
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let text = shuffled(&value, random);
        let read = read_json(&schema, None, text.as_bytes(), &STATE).unwrap_or_else(|error| panic!("{text}: {error}"));
        prop_assert_eq!(read, content);
    }

    /// Whatever a byte is changed to, reading ends with data that can be written and read, or with an error whose place is in the text.
    #[test]
    fn changed_texts_are_read_or_refused(seed: u64) {
        let random = &mut StdRng::seed_from_u64(seed);
        let schema = schema(random);
        let content = any_content(&schema, None, random);
        let (mut json, mut xml) = (Vec::new(), Vec::new());
        write_content_json(&schema, &content, Style::RFC7951, &mut json);
        write_content_xml(&schema, &content, Style::RFC7951, &mut xml);
        for _ in 0..20 {
            for (text, is_json) in [(&json, true), (&xml, false)] {
                let mut text = text.clone();
                mutate(&mut text, random);
                let read = if is_json { read_json } else { read_xml };
                match read(&schema, None, &text, &MANY) {
                    Ok(content) => check_again(&schema, &content),
                    Err(error) => {
                        prop_assert!(error.place.byte <= text.len());
                        prop_assert!(!error.to_string().is_empty());
                    }
                }
            }
        }
    }
}

fn strip_any(content: &mut Content) {
    content.leaves.retain(|leaf| leaf.values[0].kind != ValueKind::Json);
    content.children.iter_mut().for_each(|child| strip_any(&mut child.content));
}

fn mutate(text: &mut Vec<u8>, random: &mut StdRng) {
    if text.is_empty() {
        return;
    }
    for _ in 0..random.random_range(1..3) {
        let at = random.random_range(0..text.len());
        match random.random_range(0..4) {
            0 => text[at] = *b"\"{}[],:<>/&;'1a \\\xff".choose(random).expect("some"),
            1 => drop(text.remove(at)),
            2 => text.insert(at, *b"\"{}[],:<>/&;'1a \\".choose(random).expect("some")),
            _ => {
                let from = random.random_range(0..=at);
                let part = text[from..at].to_vec();
                text.splice(at..at, part);
            }
        }
        if text.is_empty() {
            return;
        }
    }
}

/// What was read is data like any other.
fn check_again(schema: &Schema, content: &Content) {
    let mut json = Vec::new();
    write_content_json(schema, content, Style::RFC7951, &mut json);
    let read = read_json(schema, None, &json, &STATE);
    let read = read.unwrap_or_else(|error| panic!("{}: {error}", String::from_utf8_lossy(&json)));
    assert_eq!(&read, content);
}
