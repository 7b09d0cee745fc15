//! What is in use is found, with kinds and counts, in one bucket and in four.

use entity::{Attribute, Draft, Instance, Operation};
use store::{TenantName, Timestamp};

use super::*;
use crate::Entities;
use crate::write::{tests::options, tests::run, tests::store};

fn draft(types: &[u32], attributes: &[(u32, Kind, &[&str])]) -> Draft {
    let attribute = |(name, kind, values): &(u32, Kind, &[&str])| Attribute {
        name: TermId(*name),
        instances: values
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let dataset = (at > 0).then(|| format!("urn:d:{at}").into());
                Instance { dataset, ..Instance::new(*kind, *value) }
            })
            .collect(),
    };
    Draft {
        types: types.iter().map(|of_type| TermId(*of_type)).collect(),
        attributes: attributes.iter().map(attribute).collect(),
        ..Draft::default()
    }
}

fn check(buckets: u32) {
    use Kind::{Property, Relationship};
    run(async {
        let entities = Entities::new(store(), options(buckets)).tenant(&TenantName::default()).await.unwrap();
        let drafts = [
            draft(&[1], &[(10, Property, &["1", "1", "2"]), (11, Relationship, &["\"urn:x:1\""])]),
            draft(&[1, 2], &[(10, Property, &["[1,2,3]"])]),
            draft(&[1], &[(10, Relationship, &["\"urn:x:1\""])]),
            draft(&[3], &[]),
        ];
        for (at, draft) in drafts.into_iter().enumerate() {
            entities.apply(&format!("urn:x:{at}"), Operation::Create(draft), Timestamp(1)).await.unwrap();
        }
        let brief = entities.types(None, false, &Deadline::default()).await.unwrap();
        assert_eq!(brief.iter().map(|of| of.name.0).collect::<Vec<_>>(), [1, 2, 3]);
        let types = entities.types(None, true, &Deadline::default()).await.unwrap();
        let shape: Vec<_> = types.iter().map(|of| (of.name.0, of.entities, of.attributes.len())).collect();
        assert_eq!(shape, [(1, 3, 2), (2, 1, 1), (3, 1, 0)]);
        let mut one = entities.types(Some(TermId(1)), true, &Deadline::default()).await.unwrap().remove(0);
        one.attributes.iter_mut().for_each(|(_, kinds)| kinds.sort());
        assert_eq!(
            one.attributes,
            [(TermId(10), vec![Property, Relationship]), (TermId(11), vec![Relationship])]
        );
        assert!(entities.types(Some(TermId(10)), true, &Deadline::default()).await.unwrap().is_empty());

        let brief = entities.attributes(None, false, &Deadline::default()).await.unwrap();
        assert_eq!(brief.iter().map(|attribute| attribute.name.0).collect::<Vec<_>>(), [10, 11]);
        let one = entities.attributes(Some(TermId(10)), true, &Deadline::default()).await.unwrap().remove(0);
        assert_eq!((one.instances, one.types), (5, vec![TermId(1), TermId(2)]));
        assert_eq!(one.kinds.len(), 2);
        assert!(entities.attributes(Some(TermId(12)), true, &Deadline::default()).await.unwrap().is_empty());
    });
}

#[test]
fn what_is_in_use_is_found() {
    check(1);
    check(4);
}

/// Walks through many large entities let others run, go on in a slot of the lane, and end at their deadline.
#[test]
fn long_walks_take_a_slot_and_end_at_their_deadline() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    for buckets in [1, 4] {
        let entities = runtime.block_on(async {
            let entities = Entities::new(store(), options(buckets));
            let tenant = entities.tenant_or_create(&TenantName::default()).await.unwrap();
            let large = format!("\"{}\"", "x".repeat(120_000));
            for at in 0..400 {
                let draft = draft(&[1], &[(10, Kind::Property, &[&large])]);
                tenant.apply(&format!("urn:x:{at}"), Operation::Create(draft), Timestamp(1)).await.unwrap();
            }
            tenant
        });
        let lane = entities.lane().clone();
        let ask = |of_type: bool, only: Option<TermId>, deadline: Deadline| {
            let entities = entities.clone();
            runtime.block_on(runtime.spawn(async move {
                match of_type {
                    true => entities.types(only, true, &deadline).await.map(|found| found[0].entities),
                    false => entities.attributes(only, true, &deadline).await.map(|found| found[0].instances),
                }
            }))
        };
        for (of_type, name) in [(true, TermId(1)), (false, TermId(10))] {
            let before = lane.taken();
            assert_eq!(ask(of_type, Some(name), Deadline::default()).unwrap().unwrap(), 400);
            assert_eq!(lane.taken(), before + 1);
            let late = ask(of_type, Some(name), Deadline::after_looks(3)).unwrap();
            assert!(matches!(late, Err(Error::TimedOut(_))), "{late:?}");
            // What is found by the notes is short.
            ask(of_type, None, Deadline::after_looks(3)).unwrap().unwrap();
            assert_eq!(lane.taken(), before + 1);
        }
    }
}
