//! Random paths on random trees, against the definition.

use lang_cps_path::{
    Comparison, Contains, CpsPath, LeafCondition, Literal, Name, Origin, Predicate, Step, TextCondition,
};
use lang_yang::{Content, DataNode, NodeId, NodeKind, Schema};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::oracle;
use super::shop::{Draft, Shop, schema};
use crate::query::{Query, QueryError};

const TREES: u64 = 60;
const PATHS: usize = 60;
const NAMES: [&str; 7] = ["shop", "category", "book", "meta", "event", "empty", "nope"];
const LEAVES: [&str; 10] =
    ["code", "uid", "name", "price", "title", "year", "weight", "edition", "lang", "nope"];
const TEXTS: [&str; 7] = ["a", "b", "ab", "it's", "[x]/y", "", "1"];
const NUMBERS: [&str; 5] = ["0", "1", "2", "3", "-1"];

#[test]
fn random_paths_find_what_the_definition_says() {
    let (mut found, mut asked) = (0, 0);
    for seed in 0..TREES {
        let mut random = StdRng::seed_from_u64(seed);
        let schema = schema();
        let content = tree(&schema, &mut random);
        let shop = Shop::new(schema, content);
        for _ in 0..PATHS {
            let path = path(&shop.schema, &mut random);
            match Query::new(&shop.schema, &path) {
                Ok(_) => {}
                // The price of a meta is text.
                Err(QueryError::NotComparable { .. }) => continue,
                Err(error) => panic!("seed {seed}, {path}: {error}"),
            }
            let expected = oracle::ask(&shop.schema, &shop.content, &path);
            let text = path.to_string();
            assert_eq!(shop.ask(&text), expected, "seed {seed}: {path}");
            let steps = random.random_range(1..5);
            assert_eq!(shop.ask_in_steps(&text, steps), expected, "seed {seed}, {steps} steps: {path}");
            found += usize::from(!expected.is_empty());
            asked += 1;
        }
    }
    assert!(asked > 3_000 && found * 5 > asked, "{found} of {asked} paths find something");
}

fn pick<'a>(random: &mut StdRng, from: &[&'a str]) -> &'a str {
    from[random.random_range(0..from.len())]
}

/// A tree in which every entry has a number of its own.
fn tree(schema: &Schema, random: &mut StdRng) -> Content {
    let mut uid = 0;
    let children = schema.top.iter().flat_map(|node| entries(schema, *node, random, &mut uid)).collect();
    Content { leaves: Vec::new(), children }
}

fn entries(schema: &Schema, node: NodeId, random: &mut StdRng, uid: &mut u32) -> Vec<DataNode> {
    let mut entries: Vec<DataNode> = Vec::new();
    let count = match &schema.node(node).kind {
        NodeKind::Container { .. } => usize::from(random.random_bool(0.8)),
        _ => random.random_range(0..5),
    };
    for _ in 0..count {
        *uid += 1;
        let number = *uid;
        let leaves: Vec<_> = schema
            .children(Some(node))
            .iter()
            .filter(|child| !schema.is_entry(**child))
            .filter_map(|leaf| self::leaf(schema, *leaf, number, random))
            .collect();
        let keys = schema.keys(node);
        let of = |leaves: &[lang_yang::Leaf]| -> Vec<_> {
            leaves.iter().filter(|leaf| keys.contains(&leaf.schema)).cloned().collect()
        };
        if !keys.is_empty() && entries.iter().any(|other| of(&other.content.leaves) == of(&leaves)) {
            continue;
        }
        let below = schema.children(Some(node)).iter().filter(|child| schema.is_entry(**child));
        let children = below.flat_map(|child| self::entries(schema, *child, random, uid)).collect();
        entries.push(DataNode { schema: node, content: Content { leaves, children } });
    }
    entries
}

