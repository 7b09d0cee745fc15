//! What commits say of themselves, and whose words these are: one envelope for all models, so that none reads what
//! another has written.

use bytes::Bytes;

/// A model whose commits say what they changed; declared once in its `keys.rs`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Model {
    /// The number in the change record; stored, so never reused.
    pub id: u8,
    /// For people, and to tell two models of one number.
    pub name: &'static str,
}

/// Bytes of an envelope: model, format, kind.
const ENVELOPE_BYTES: usize = 3;

/// What a commit says of itself: an envelope, the same for all models, and a payload, which only its model reads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChangeRecord {
    model: Model,
    format: u8,
    kind: u8,
    payload: Bytes,
}

/// A change record as its own model reads it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OwnRecord<'a> {
    /// How the payload is laid out.
    pub format: u8,
    /// Which kind of record of this format; meaning is the model's own.
    pub kind: u8,
    /// The rest; shares memory with the page of the feed.
    pub payload: &'a Bytes,
}

impl ChangeRecord {
    /// What a commit of `model` says.
    pub fn new(model: Model, format: u8, kind: u8, payload: impl Into<Bytes>) -> Self {
        Self { model, format, kind, payload: payload.into() }
    }

    /// Whose it is.
    pub fn model(&self) -> Model {
        self.model
    }

    /// The record, if it is of this model.
    pub fn of(&self, model: Model) -> Option<OwnRecord<'_>> {
        let Self { format, kind, payload, .. } = self;
        (self.model == model).then_some(OwnRecord { format: *format, kind: *kind, payload })
    }

    /// Bytes that it takes: envelope and payload.
    #[inline]
    pub fn bytes(&self) -> usize {
        ENVELOPE_BYTES + self.payload.len()
    }

    /// Bytes of the payload alone.
    pub(crate) fn payload(&self) -> &Bytes {
        &self.payload
    }
}

/// Appends a record as it is stored. For engines: models read their own alone ([`ChangeRecord::of`]).
pub fn put_record(record: &ChangeRecord, out: &mut Vec<u8>) {
    out.extend_from_slice(&[record.model.id, record.format, record.kind]);
    out.extend_from_slice(&record.payload);
}

/// The record stored in these bytes, which it shares; `None` if its model was never used, which `model_of` says.
pub fn parse_record(mut bytes: Bytes, model_of: impl FnOnce(u8) -> Option<Model>) -> Option<ChangeRecord> {
    let [model, format, kind] = *bytes.first_chunk()?;
    let payload = bytes.split_off(ENVELOPE_BYTES);
    Some(ChangeRecord { model: model_of(model)?, format, kind, payload })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Model = Model { id: 1, name: "one" };
    const OTHER: Model = Model { id: 1, name: "other" };

    #[test]
    fn a_record_is_read_by_its_model_alone() {
        let model_of = |id| (id == ONE.id).then_some(ONE);
        let record = ChangeRecord::new(ONE, 7, 8, "said");
        let mut stored = Vec::new();
        put_record(&record, &mut stored);
        assert_eq!(stored.len(), record.bytes());
        let read = parse_record(stored.clone().into(), model_of).unwrap();
        assert_eq!(read, record);
        let own = read.of(ONE).unwrap();
        assert_eq!((own.format, own.kind, &own.payload[..]), (7, 8, &b"said"[..]));
        for model in [OTHER, Model { id: 2, ..ONE }] {
            assert_eq!(read.of(model), None);
        }
        for bytes in [&[][..], &stored[..2], &[2, 7, 8]] {
            assert_eq!(parse_record(Bytes::copy_from_slice(bytes), model_of), None);
        }
    }
}
