//! Leaves of the top in reports.

use lang_cps_path::parse;
use lang_yang::testing::{SchemaBuilder, string};
use lang_yang::{Content, DataNode, Leaf, NodeId, Schema, Value, ValueKind};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{ALL, GROUPED, report, spelt};
use crate::delta::{Change, DeltaItem, Subject, edits};
use crate::shop::{SMALL, Shop};
use crate::{Attempt, Depth, Label, Pages, Tree, apply};

fn schema() -> Schema {
    SchemaBuilder::new("site", "s")
        .top(|top| top.leaf("title", string()).leaf_list("tag", string()))
        .container("shop", |shop| shop.leaf("name", string()))
        .top(|top| top.leaf("size", string()))
        .build()
}

fn leaf(schema: &Schema, parent: Option<NodeId>, name: &str, texts: &[&str]) -> Leaf {
    let value = |text: &&str| Value { kind: ValueKind::Text, text: Box::from(*text) };
    let id = schema.child(parent, None, name).expect("a leaf of the schema");
    Leaf { schema: id, values: texts.iter().map(value).collect() }
}

/// Leaves of the top, by name, and the name of the shop if there is one.
fn site(leaves: &[(&str, &[&str])], shop: Option<&str>) -> Shop {
    let schema = schema();
    let leaves = leaves.iter().map(|(name, texts)| leaf(&schema, None, name, texts)).collect();
    let node = schema.child(None, None, "shop").expect("a container of the schema");
    let shop = shop.map(|name| DataNode {
        schema: node,
        content: Content { leaves: vec![leaf(&schema, Some(node), "name", &[name])], children: Vec::new() },
    });
    Shop::new(schema, Content { leaves, children: shop.into_iter().collect() }, SMALL)
}

#[track_caller]
fn check(source: &Shop, target: &Shop, expected: &[&str]) {
    for options in [ALL, GROUPED] {
        let items = report(source, target, options, (1, 1));
        let items: Vec<String> = items.iter().map(|item| spelt(&source.schema, item)).collect();
        assert_eq!(items, expected, "{options:?}");
    }
}

#[test]
fn leaves_of_the_top_are_an_item_of_their_own() {
    let one = site(&[("title", &["a"]), ("tag", &["x", "y"])], Some("n"));
    let other = site(&[("title", &["b"]), ("tag", &["x", "y"]), ("size", &["1"])], Some("n"));
    let none = site(&[], Some("n"));
    check(&one, &one, &[]);
    check(&one, &other, &["replace / {title=a} > {title=b size=1}"]);
    check(&other, &one, &["replace / {title=b size=1} > {title=a}"]);
    check(&one, &none, &["remove / {title=a tag=x,y} > -"]);
    check(&none, &one, &["create / - > {title=a tag=x,y}"]);
    check(&none, &none, &[]);
}

/// What a report that is sent back makes of its source.
fn applied(source: &Shop, items: Vec<DeltaItem>) -> Content {
    let change = |item: DeltaItem| {
        let part = item.source.as_ref().or(item.target.as_ref()).expect("an item has data");
        let nodes = part.content.children.iter().map(|node| node.schema);
        let nodes = part.content.leaves.iter().map(|leaf| leaf.schema).chain(nodes);
        let names: Vec<&str> = nodes.map(|node| &*source.schema.node(node).name).collect();
        let path = parse(&item.xpath).expect("xpaths are paths");
        let subject = Subject::new(&source.schema, &path, item.action, &names).expect("a place of its data");
        let content = |part: Option<crate::delta::Part>| part.map(|part| part.content);
        Change { action: item.action, subject, source: content(item.source), target: content(item.target) }
    };
    let changes = items.into_iter().map(change).collect();
    let edits = edits(&source.schema, changes).expect("the items of a report have what they need");
    let attempt = Attempt { version: 2, nonce: 2 };
    let applied = apply(&source.tree(), &edits, attempt).expect("a small tree lies in its root");
    let pages = Pages::new(std::sync::Arc::clone(source.tree().pages.cache()));
    let content = Tree::new(&source.schema, &applied.root, &pages).content(&Label::top(), Depth::All);
    content.expect("a small tree lies in its root").expect("the top is always there")
}

#[test]
fn a_random_report_that_is_applied_gives_the_leaves_of_the_target() {
    const TEXTS: [&str; 3] = ["a", "", "it's <&\""];
    for seed in store::testing::seeds(200) {
        let mut random = StdRng::seed_from_u64(seed);
        let mut any = || {
            let tags: Vec<&str> = TEXTS.iter().copied().filter(|_| random.random_bool(0.5)).collect();
            let mut one = |chance: f64| {
                let text = TEXTS[random.random_range(0..TEXTS.len())];
                random.random_bool(chance).then_some(text)
            };
            let (title, size, shop) = (one(0.6), one(0.4), one(0.5));
            let title = title.map(|text| vec![text]);
            let size = size.map(|text| vec![text]);
            let tags = (!tags.is_empty()).then_some(tags);
            let leaves: Vec<(&str, &[&str])> = [("title", &title), ("tag", &tags), ("size", &size)]
                .into_iter()
                .filter_map(|(name, texts)| Some((name, texts.as_deref()?)))
                .collect();
            site(&leaves, shop)
        };
        let (source, target) = (any(), any());
        for options in [ALL, GROUPED] {
            let items = report(&source, &target, options, (1, 1));
            assert_eq!(applied(&source, items), target.content, "seed {seed} {options:?}");
        }
    }
}
