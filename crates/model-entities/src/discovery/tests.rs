//! What is in use is found, with kinds and counts, in one bucket and in four.

use store::{TenantName, Timestamp};

use super::*;
use crate::write::tests::{options, run, store};
use crate::{Attribute, Draft, Entities, Instance, Operation};

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
        let brief = entities.types(None, false).await.unwrap();
        assert_eq!(brief.iter().map(|of| of.name.0).collect::<Vec<_>>(), [1, 2, 3]);
        let types = entities.types(None, true).await.unwrap();
        let shape: Vec<_> = types.iter().map(|of| (of.name.0, of.entities, of.attributes.len())).collect();
        assert_eq!(shape, [(1, 3, 2), (2, 1, 1), (3, 1, 0)]);
        let mut one = entities.types(Some(TermId(1)), true).await.unwrap().remove(0);
        one.attributes.iter_mut().for_each(|(_, kinds)| kinds.sort());
        assert_eq!(
            one.attributes,
            [(TermId(10), vec![Property, Relationship]), (TermId(11), vec![Relationship])]
        );
        assert!(entities.types(Some(TermId(10)), true).await.unwrap().is_empty());

        let brief = entities.attributes(None, false).await.unwrap();
        assert_eq!(brief.iter().map(|attribute| attribute.name.0).collect::<Vec<_>>(), [10, 11]);
        let one = entities.attributes(Some(TermId(10)), true).await.unwrap().remove(0);
        assert_eq!((one.instances, one.types), (5, vec![TermId(1), TermId(2)]));
        assert_eq!(one.kinds.len(), 2);
        assert!(entities.attributes(Some(TermId(12)), true).await.unwrap().is_empty());
    });
}

#[test]
fn what_is_in_use_is_found() {
    check(1);
    check(4);
}
