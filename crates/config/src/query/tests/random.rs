//! Random paths on random trees, against the definition.

use lang_cps_path::{
    Comparison, Contains, CpsPath, LeafCondition, Literal, Name, Origin, Predicate, Step, TextCondition,
};
use lang_yang::{NodeId, Schema};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::oracle;
use crate::PageLimits;
use crate::query::{Query, QueryError};
use crate::shop::{NUMBERS, SMALL, Shop, TEXTS, pick, random_content, schema};

const TREES: u64 = 60;
const PATHS: usize = 60;
const NAMES: [&str; 7] = ["shop", "category", "book", "meta", "event", "empty", "nope"];
const LEAVES: [&str; 10] =
    ["code", "uid", "name", "price", "title", "year", "weight", "edition", "lang", "nope"];

#[test]
fn random_paths_find_what_the_definition_says() {
    let (mut found, mut asked, mut paged) = (0, 0, 0);
    for seed in store::testing::seeds(TREES) {
        let mut random = StdRng::seed_from_u64(seed);
        let schema = schema();
        let content = random_content(&schema, &mut random);
        let limits = if seed % 3 == 0 { PageLimits::STANDARD } else { SMALL };
        let mut shop = Shop::new(schema, content, limits);
        paged += usize::from(!shop.is_inline());
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
            shop.forget_pages();
            assert_eq!(shop.ask_in_steps(&text, steps), expected, "seed {seed}, {steps} steps: {path}");
            found += usize::from(!expected.is_empty());
            asked += 1;
        }
    }
    assert!(paged > 30, "{paged} trees have pages");
    assert!(asked > 3_000 && found * 5 > asked, "{found} of {asked} paths find something");
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
