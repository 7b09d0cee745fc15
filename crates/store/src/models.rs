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
    pub(crate) fn bytes(&self) -> usize {
        ENVELOPE_BYTES + self.payload.len()
    }

    /// Bytes of the payload alone.
    pub(crate) fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Appends it as it is stored.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.model.id, self.format, self.kind]);
        out.extend_from_slice(&self.payload);
    }

    /// The record stored in these bytes, which it shares; `None` if they are none of a model that was ever used, which is what
    /// `model_of` tells.
    pub(crate) fn parse(mut bytes: Bytes, model_of: impl FnOnce(u8) -> Option<Model>) -> Option<Self> {
        let [model, format, kind] = *bytes.first_chunk()?;
        let payload = bytes.split_off(ENVELOPE_BYTES);
        Some(Self { model: model_of(model)?, format, kind, payload })
    }
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
        record.put(&mut stored);
        assert_eq!(stored.len(), record.bytes());
        let read = ChangeRecord::parse(stored.clone().into(), model_of).unwrap();
        assert_eq!(read, record);
        let own = read.of(ONE).unwrap();
        assert_eq!((own.format, own.kind, &own.payload[..]), (7, 8, &b"said"[..]));
        for model in [OTHER, Model { id: 2, ..ONE }] {
            assert_eq!(read.of(model), None);
        }
        for bytes in [&[][..], &stored[..2], &[2, 7, 8]] {
            assert_eq!(ChangeRecord::parse(Bytes::copy_from_slice(bytes), model_of), None);
        }
    }
}
