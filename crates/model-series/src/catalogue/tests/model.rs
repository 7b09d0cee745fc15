//! Random definitions, changes and removals against a plain map; then every search against a filter of the map.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{AttributeSearch, DefinitionChange, Search};

#[derive(Clone, Debug)]
enum Action {
    Define(u8, Vec<u8>, bool),
    Compute(u8, Vec<u8>),
    Rename(u8, u8),
    Tag(u8, Vec<u8>),
    Remove(u8),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let name = 0..8_u8;
    let tags =
        || prop::collection::btree_set(0..3_u8, 0..3).prop_map(|tags| tags.into_iter().collect::<Vec<_>>());
    prop::collection::vec(
        prop_oneof![
            3 => (name.clone(), tags(), any::<bool>()).prop_map(|(name, tags, unit)| Action::Define(name, tags, unit)),
            3 => (name.clone(), prop::collection::vec(0..8_u8, 1..4)).prop_map(|(name, operands)| Action::Compute(name, operands)),
            2 => (name.clone(), 0..8_u8).prop_map(|(from, to)| Action::Rename(from, to)),
            1 => (name.clone(), tags()).prop_map(|(name, tags)| Action::Tag(name, tags)),
            2 => name.prop_map(Action::Remove),
        ],
        1..40,
    )
}

/// A series as the plain map knows it: its number, tags, unit, and the numbers it is computed from.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    number: u32,
    tags: Vec<u8>,
    has_unit: bool,
    operands: Option<Vec<u32>>,
}

type Model = BTreeMap<String, Known>;

fn name_of(name: u8) -> String {
    format!("s{name}")
}

fn tags_of(tags: &[u8]) -> Vec<Attribute> {
    tags.iter().map(|tag| text("Tag", &format!("t{tag}"))).collect()
}

/// Whether a series stands on another, at any depth.
fn stands_on(model: &Model, number: u32, ground: u32) -> bool {
    number == ground
        || model
            .values()
            .filter(|known| known.number == number)
            .flat_map(|known| known.operands.iter().flatten())
            .any(|operand| stands_on(model, *operand, ground))
}

async fn act(repository: &Repository, model: &mut Model, action: Action) {
    match action {
        Action::Define(name, tags, has_unit) => {
            let name = name_of(name);
            let unit = has_unit.then(|| "kW".into());
            let outcome = repository
                .define(vec![DefinitionDraft { unit, attributes: tags_of(&tags), ..draft(&name) }], NOW)
                .await;
            assert_eq!(outcome.is_ok(), !model.contains_key(&name));
            if let Ok(defined) = outcome {
                model.insert(name, Known { number: defined[0].number, tags, has_unit, operands: None });
            }
        }
        Action::Compute(name, operands) => compute(repository, model, &name_of(name), &operands).await,
        Action::Rename(from, to) => {
            let change = DefinitionChange { name: Some(name_of(to).into()), ..DefinitionChange::default() };
            let outcome = repository.change(SeriesRef::Name(&name_of(from)), change, NOW).await;
            let expected =
                model.contains_key(&name_of(from)) && (from == to || !model.contains_key(&name_of(to)));
            assert_eq!(outcome.is_ok(), expected, "{outcome:?}");
            if outcome.is_ok() {
                let known = model.remove(&name_of(from)).expect("there");
                model.insert(name_of(to), known);
            }
        }
        Action::Tag(name, tags) => {
            let change = DefinitionChange { attributes: Some(tags_of(&tags)), ..DefinitionChange::default() };
            let outcome = repository.change(SeriesRef::Name(&name_of(name)), change, NOW).await;
            assert_eq!(outcome.is_ok(), model.contains_key(&name_of(name)));
            if let Some(known) = model.get_mut(&name_of(name)) {
                known.tags = tags;
            }
        }
        Action::Remove(name) => {
            let name = name_of(name);
            let outcome = repository.remove(SeriesRef::Name(&name), NOW).await;
            let number = model.get(&name).map(|known| known.number);
            let is_used =
                model.values().any(|known| known.operands.iter().flatten().any(|one| Some(*one) == number));
            assert_eq!(outcome.is_ok(), number.is_some() && !is_used, "{outcome:?}");
            if outcome.is_ok() {
                model.remove(&name);
            }
        }
    }
}

