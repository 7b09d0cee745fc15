//! What users note beside a part of a schema: JSON values under names.

use std::collections::BTreeMap;

use store::wire::{Malformed, Reader, put_text, put_varint};

/// The name under which the moment of a part's creation is noted.
const CREATE_TIME: &str = "~create_time";
/// The value that takes nothing.
const NULL: &str = "null";

/// JSON texts by name, in the order of the names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct UserData {
    values: BTreeMap<Box<str>, Box<str>>,
}

impl UserData {
    /// Notes a value, which is JSON text; one of the name that is there goes.
    pub fn put(&mut self, name: &str, json: &str) {
        self.values.insert(name.into(), json.into());
    }

    /// The JSON text under a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|json| &**json)
    }

    /// Names and JSON texts, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, json)| (&**name, &**json))
    }

    /// Whether nothing is noted.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(super) fn has_null(&self) -> bool {
        self.values.values().any(|json| &**json == NULL)
    }

    /// Notes all that `other` has.
    pub(super) fn append(&mut self, other: &Self) {
        self.values.extend(other.values.iter().map(|(name, json)| (name.clone(), json.clone())));
    }

    /// Removes what has a name that `other` has.
    pub(super) fn eliminate(&mut self, other: &Self) {
        self.values.retain(|name, _| !other.values.contains_key(name));
    }

    /// With the moment of creation, unless one is noted.
    pub(super) fn with_create_time(&self, json: &str) -> Self {
        let mut values = self.values.clone();
        values.entry(CREATE_TIME.into()).or_insert_with(|| json.into());
        Self { values }
    }

    /// How many bytes names and values have.
    pub(super) fn bytes(&self) -> usize {
        self.values.iter().map(|(name, json)| name.len() + json.len()).sum()
    }

    pub(super) fn put_to(&self, out: &mut Vec<u8>) {
        put_varint(out, self.values.len() as u64);
        for (name, json) in &self.values {
            put_text(out, name);
            put_text(out, json);
        }
    }

    pub(super) fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut values = BTreeMap::new();
        for _ in 0..reader.count()? {
            let (name, json) = (reader.text()?, reader.text()?);
            values.insert(name.into(), json.into());
        }
        Ok(Self { values })
    }
}