fn leaf(schema: &Schema, leaf: NodeId, uid: u32, random: &mut StdRng) -> Option<lang_yang::Leaf> {
    let node = schema.node(leaf);
    let parent = node.parent.expect("no leaf is at the top");
    let draft = Draft(schema, parent);
    let name: &str = &node.name;
    let is_key = schema.keys(parent).contains(&leaf);
    if name == "uid" {
        return Some(draft.leaf(name, &[&uid.to_string()]));
    }
    if !is_key && random.random_bool(0.3) {
        return None;
    }
    let is_text_price = name == "price" && schema.path(leaf).contains("meta");
    Some(match name {
        "edition" => {
            let all: Vec<&str> = NUMBERS.iter().copied().filter(|_| random.random_bool(0.5)).collect();
            return (!all.is_empty()).then(|| draft.leaf(name, &all));
        }
        "weight" => draft.leaf(name, &[pick(random, &["0.5", "1.0", "1.25", "-2.5"])]),
        "code" if schema.path(leaf).matches('/').count() == 2 => {
            draft.leaf(name, &[pick(random, &NUMBERS[..4])])
        }
        "price" if !is_text_price => draft.leaf(name, &[pick(random, &NUMBERS)]),
        "year" | "sold" => draft.leaf(name, &[pick(random, &NUMBERS[..4])]),
        "kind" => draft.leaf(name, &[pick(random, &["shop:novel", "extra:poem"])]),
        _ => draft.leaf(name, &[pick(random, &TEXTS)]),
    })
}

fn name(local: &str, random: &mut StdRng) -> Name {
    let prefixes = ["s", "shop", "x", "none"];
    let prefix = random.random_bool(0.1).then(|| pick(random, &prefixes).into());
    Name { prefix, local: local.into() }
}

/// A path that mostly follows the schema.
fn path(schema: &Schema, random: &mut StdRng) -> CpsPath {
    let is_random = random.random_bool(0.2);
    let mut names: Vec<&str> = Vec::new();
    if is_random {
        names.extend((0..random.random_range(1..4)).map(|_| pick(random, &NAMES)));
    } else {
        let entries: Vec<NodeId> =
            (0..).map(NodeId).take(schema.nodes.len()).filter(|id| schema.is_entry(*id)).collect();
        let last = entries[random.random_range(0..entries.len())];
        names.extend(
            std::iter::successors(Some(last), |id| schema.node(*id).parent).map(|id| &*schema.node(id).name),
        );
        names.reverse();
    }
    let origin = if random.random_bool(0.5) { Origin::Absolute } else { Origin::Descendant };
    if origin == Origin::Descendant && !is_random {
        names.drain(..random.random_range(0..names.len()));
    }
    let whole = names.clone();
    let steps: Vec<Step> = names.into_iter().map(|name| step(name, random)).collect();
    let text = random.random_bool(0.1).then(|| {
        let leaf = name(pick(random, &LEAVES), random);
        TextCondition { leaf, value: any_text(random) }
    });
    let contains = random.random_bool(0.1).then(|| {
        let leaf = name(pick(random, &LEAVES), random);
        Contains { leaf, part: any_text(random) }
    });
    let mut ancestor = Vec::new();
    if random.random_bool(0.3) {
        let end = random.random_range(1..=whole.len());
        let start = random.random_range(0..end);
        ancestor.extend(whole[start..end].iter().map(|name| step(name, random)));
    }
    let attribute = random.random_bool(0.2).then(|| name(pick(random, &LEAVES), random));
    CpsPath { origin, steps, text, contains, ancestor, attribute }
}

fn any_text(random: &mut StdRng) -> Box<str> {
    if random.random_bool(0.5) { pick(random, &TEXTS).into() } else { pick(random, &NUMBERS).into() }
}

fn step(local: &str, random: &mut StdRng) -> Step {
    let mut alternatives = Vec::new();
    if random.random_bool(0.35) {
        for _ in 0..random.random_range(1..3) {
            alternatives.push((0..random.random_range(1..3)).map(|_| condition(local, random)).collect());
        }
    }
    Step { name: name(local, random), predicate: Predicate { alternatives } }
}

fn condition(step: &str, random: &mut StdRng) -> LeafCondition {
    let own: &[&str] = match step {
        "category" => &["code", "code", "code", "name"],
        "book" => &["title", "year", "price", "weight"],
        _ => &["name", "price", "uid"],
    };
    let leaf = if random.random_bool(0.8) { pick(random, own) } else { pick(random, &LEAVES) };
    let is_number = matches!(leaf, "uid" | "price" | "year" | "weight" | "edition");
    let orders = [Comparison::Greater, Comparison::Less, Comparison::GreaterOrEqual, Comparison::LessOrEqual];
    let comparison = match is_number && random.random_bool(0.4) {
        true => orders[random.random_range(0..orders.len())],
        false => Comparison::Equal,
    };
    let value = match (is_number, random.random_bool(0.5)) {
        (true, true) => Literal::Integer(random.random_range(-1..6)),
        (true, false) => Literal::Text(pick(random, &NUMBERS).into()),
        (false, true) => Literal::Text(any_text(random)),
        (false, false) => Literal::Integer(random.random_range(0..4)),
    };
    LeafCondition { leaf: name(leaf, random), comparison, value }
}