async fn compute(repository: &Repository, model: &mut Model, name: &str, operands: &[u8]) {
    let formula = operands.iter().map(|one| format!("[{}]", name_of(*one))).collect::<Vec<_>>().join("+");
    let known: Option<Vec<u32>> =
        operands.iter().map(|one| model.get(&name_of(*one)).map(|known| known.number)).collect();
    let before = model.get(name).map(|known| known.number);
    let is_fine = |number| known.iter().flatten().all(|operand| !stands_on(model, *operand, number));
    let (outcome, expected) = match before {
        Some(number) => {
            let change =
                DefinitionChange { formula: Some(Some(formula.into())), ..DefinitionChange::default() };
            let outcome = repository.change(SeriesRef::Id(number), change, NOW).await;
            (outcome, known.is_some() && is_fine(number))
        }
        None => {
            let outcome = repository.define(vec![computed(name, &formula)], NOW).await;
            (outcome.map(|defined| defined[0].clone()), known.is_some())
        }
    };
    assert_eq!(outcome.is_ok(), expected, "{outcome:?}");
    if let Ok(defined) = outcome {
        let entry = model.entry(name.to_owned()).or_default();
        (entry.number, entry.operands) = (defined.number, known);
    }
}

async fn check(repository: &Repository, model: &Model) {
    let names = |keep: &dyn Fn(&Known) -> bool| {
        model.iter().filter(|(_, known)| keep(known)).map(|(name, _)| name.as_str()).collect::<Vec<_>>()
    };
    let search = async |search: Search| {
        let page = repository.search(&Search { limit: 100, ..search }).await.expect("found");
        page.series.iter().map(|one| one.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(search(Search::default()).await, names(&|_| true));
    assert_eq!(
        search(Search { unit: Some("kW".into()), ..Search::default() }).await,
        names(&|known| known.has_unit)
    );
    for tag in 0..3 {
        let attributes = vec![AttributeSearch { name: "Tag".into(), value: Some(format!("t{tag}").into()) }];
        let found = search(Search { attributes, ..Search::default() }).await;
        assert_eq!(found, names(&|known| known.tags.contains(&tag)));
    }
    let attributes = vec![AttributeSearch { name: "Tag".into(), value: None }];
    assert_eq!(
        search(Search { attributes, ..Search::default() }).await,
        names(&|known| !known.tags.is_empty())
    );
    for (name, known) in model {
        let found = find(repository, name).await;
        assert_eq!(found.number, known.number);
        // Formulas name their operands as these are named now.
        let operands = found.formula.as_ref().map(|formula| formula.tree.names()).unwrap_or_default();
        let mut numbers = Vec::new();
        for operand in operands {
            numbers.push(find(repository, operand).await.number);
        }
        let mut expected: Vec<u32> = Vec::new();
        for number in known.operands.iter().flatten() {
            if !expected.contains(number) {
                expected.push(*number);
            }
        }
        assert_eq!(numbers, expected, "{name}");
        let mut users: Vec<String> = repository
            .users(known.number)
            .await
            .expect("users")
            .iter()
            .map(|one| one.name.to_string())
            .collect();
        users.sort_unstable();
        assert_eq!(users, names(&|other| other.operands.iter().flatten().any(|one| *one == known.number)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((48 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn the_catalogue_is_what_a_plain_map_is(actions in actions()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let repository = repository().await;
            let mut model = Model::new();
            for action in actions {
                act(&repository, &mut model, action).await;
            }
            check(&repository, &model).await;
        });
    }

    /// Two processes take turns.
    #[test]
    fn the_catalogue_is_what_a_plain_map_is_in_the_worst_store(actions in actions(), seed: u64) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let store = store::testing::hostile(store::Clock::manual(NOW), seed);
            let all = [repositories(&store.beside()), repositories(&store)];
            let draft = RepositoryDraft { name: "grid".into(), description: "".into() };
            all[0].create(draft, NOW).await.expect("created");
            let both = [all[0].get("grid").await.expect("there"), all[1].get("grid").await.expect("there")];
            furnish(&both[0]).await;
            let mut model = Model::new();
            for (action, repository) in actions.into_iter().zip(both.iter().cycle()) {
                act(repository, &mut model, action).await;
            }
            check(&both[0], &model).await;
        });
    }
}
