//! What commits say of themselves, and whose words these are: one envelope for all models, so that none reads what
//! another has written.

use std::sync::OnceLock;

use bytes::Bytes;

use crate::{Error, ErrorKind};

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

    /// The record stored in these bytes, which it shares; `None` if they are none of a model that was ever used.
    pub(crate) fn parse(mut bytes: Bytes, models: &Models) -> Option<Self> {
        let [model, format, kind] = *bytes.first_chunk()?;
        let payload = bytes.split_off(ENVELOPE_BYTES);
        Some(Self { model: models.named(model)?, format, kind, payload })
    }
}

/// The models by number.
#[derive(Debug)]
pub(crate) struct Models {
    /// As the running program declares them.
    used: Box<[OnceLock<Model>]>,
    /// As an earlier run stored them.
    stored: Box<[OnceLock<Model>]>,
}

impl Models {
    pub(crate) fn new() -> Self {
        let none = || (0..=u8::MAX).map(|_| OnceLock::new()).collect();
        Self { used: none(), stored: none() }
    }

    /// Notes the use of a model.
    ///
    /// # Errors
    ///
    /// `Misuse` if another model has its number, in this run or an earlier one.
    pub(crate) fn learn(&self, model: Model) -> Result<(), Error> {
        let Some(slot) = self.used.get(usize::from(model.id)) else { return Ok(()) };
        let stored = || self.stored.get(usize::from(model.id)).and_then(OnceLock::get);
        if let Some(other) = slot.get().or_else(stored).filter(|other| other.name != model.name) {
            return Err(is_taken(model, *other));
        }
        match slot.get_or_init(|| model) {
            used if used.name == model.name => Ok(()),
            other => Err(is_taken(model, *other)),
        }
    }

    /// Notes what an earlier run stored.
    pub(crate) fn remember(&self, id: u8, name: &str) {
        if let Some(slot) = self.stored.get(usize::from(id)) {
            // Leaked on purpose: at most 256 short names for each opening of a store.
            slot.get_or_init(|| Model { id, name: Box::leak(name.to_owned().into_boxed_str()) });
        }
    }

    /// The model with this number, if any run used it.
    fn named(&self, id: u8) -> Option<Model> {
        let stored = self.stored.get(usize::from(id)).and_then(OnceLock::get);
        stored.or_else(|| self.used.get(usize::from(id)).and_then(OnceLock::get)).copied()
    }
}

fn is_taken(model: Model, other: Model) -> Error {
    let action = format!(
        "commit a change of model {} (`{}`): the number is that of `{}`",
        model.id, model.name, other.name
    );
    Error::new(ErrorKind::Misuse, action)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Model = Model { id: 1, name: "one" };
    const OTHER: Model = Model { id: 1, name: "other" };

    #[test]
    fn two_models_of_one_number_are_refused() {
        let models = Models::new();
        assert!(models.learn(ONE).is_ok() && models.learn(ONE).is_ok());
        assert_eq!(models.learn(OTHER).unwrap_err().kind(), ErrorKind::Misuse);
        let models = Models::new();
        models.remember(1, "other");
        let error = models.learn(ONE).unwrap_err().to_string();
        assert!(error.contains("model 1 (`one`): the number is that of `other`"), "{error}");
        assert!(models.learn(OTHER).is_ok());
    }

    #[test]
    fn a_record_is_read_by_its_model_alone() {
        let models = Models::new();
        models.learn(ONE).unwrap();
        let record = ChangeRecord::new(ONE, 7, 8, "said");
        let mut stored = Vec::new();
        record.put(&mut stored);
        assert_eq!(stored.len(), record.bytes());
        let read = ChangeRecord::parse(stored.clone().into(), &models).unwrap();
        assert_eq!(read, record);
        let own = read.of(ONE).unwrap();
        assert_eq!((own.format, own.kind, &own.payload[..]), (7, 8, &b"said"[..]));
        for model in [OTHER, Model { id: 2, ..ONE }] {
            assert_eq!(read.of(model), None);
        }
        for bytes in [&[][..], &stored[..2], &[2, 7, 8]] {
            assert_eq!(ChangeRecord::parse(Bytes::copy_from_slice(bytes), &models), None);
        }
    }
}
