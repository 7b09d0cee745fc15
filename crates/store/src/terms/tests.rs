//! Names keep their numbers, whoever asks for them.

use crate::{Clock, Space, SpaceKind, Tenant, Timestamp};

use super::*;

fn memory() -> Store {
    crate::testing::memory(Clock::manual(Timestamp(0)))
}

const NAMES: Space = Space { id: 202, kind: SpaceKind::Commit, name: "names" };

fn partition() -> Partition {
    Partition { tenant: Tenant::default(), space: NAMES, bucket: 0 }
}

#[tokio::test]
async fn names_keep_their_numbers() {
    let (store, ids, terms) = (memory(), WriteIds::new(), Terms::default());
    let names = ["urn:a", "urn:b", "urn:a"];
    let first = terms.intern((&store, &partition(), &ids), &names, 10).await.unwrap();
    assert_eq!(first, [0, 1, 0]);
    assert_eq!(terms.intern((&store, &partition(), &ids), &["urn:c", "urn:b"], 10).await.unwrap(), [2, 1]);
    assert_eq!((terms.number("urn:c"), terms.number("urn:d"), terms.len()), (Some(2), None, 3));
    assert_eq!(terms.name(1).as_deref(), Some("urn:b"));
    assert_eq!(terms.name(3), None);
    let later = Terms::default();
    later.learn(&store, &partition()).await.unwrap();
    assert_eq!((later.len(), later.number("urn:a"), later.name(2).as_deref()), (3, Some(0), Some("urn:c")));
}

#[tokio::test]
async fn names_in_use_are_passed_over_and_others_told_once() {
    let (store, ids, terms) = (memory(), WriteIds::new(), Terms::default());
    terms.intern((&store, &partition(), &ids), &["a", "b"], 10).await.unwrap();
    let missing = |names: &[&'static str]| terms.missing(names, 1_000_000, Limits::EMBEDDED).unwrap();
    assert_eq!(missing(&["b", "a", "c", "a", "d", "c"]), Some((2, vec!["c", "d"])));
    assert_eq!(missing(&["a", "b", "a"]), None);
    assert_eq!(missing(&[]), None);
    let many: Vec<&str> = (0..2000).map(|number| &*format!("urn:{number}").leak()).collect();
    let (known, new) = missing(&many).unwrap();
    assert_eq!((known, &new[..]), (0, &many[..COMMIT_NAMES_MAX]));
}

#[tokio::test]
async fn limits_are_kept() {
    let (store, ids, terms) = (memory(), WriteIds::new(), Terms::default());
    let long = "a".repeat(NAME_BYTES_MAX + 1);
    assert!(matches!(
        terms.intern((&store, &partition(), &ids), &[&long], 10).await,
        Err(TermError::TooLong(_))
    ));
    assert!(matches!(
        terms.intern((&store, &partition(), &ids), &["a", "b", "c"], 2).await,
        Err(TermError::TooMany(2))
    ));
    assert!(terms.is_empty());
    let many: Vec<String> = (0..2000).map(|number| format!("urn:{number}")).collect();
    let many: Vec<&str> = many.iter().map(|name| &**name).collect();
    let terms_of_many = terms.intern((&store, &partition(), &ids), &many, 5000).await.unwrap();
    assert!(terms_of_many.iter().zip(0..).all(|(term, number)| *term == number));
}

/// Several nodes, each with a memory of its own, intern overlapping names at once.
#[test]
fn nodes_agree_on_numbers() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    let hostile = (0..8).map(|seed| crate::testing::hostile(Clock::manual(Timestamp(0)), seed));
    for store in hostile.chain([memory()]) {
        runtime.block_on(check_nodes(store));
    }
}

async fn check_nodes(store: Store) {
    let node = |node: usize| {
        let store = store.beside();
        async move {
            let (ids, terms) = (WriteIds::new(), Terms::default());
            for round in 0..40 {
                let names: Vec<String> =
                    (0..3).map(|number| format!("urn:{}", round * 2 + number * node)).collect();
                let names: Vec<&str> = names.iter().map(|name| &**name).collect();
                terms.intern((&store, &partition(), &ids), &names, 1000).await.unwrap();
            }
            terms
        }
    };
    let nodes: Vec<_> = (0..8).map(|number| tokio::spawn(node(number))).collect();
    let all = Terms::default();
    let mut told = Vec::new();
    for node in nodes {
        told.push(node.await.unwrap());
    }
    all.learn(&store, &partition()).await.unwrap();
    for terms in told {
        terms.learn(&store, &partition()).await.unwrap();
        assert_eq!(terms.len(), all.len());
        for number in 0..u32::try_from(all.len()).unwrap() {
            let name = all.name(number).unwrap();
            assert_eq!((terms.name(number), terms.number(&name)), (Some(name.clone()), Some(number)));
        }
    }
}
