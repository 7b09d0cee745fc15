mod edits;
mod top;

use std::collections::BTreeMap;

use lang_cps_path::push_step;
use lang_yang::{Content, DataNode, Leaf, NodeKind, Schema};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{Action, Delta, DeltaFault, DeltaItem, DeltaOptions, DeltaProgress, Part};
use crate::shop::{SMALL, Shop, random_content, schema};
use crate::{Depth, Label, PageLimits};

const ALL: DeltaOptions = DeltaOptions { depth: Depth::All, is_grouped: false, entries_max: u64::MAX };
const GROUPED: DeltaOptions = DeltaOptions { is_grouped: true, ..ALL };

/// Entries at the top of a tree.
fn tops(shop: &Shop) -> Vec<Label> {
    let (tree, mut labels) = (shop.tree(), Vec::new());
    let mut cursor = tree.cursor(&Label::top());
    loop {
        match cursor.next_label() {
            Ok(Some(label)) => {
                if !label.is_top() {
                    cursor.skip_below();
                }
                labels.push(label);
            }
            Ok(None) => return labels,
            Err(fault) => shop.load(&fault),
        }
    }
}

/// The whole report, a few items and steps at a time.
fn report(
    source: &Shop,
    target: &Shop,
    options: DeltaOptions,
    (items_max, steps_max): (usize, u64),
) -> Vec<DeltaItem> {
    let schemas = (&source.schema, &target.schema);
    let mut delta = Delta::new(schemas, &tops(source), &tops(target), "/", options);
    let mut items = Vec::new();
    loop {
        match delta.run(&source.tree(), &target.tree(), items_max, steps_max) {
            Ok(batch) => {
                items.extend(batch.items);
                match batch.progress {
                    DeltaProgress::Done => return items,
                    DeltaProgress::More => {}
                    DeltaProgress::TooMany => panic!("any number is allowed"),
                }
            }
            Err(DeltaFault::Source(fault)) => source.load(&fault),
            Err(DeltaFault::Target(fault)) => target.load(&fault),
        }
    }
}

/// An item as text: its leaves by name.
fn spelt(schema: &Schema, item: &DeltaItem) -> String {
    let part = |part: &Part| spelt_content(schema, &part.content);
    let action = match item.action {
        Action::Create => "create",
        Action::Remove => "remove",
        Action::Replace => "replace",
    };
    let sides = [item.source.as_ref().map(part), item.target.as_ref().map(part)];
    format!("{action} {} {}", item.xpath, sides.map(|side| side.unwrap_or_else(|| "-".into())).join(" > "))
}

fn spelt_content(schema: &Schema, content: &Content) -> String {
    let leaf = |leaf: &Leaf| {
        let values: Vec<&str> = leaf.values.iter().map(|value| &*value.text).collect();
        format!("{}={}", schema.node(leaf.schema).name, values.join(","))
    };
    let child = |node: &DataNode| {
        format!("{}{}", schema.node(node.schema).name, spelt_content(schema, &node.content))
    };
    let parts: Vec<String> =
        content.leaves.iter().map(leaf).chain(content.children.iter().map(child)).collect();
    format!("{{{}}}", parts.join(" "))
}

/// A sample, and the same with one category gone, one new, one renamed, and two books changed.
fn pair() -> (Shop, Shop) {
    let source = Shop::sample();
    let mut content = source.content.clone();
    let schema = &source.schema;
    let set = |node: &mut DataNode, name: &str, value: Option<&str>| {
        let leaf = schema.child(Some(node.schema), None, name).expect("a leaf");
        node.content.leaves.retain(|one| one.schema != leaf);
        let value = value.map(|value| crate::shop::Draft(schema, node.schema).leaf(name, &[value]));
        node.content.leaves.extend(value);
        node.content.leaves.sort_by_key(|leaf| schema.node(leaf.schema).slot);
    };
    let shop = &mut content.children[0];
    let mut new = shop.content.children[1].clone();
    set(&mut new, "code", Some("c"));
    shop.content.children.remove(2);
    set(&mut shop.content.children[0], "name", Some("First"));
    set(&mut shop.content.children[0].content.children[0], "price", None);
    set(&mut shop.content.children[0].content.children[1], "lang", Some("en"));
    shop.content.children.insert(0, new);
    let target = Shop::new(crate::shop::schema(), content, SMALL);
    (source, target)
}

