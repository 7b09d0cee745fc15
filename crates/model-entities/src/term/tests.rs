//! Names keep their numbers, whoever allots them.

use entity::keys;
use store::{Clock, Tenant, Timestamp};

use super::*;

fn memory() -> Store {
    store::testing::memory(Clock::manual(Timestamp(0)))
}

fn partition() -> Partition {
    keys::terms_partition(&Tenant::default())
}

#[tokio::test]
async fn names_keep_their_numbers() {
    let (store, ids, terms) = (memory(), WriteIds::new(), Terms::default());
    let names = ["urn:a", "urn:b", "urn:a"];
    let first = terms.allot(&store, &partition(), &ids, &names, 10).await.unwrap();
    assert_eq!(first, [TermId(0), TermId(1), TermId(0)]);
    assert_eq!(
        terms.allot(&store, &partition(), &ids, &["urn:c", "urn:b"], 10).await.unwrap(),
        [TermId(2), TermId(1)]
    );
    assert_eq!((terms.id("urn:c"), terms.id("urn:d"), terms.len()), (Some(TermId(2)), None, 3));
    assert_eq!(terms.iri(TermId(1)).as_deref(), Some("urn:b"));
    assert_eq!(terms.iri(TermId(3)), None);
    let later = Terms::default();
    later.learn(&store, &partition()).await.unwrap();
    assert_eq!(
        (later.len(), later.id("urn:a"), later.iri(TermId(2)).as_deref()),
        (3, Some(TermId(0)), Some("urn:c"))
    );
}

#[tokio::test]
async fn limits_are_kept() {
    let (store, ids, terms) = (memory(), WriteIds::new(), Terms::default());
    let long = "a".repeat(NAME_BYTES_MAX + 1);
    assert!(matches!(terms.allot(&store, &partition(), &ids, &[&long], 10).await, Err(Error::Limit(_))));
    assert!(matches!(
        terms.allot(&store, &partition(), &ids, &["a", "b", "c"], 2).await,
        Err(Error::Limit(_))
    ));
    assert!(terms.is_empty());
    let many: Vec<String> = (0..2000).map(|number| format!("urn:{number}")).collect();
    let many: Vec<&str> = many.iter().map(|name| &**name).collect();
    let terms_of_many = terms.allot(&store, &partition(), &ids, &many, 5000).await.unwrap();
    assert!(terms_of_many.iter().zip(0..).all(|(term, number)| term.0 == number));
}

/// Several nodes, each with a memory of its own, allot overlapping names at once.
#[test]
fn nodes_agree_on_numbers() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    let hostile = (0..8).map(|seed| store::testing::hostile(Clock::manual(Timestamp(0)), seed));
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
                terms.allot(&store, &partition(), &ids, &names, 1000).await.unwrap();
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
            let name = all.iri(TermId(number)).unwrap();
            assert_eq!(
                (terms.iri(TermId(number)), terms.id(&name)),
                (Some(name.clone()), Some(TermId(number)))
            );
        }
    }
}
