//! Entities and their changes as they are stored.

use bytes::Bytes;
use entity::index::{Indexed, index_rows};
use entity::{AttributeView, EntityView, TermId, change_records, feed, keys};
use store::ChangeRecord;

use crate::Target;
use crate::ngsi_ld;

/// A stored entity.
pub(crate) const ENTITY: Target = Target { name: "stored_entity", run: entity, seeds: stored };
/// A change record: the first byte is its kind.
pub(crate) const CHANGES: Target = Target { name: "entity_changes", run: changes, seeds: records };

fn stored() -> Vec<Vec<u8>> {
    let bodies = [
        r#"{"id": "urn:x:1", "type": "Station", "scope": "/a", "pm10": [{"value": 1, "unitCode": "GQ"}, {"value": "x", "datasetId": "urn:d:1"}]}"#,
        r#"{"id": "urn:x:2", "type": "Station", "expiresAt": "2030-01-01T00:00:00Z", "name": {"value": {"a": [1]}, "pm10": {"object": "urn:x:1"}}}"#,
    ];
    bodies.iter().filter_map(|body| ngsi_ld::stored(body)).collect()
}

fn records() -> Vec<Vec<u8>> {
    vec![vec![1, 0, 1, 3, b'a', b':', b'b', 1, 1, 1, 2], vec![2, 0, 2, 1, b'a', 1, 1, 0, 0, 0]]
}

fn entity(bytes: &[u8]) {
    let Ok(view) = EntityView::parse(bytes) else { return };
    let _ = (view.id(), view.types().count(), view.scopes().count(), view.scoped_at(), view.expires_at());
    let _ = (view.created_at(), view.modified_at(), view.is_transient(), view.attribute(TermId(3)));
    view.attributes().for_each(|attribute| exhaust(&attribute, 0));
    let _ = index_rows(&view, &Indexed::All);
}

fn exhaust(attribute: &AttributeView<'_>, depth: usize) {
    let _ =
        (attribute.bytes(), attribute.name(), attribute.instance(None), attribute.instance(Some("urn:d")));
    for instance in attribute.instances() {
        let _ = (
            instance.kind(),
            instance.value(),
            instance.dataset(),
            instance.unit_code(),
            instance.observed_at(),
        );
        let _ =
            (instance.created_at(), instance.modified_at(), instance.expires_at(), instance.extras().count());
        if depth < 8 {
            instance.members().for_each(|member| exhaust(&member, depth + 1));
        }
    }
}

fn changes(bytes: &[u8]) {
    let Some((kind, payload)) = bytes.split_first() else { return };
    let payload = Bytes::copy_from_slice(payload);
    let _ = change_records(&ChangeRecord::new(keys::MODEL, feed::FORMAT, *kind, payload)).count();
}