#[track_caller]
fn check(options: DeltaOptions, expected: &[&str]) {
    let (source, target) = pair();
    for slice in [(usize::MAX, u64::MAX), (1, u64::MAX), (usize::MAX, 1)] {
        let items = report(&source, &target, options, slice);
        let items: Vec<String> = items.iter().map(|item| spelt(&source.schema, item)).collect();
        assert_eq!(items, expected, "{slice:?}");
    }
}

const REPLACED: [&str; 3] = [
    "replace /shop/category[@code='a'] {category{code=a name=Alpha}} > {category{code=a name=First}}",
    "replace /shop/category[@code='a']/book[@title='One' and @year='1998'] {book{title=One year=1998 price=20}} > -",
    "replace /shop/category[@code='a']/book[@title='Two' and @year='1999'] - > {book{title=Two year=1999 lang=en}}",
];

#[test]
fn flat_reports_have_an_item_for_each_entry() {
    check(
        ALL,
        &[
            REPLACED[0],
            REPLACED[1],
            REPLACED[2],
            "remove /shop/category[@code='a/[@x=''1'']'] {category{code=a/[@x='1'] uid=10 name=Gamma}} > -",
            "remove /shop/category[@code='a/[@x=''1'']']/book[@title='Five' and @year='1998'] {book{title=Five year=1998 uid=11 price=20 sold=18446744073709551615}} > -",
            "create /shop/category[@code='c'] - > {category{code=c uid=7 name=Beta}}",
            "create /shop/category[@code='c']/book[@title='Three' and @year='1998'] - > {book{title=Three year=1998 uid=8 price=15}}",
            "create /shop/category[@code='c']/book[@title='Four' and @year='2001'] - > {book{title=Four year=2001 uid=9 weight=-1.0 lang=de}}",
        ],
    );
    let direct = DeltaOptions { depth: Depth::Levels(1), ..ALL };
    check(
        direct,
        &[
            REPLACED[0],
            "remove /shop/category[@code='a/[@x=''1'']'] {category{code=a/[@x='1'] uid=10 name=Gamma}} > -",
            "create /shop/category[@code='c'] - > {category{code=c uid=7 name=Beta}}",
        ],
    );
    check(DeltaOptions { depth: Depth::Levels(0), ..ALL }, &[]);
}

#[test]
fn grouped_reports_have_an_item_for_each_parent() {
    check(
        GROUPED,
        &[
            "remove /shop {category{code=a/[@x='1'] uid=10 name=Gamma book{title=Five year=1998 uid=11 price=20 sold=18446744073709551615}}} > -",
            REPLACED[0],
            REPLACED[1],
            REPLACED[2],
            "create /shop - > {category{code=c uid=7 name=Beta book{title=Three year=1998 uid=8 price=15} book{title=Four year=2001 uid=9 weight=-1.0 lang=de}}}",
        ],
    );
    check(
        DeltaOptions { depth: Depth::Levels(1), ..GROUPED },
        &[
            "remove /shop {category{code=a/[@x='1'] uid=10 name=Gamma}} > -",
            REPLACED[0],
            "create /shop - > {category{code=c uid=7 name=Beta}}",
        ],
    );
}

#[test]
fn what_only_one_tree_has_at_the_top_is_named_by_its_first_entry() {
    let source = Shop::sample();
    let empty = Shop::new(schema(), Content::default(), SMALL);
    let items = report(&source, &empty, DeltaOptions { depth: Depth::Levels(0), ..GROUPED }, (9, 99));
    let items: Vec<String> = items.iter().map(|item| spelt(&source.schema, item)).collect();
    assert_eq!(items, ["remove /shop {shop{uid=1 name=Shop} empty{uid=14}} > -"]);
    assert_eq!(report(&source, &Shop::sample(), ALL, (9, 99)), []);
    assert_eq!(report(&empty, &empty, GROUPED, (9, 99)), []);
}

#[test]
fn reports_are_bounded() {
    let (source, target) = pair();
    for is_grouped in [false, true] {
        let run = |entries_max| {
            let options = DeltaOptions { depth: Depth::All, is_grouped, entries_max };
            let schemas = (&source.schema, &target.schema);
            let mut delta = Delta::new(schemas, &tops(&source), &tops(&target), "", options);
            delta.run(&source.tree(), &target.tree(), usize::MAX, u64::MAX).map(|batch| batch.progress)
        };
        assert_eq!(run(8), Ok(DeltaProgress::Done));
        assert_eq!(run(7), Ok(DeltaProgress::TooMany));
    }
}

