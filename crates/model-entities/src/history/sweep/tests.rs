//! What is damaged stops no job for others.

use std::time::Duration;

use entity::HistoryRequest;
use entity::{Attribute, Draft, Instance, Kind, Operation, TermId, keys};
use smallvec::smallvec;
use store::{Direction, Range, Store, Tenant, TenantName, Timestamp};

use crate::policy::{HistoryPolicy, HistoryRule};
use crate::write::{tests::options, tests::put_raw, tests::run, tests::store};
use crate::{Entities, Options};

/// Damages all rows of the strand of an attribute of the default tenant.
pub(in crate::history) async fn spoil_strand(store: &Store, id: &str, attribute: TermId) {
    let partition = keys::history_partition(&Tenant::default(), id);
    let name = keys::strand_name(id, attribute, None);
    let page = store.scan(&partition, &Range::default(), Direction::Forward, 1000).await.unwrap();
    let mut spoilt = 0;
    for (key, _) in page.rows().filter(|(key, _)| key.get(1..).is_some_and(|rest| rest.starts_with(&name))) {
        put_raw(store, &partition, bytes::Bytes::copy_from_slice(key), b"?").await;
        spoilt += 1;
    }
    assert!(spoilt > 0);
}

#[test]
fn histories_of_others_are_folded_and_trimmed() {
    run(async {
        let store = store();
        let rule = HistoryRule { keep: Some(Duration::from_micros(100)), ..HistoryRule::default() };
        let options = Options { history: HistoryPolicy { rules: vec![rule] }, ..options(2) };
        let all = Entities::new(store.clone(), options);
        let entities = all.tenant_or_create(&TenantName::default()).await.unwrap();
        for now in [10, 150] {
            for id in ["urn:x:1", "urn:x:2", "urn:x:3"] {
                let of = |name| {
                    let instances = smallvec![Instance::new(Kind::Property, now.to_string())];
                    Attribute { name: TermId(name), instances }
                };
                let attributes = vec![of(10), of(11)];
                let draft = Draft { types: smallvec![TermId(1)], attributes, ..Draft::default() };
                entities.apply(id, Operation::UpsertUpdate(draft), Timestamp(now)).await.unwrap();
            }
        }
        let partition = entities.state().partition("urn:x:1").unwrap();
        put_raw(&store, partition, keys::folded("urn:x:1"), b"?").await;
        assert_eq!(all.sweep_history(Timestamp(200), Duration::ZERO).await.unwrap(), 2);
        assert_eq!(all.skips().count(), 1);

        spoil_strand(&store, "urn:x:2", TermId(10)).await;
        assert_eq!(all.trim_history(Timestamp(200)).await.unwrap(), 3, "of the second and third entity");
        assert_eq!(all.skips().count(), 3, "the fold of the first, and a strand of the second");

        let lens = async |id: &str| {
            let history = entities.read_history(id, &HistoryRequest::all(9)).await?.unwrap();
            Ok::<_, entity::Error>(history.attributes.iter().map(|one| one.len()).collect::<Vec<_>>())
        };
        assert!(lens("urn:x:1").await.is_err() && lens("urn:x:2").await.is_err(), "readers are told");
        assert_eq!(lens("urn:x:3").await.unwrap(), [1, 1]);
    });
}
