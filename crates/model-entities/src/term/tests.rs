//! Names as terms, and what the model refuses of them; all else is tried in `store::terms`.

use entity::keys;
use store::{Clock, Tenant, Timestamp};

use super::*;

#[tokio::test]
async fn names_are_terms_and_limits_have_names() {
    let store = store::testing::memory(Clock::manual(Timestamp(0)));
    let (partition, ids, terms) =
        (keys::terms_partition(&Tenant::default()), WriteIds::new(), Terms::default());
    let allot = async |names: &[&str], max| terms.allot(&store, &partition, &ids, names, max).await;
    assert_eq!(allot(&["urn:a", "urn:b", "urn:a"], 2).await.unwrap(), [TermId(0), TermId(1), TermId(0)]);
    assert_eq!((terms.id("urn:b"), terms.iri(TermId(1)).as_deref()), (Some(TermId(1)), Some("urn:b")));
    assert_eq!(
        (terms.len(), terms.is_empty(), terms.id("urn:c"), terms.iri(TermId(2))),
        (2, false, None, None)
    );
    let limit = |refused: Result<Vec<TermId>, Error>| match refused {
        Err(Error::Limit(limit)) => (limit.name, limit.max),
        other => panic!("{other:?}"),
    };
    assert_eq!(limit(allot(&["urn:c"], 2).await), (LimitName::Names, 2));
    let long = "a".repeat(NAME_BYTES_MAX + 1);
    assert_eq!(limit(allot(&[&long], 10).await), (LimitName::NameBytes, NAME_BYTES_MAX));
    let other = Terms::default();
    other.learn(&store, &partition).await.unwrap();
    assert_eq!((other.len(), other.id("urn:a")), (2, Some(TermId(0))));
}