#[test]
fn a_group_of_many_entries_is_read_in_steps() {
    const MANY: usize = 3_000;
    let schema = schema();
    let node = |names: &str| crate::shop::node(&schema, names);
    let list = node("shop category");
    let entry = |number: usize| {
        let leaf = crate::shop::Draft(&schema, list).leaf("code", &[&number.to_string()]);
        DataNode { schema: list, content: Content { leaves: vec![leaf], children: Vec::new() } }
    };
    let below = Content { leaves: Vec::new(), children: (0..MANY).map(entry).collect() };
    let content =
        Content { leaves: Vec::new(), children: vec![DataNode { schema: node("shop"), content: below }] };
    let empty = Content::default();
    let mut target = Shop::new(crate::shop::schema(), content.clone(), PageLimits::STANDARD);
    let source = Shop::new(crate::shop::schema(), empty, PageLimits::STANDARD);
    target.forget_pages();
    let schemas = (&source.schema, &target.schema);
    let (tops, mut runs, mut items) = (tops(&target), 0, Vec::new());
    let mut delta = Delta::new(schemas, &[], &tops, "/", GROUPED);
    loop {
        runs += 1;
        match delta.run(&source.tree(), &target.tree(), usize::MAX, 100) {
            Ok(batch) => {
                items.extend(batch.items);
                if batch.progress == DeltaProgress::Done {
                    break;
                }
            }
            Err(DeltaFault::Target(fault)) => target.load(&fault),
            Err(fault) => panic!("{fault:?}"),
        }
    }
    assert!(runs > 10, "{runs} runs");
    let part = items.pop().and_then(|item| item.target).expect("one item was created");
    assert!(items.is_empty() && part.content == content);
    let options = DeltaOptions { entries_max: 500, ..GROUPED };
    let mut few = Delta::new(schemas, &[], &tops, "/", options);
    let batch = few.run(&source.tree(), &target.tree(), usize::MAX, u64::MAX).expect("no page is missing");
    assert_eq!((batch.progress, batch.items), (DeltaProgress::TooMany, Vec::new()));
}

#[test]
fn trees_of_different_schemas_are_compared_by_name() {
    let (source, target) = pair();
    // The same nodes have other numbers, and one is missing.
    let other = lang_yang::testing::SchemaBuilder::new("shop", "s")
        .module("extra", "x")
        .container("first", |first| first)
        .container("shop", |shop| {
            let string = || target.schema_type("shop name");
            shop.leaf("name", string()).list("category", &["code"], |category| {
                category.leaf("name", string()).leaf("code", string())
            })
        })
        .build();
    let shop = other.child(None, None, "shop").expect("it was built");
    let category = other.child(Some(shop), None, "category").expect("it was built");
    let draft = |node| crate::shop::Draft(&other, node);
    let entry = DataNode {
        schema: category,
        content: Content {
            leaves: vec![draft(category).leaf("code", &["b"]), draft(category).leaf("name", &["Beta"])],
            children: Vec::new(),
        },
    };
    let content = Content { leaves: vec![draft(shop).leaf("name", &["Shop"])], children: vec![entry] };
    let content = Content { leaves: Vec::new(), children: vec![DataNode { schema: shop, content }] };
    let other = Shop::new(other.clone(), content, SMALL);
    let items = report(&source, &other, DeltaOptions { depth: Depth::Levels(1), ..GROUPED }, (1, 1));
    let xpaths: Vec<(Action, &str)> = items.iter().map(|item| (item.action, item.xpath.as_str())).collect();
    assert_eq!(
        xpaths,
        [
            (Action::Remove, "/empty"),
            (Action::Replace, "/shop"),
            (Action::Remove, "/shop"),
            (Action::Replace, "/shop/category[@code='b']"),
        ]
    );
    let uid = items
        .last()
        .and_then(|item| item.source.as_ref())
        .map(|part| spelt_content(&source.schema, &part.content));
    assert_eq!(uid.as_deref(), Some("{category{code=b uid=7}}"));
    assert_eq!(items.last().map(|item| item.target.is_none()), Some(true));
}

