//! Writers, removals and creations that meet, on the worst store: each is done or refused, and nothing is lost.

use std::sync::Arc;

use super::*;

/// Both nodes over the worst store; the second has read nothing.
async fn nodes(seed: u64) -> [Configs; 2] {
    let store = store::testing::hostile(clock(), seed);
    let beside = store.beside();
    let one = made(store, clock(), 4).await;
    [one, Configs::new(beside, clock(), options(4))]
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(work);
}

#[test]
fn all_writers_succeed_and_nothing_is_lost() {
    for seed in store::testing::seeds(12) {
        run(async {
            let nodes = nodes(seed).await;
            let anchor = nodes[0].create_anchor("d", "s", "a").await.unwrap();
            let mut writers = Vec::new();
            for writer in 0..8 {
                let anchor = nodes[writer % 2].anchor("d", "a").await.unwrap();
                writers.push(tokio::spawn(async move {
                    for number in 0..4 {
                        let item = (format!("w{writer}-{number}"), 1, "x".repeat(700));
                        let edit = add(anchor.schema(), &[item]);
                        anchor.write_edits(&[edit], WriteOptions::default()).await.unwrap();
                    }
                }));
            }
            for writer in writers {
                writer.await.unwrap();
            }
            let mut names: Vec<String> =
                items_of(&anchor, None).await.unwrap().into_iter().map(|(name, ..)| name).collect();
            names.sort();
            let mut expected: Vec<String> =
                (0..8).flat_map(|writer| (0..4).map(move |number| format!("w{writer}-{number}"))).collect();
            expected.sort();
            assert_eq!(names, expected, "seed {seed}");
            assert_eq!(anchor.version().await.unwrap(), VersionId(32), "one version for each");
        });
    }
}

#[test]
fn of_writers_that_name_a_version_one_succeeds() {
    for seed in store::testing::seeds(12) {
        run(async {
            let nodes = nodes(seed).await;
            nodes[0].create_anchor("d", "s", "a").await.unwrap();
            let write = async |node: &Configs, name: &str| {
                let anchor = node.anchor("d", "a").await.unwrap();
                let if_version = Some(VersionId(0));
                let options = WriteOptions { if_version, ..WriteOptions::default() };
                anchor.write_edits(&[add(anchor.schema(), &[one(name, 1)])], options).await
            };
            let outcomes = tokio::join!(write(&nodes[0], "x"), write(&nodes[1], "y"));
            let won = usize::from(outcomes.0.is_ok()) + usize::from(outcomes.1.is_ok());
            assert_eq!(won, 1, "{outcomes:?}");
            for lost in [outcomes.0, outcomes.1].into_iter().filter_map(Result::err) {
                assert!(
                    matches!(lost, Error::Conflict { expected: VersionId(0), head: VersionId(1), .. }),
                    "{lost}"
                );
            }
        });
    }
}

#[test]
fn a_schema_set_is_there_as_long_as_an_anchor_is_of_it() {
    let mut outcomes = [0, 0];
    for seed in store::testing::seeds(40) {
        let of_seed = Arc::new(std::sync::Mutex::new([0, 0]));
        run(async {
            let nodes = nodes(seed).await;
            let name = format!("a{seed}");
            let made = async {
                for _ in 0..seed % 24 {
                    tokio::task::yield_now().await;
                }
                nodes[0].create_anchor("d", "s", &name).await
            };
            let removed = async { nodes[1].remove_schema_set("d", "s").await };
            let (made, removed) = tokio::join!(made, removed);
            match (&made, &removed) {
                (Ok(_), Err(Error::InUse { .. })) => of_seed.lock().unwrap()[0] += 1,
                (Err(Error::UnknownSchemaSet { .. }), Ok(())) => of_seed.lock().unwrap()[1] += 1,
                other => panic!("seed {seed}: {other:?}"),
            }
            let is_there = nodes[0].schema_set("d", "s").await.is_ok();
            assert_eq!(is_there, made.is_ok(), "seed {seed}");
            if is_there {
                // A mark that was left is taken back.
                nodes[1].create_anchor("d", "s", "another").await.unwrap();
            }
        });
        let of_seed = *of_seed.lock().unwrap();
        outcomes = [outcomes[0] + of_seed[0], outcomes[1] + of_seed[1]];
    }
    assert!(outcomes.iter().all(|count| *count > 0), "each comes first now and then: {outcomes:?}");
}

#[test]
fn what_is_written_to_an_anchor_that_is_removed_goes_with_it() {
    for seed in store::testing::seeds(24) {
        run(async {
            let nodes = nodes(seed).await;
            let anchor = nodes[0].create_anchor("d", "s", "a").await.unwrap();
            let write = async {
                for _ in 0..3 {
                    let new = large(60, 400).into_iter().map(|(name, count, note)| {
                        (format!("{name}-{}", rand::random::<u32>()), count, note)
                    });
                    let edit = add(anchor.schema(), &new.collect::<Vec<_>>());
                    match anchor.write_edits(&[edit], WriteOptions::default()).await {
                        Ok(_) => {}
                        Err(Error::UnknownAnchor { .. }) => return,
                        Err(error) => panic!("seed {seed}: {error}"),
                    }
                }
            };
            let remove_and_make = async {
                nodes[1].remove_anchor("d", "a").await.unwrap();
                nodes[1].create_anchor("d", "s", "a").await.unwrap()
            };
            let ((), again) = tokio::join!(write, remove_and_make);
            assert_eq!(items_of(&again, None).await.unwrap(), [], "seed {seed}: it is another life");
            assert!(matches!(anchor.read(None).await, Err(Error::UnknownAnchor { .. })));
            tidy(&nodes[0]).await;
            tidy(&nodes[1]).await;
            let other = nodes[0].anchor("d", "a").await.unwrap();
            assert_eq!((other.number(), items_of(&other, None).await.unwrap()), (again.number(), Vec::new()));
        });
    }
}

#[test]
fn one_of_two_who_make_the_same_name_succeeds() {
    for seed in store::testing::seeds(24) {
        run(async {
            let nodes = nodes(seed).await;
            let make = async |node: &Configs| node.create_dataspace("e").await;
            let spaces = tokio::join!(make(&nodes[0]), make(&nodes[1]));
            let won = [&spaces.0, &spaces.1].into_iter().filter(|outcome| outcome.is_ok()).count();
            assert_eq!(won, 1, "seed {seed}: {spaces:?}");
            let make = async |node: &Configs| node.create_anchor("d", "s", "a").await.map(drop);
            let anchors = tokio::join!(make(&nodes[0]), make(&nodes[1]));
            let won = [&anchors.0, &anchors.1].into_iter().filter(|outcome| outcome.is_ok()).count();
            assert_eq!(won, 1, "seed {seed}: {anchors:?}");
            assert_eq!(nodes[0].anchors("d", None, (None, 10)).await.unwrap().len(), 1);
        });
    }
}
