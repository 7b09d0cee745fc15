//! What is written is read; bytes that nobody wrote are refused or read in part, and never panic.

use proptest::prelude::*;
use store::Timestamp;

use super::*;
use crate::testing::plain::PlainEntity;
use crate::{Attribute, Draft, Instance, encode};

/// Reads everything there is to read.
fn exhaust(bytes: &[u8]) -> usize {
    let Ok(view) = EntityView::parse(bytes) else {
        return 0;
    };
    let _ = (view.id(), view.names(), view.attribute(TermId(3)), view.expires_at(), view.is_transient());
    let members = |attribute: AttributeView<'_>| -> usize {
        let _ = (attribute.bytes(), attribute.instance(None), attribute.instance(Some("urn:d")));
        attribute.instances().map(|instance| instance.members().count() + instance.extras().count()).sum()
    };
    let entity = PlainEntity::read(&view);
    view.attributes().map(members).sum::<usize>() + entity.types.len() + entity.scopes.len() + 1
}

fn example() -> Vec<u8> {
    let mut instance = Instance::new(Kind::Property, "\"value\"");
    instance.dataset = Some("urn:d:1".into());
    instance.unit_code = Some("CEL".into());
    instance.observed_at = Some(Timestamp(5));
    instance.expires_at = Some(Timestamp(6));
    instance.extras.push((Extra::V2Type, "\"T\"".into()));
    let member = Attribute { name: TermId(300), instances: smallvec::smallvec![instance.clone()] };
    instance.members = vec![member];
    let draft = Draft {
        id: "urn:x:1".into(),
        types: smallvec::smallvec![TermId(1), TermId(70_000)],
        scopes: Some(vec!["/a/b".into()]),
        expires_at: Some(Timestamp(9)),
        attributes: vec![Attribute { name: TermId(2), instances: smallvec::smallvec![instance] }],
    };
    encode(&draft, Timestamp(1), Timestamp(2))
}

#[test]
fn what_is_written_is_read() {
    let bytes = example();
    let entity = PlainEntity::read(&EntityView::parse(&bytes).unwrap());
    assert_eq!((&*entity.id, entity.created, entity.modified, entity.expires), ("urn:x:1", 1, 2, Some(9)));
    assert_eq!((entity.types, entity.scopes), (vec![1, 70_000], vec!["/a/b".to_owned()]));
    let instance = &entity.attributes[0].instances[0];
    assert_eq!((&*instance.value, instance.unit.as_deref()), ("\"value\"", Some("CEL")));
    assert_eq!((instance.observed, instance.expires), (Some(5), Some(6)));
    assert_eq!(instance.members[0].instances[0].extras, [(Extra::V2Type, "\"T\"".to_owned())]);
}

#[test]
fn a_cut_entity_is_refused_or_shorter() {
    let bytes = example();
    let whole = exhaust(&bytes);
    for length in 0..bytes.len() {
        assert!(exhaust(&bytes[..length]) < whole);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((2000 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn mutated_bytes_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = example();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        exhaust(&bytes);
    }

    #[test]
    fn other_bytes_never_panic(tail in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = example()[..18].to_vec();
        bytes.extend(tail);
        exhaust(&bytes);
    }
}