/// Every entry by its path, in document order, with its leaves as text.
fn flat(schema: &Schema, content: &Content, levels: usize) -> Vec<(String, BTreeMap<String, String>)> {
    fn visit(
        schema: &Schema,
        content: &Content,
        (xpath, levels): (&str, usize),
        rows: &mut Vec<(String, BTreeMap<String, String>)>,
    ) {
        for child in &content.children {
            let leaves: BTreeMap<String, String> = child
                .content
                .leaves
                .iter()
                .map(|leaf| {
                    let values: Vec<&str> = leaf.values.iter().map(|value| &*value.text).collect();
                    (schema.node(leaf.schema).name.clone().into(), values.join("\u{1}"))
                })
                .collect();
            let names: Vec<&str> =
                schema.keys(child.schema).iter().map(|key| &*schema.node(*key).name).collect();
            let mut keys: Vec<(&str, &str)> =
                names.iter().map(|name| (*name, leaves[*name].as_str())).collect();
            let mut path = xpath.to_owned();
            push_step(&mut path, &schema.node(child.schema).name, &mut keys);
            // The other meta of the shop has the same path.
            if schema.module_name(child.schema) != "shop" {
                path.push_str(" of another module");
            }
            rows.push((path.clone(), leaves));
            if levels > 0 {
                visit(schema, &child.content, (&path, levels - 1), rows);
            }
        }
    }
    let mut rows = Vec::new();
    visit(schema, content, ("", levels), &mut rows);
    rows
}

/// Random content without entries that have no keys.
fn random_shop(random: &mut StdRng) -> Shop {
    fn strip(schema: &Schema, content: &mut Content) {
        content.children.retain(
            |node| !matches!(&schema.node(node.schema).kind, NodeKind::List { keys, .. } if keys.is_empty()),
        );
        content.children.iter_mut().for_each(|node| strip(schema, &mut node.content));
    }
    let schema = schema();
    let mut content = random_content(&schema, random);
    strip(&schema, &mut content);
    let limits = if random.random_bool(0.3) { PageLimits::STANDARD } else { SMALL };
    Shop::new(schema, content, limits)
}

/// A flat report by the definition: action and path of each item, and the leaves on both sides.
type Row = (Action, String, BTreeMap<String, String>, BTreeMap<String, String>);

fn expected(source: &Shop, target: &Shop, levels: usize) -> Vec<Row> {
    let (before, after) =
        (flat(&source.schema, &source.content, levels), flat(&target.schema, &target.content, levels));
    let find = |rows: &[(String, BTreeMap<String, String>)], path: &str| {
        rows.iter().find(|(other, _)| other == path).map(|(_, leaves)| leaves.clone())
    };
    let mut rows = Vec::new();
    for (path, leaves) in &before {
        let Some(other) = find(&after, path) else {
            rows.push((Action::Remove, path.clone(), leaves.clone(), BTreeMap::new()));
            continue;
        };
        let is_key = |name: &str| ["code", "title", "year"].contains(&name);
        let only = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
            let differs = one.iter().any(|(name, value)| other.get(name) != Some(value));
            let leaves = one.iter().filter(|(name, value)| other.get(*name) != Some(value) || is_key(name));
            leaves
                .filter(|_| differs)
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<BTreeMap<_, _>>()
        };
        let (gone, new) = (only(leaves, &other), only(&other, leaves));
        if !gone.is_empty() || !new.is_empty() {
            rows.push((Action::Replace, path.clone(), gone, new));
        }
    }
    let new = after.iter().filter(|(path, _)| find(&before, path).is_none());
    rows.extend(new.map(|(path, leaves)| (Action::Create, path.clone(), BTreeMap::new(), leaves.clone())));
    rows
}

#[test]
fn random_flat_reports_are_as_the_definition_says() {
    let mut rows = 0;
    for seed in store::testing::seeds(80) {
        let mut random = StdRng::seed_from_u64(seed);
        let (mut source, mut target) = (random_shop(&mut random), random_shop(&mut random));
        let levels = random.random_range(0..4);
        source.forget_pages();
        target.forget_pages();
        let depth = Depth::Levels(u32::try_from(levels).unwrap());
        let slice = (random.random_range(1..9), random.random_range(1..20));
        let items = report(&source, &target, DeltaOptions { depth, ..ALL }, slice);
        let leaves = |part: &Option<Part>| {
            part.as_ref().map_or_else(BTreeMap::new, |part| {
                let mut rows = flat(&source.schema, &part.content, 0);
                rows.pop().map_or_else(BTreeMap::new, |(_, leaves)| leaves)
            })
        };
        let found: Vec<Row> = items
            .iter()
            .map(|item| (item.action, item.xpath.clone(), leaves(&item.source), leaves(&item.target)))
            .collect();
        let plain = |rows: Vec<Row>| -> Vec<Row> {
            rows.into_iter()
                .map(|(action, path, source, target)| {
                    (action, path.replace(" of another module", ""), source, target)
                })
                .collect()
        };
        let expected = plain(expected(&source, &target, levels));
        assert_eq!(found, expected, "seed {seed}");
        rows += expected.len();
    }
    assert!(rows > 1_000, "{rows}");
}
