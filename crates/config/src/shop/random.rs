//! Random data of the shop.

use lang_yang::{Content, DataNode, Leaf, NodeId, NodeKind, Schema};
use rand::Rng;
use rand::rngs::StdRng;

use super::Draft;

pub(crate) const TEXTS: [&str; 7] = ["a", "b", "ab", "it's", "[x]/y", "", "1"];
pub(crate) const NUMBERS: [&str; 5] = ["0", "1", "2", "3", "-1"];

pub(crate) fn pick<'a>(random: &mut StdRng, from: &[&'a str]) -> &'a str {
    from[random.random_range(0..from.len())]
}

/// A tree in which every entry has a number of its own.
pub(crate) fn random_content(schema: &Schema, random: &mut StdRng) -> Content {
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
        let of = |leaves: &[Leaf]| -> Vec<_> {
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

fn leaf(schema: &Schema, leaf: NodeId, uid: u32, random: &mut StdRng) -> Option<Leaf> {
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
