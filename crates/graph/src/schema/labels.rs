//! What holds of vertex labels and edge labels alike.

use super::Schema;
use super::check::{check_user_data, named};
use super::drafts::{Creation, LabelDraft};
use super::error::SchemaError;
use super::kinds::{SchemaKind, SchemaStatus};
use super::parts::Label;
use crate::numbers::{LabelId, PropertyKeyId};
use crate::value::DataType;

/// The properties of which elements of a label are made, and may not be without: primary keys or sort keys.
pub(super) struct IdentityKeys<'a> {
    pub(super) kind: SchemaKind,
    /// How messages call them.
    pub(super) what: &'static str,
    pub(super) keys: &'a [PropertyKeyId],
}

impl Schema {
    /// The label of a checked draft, with a number to be set.
    pub(super) fn new_label(
        &self,
        draft: &LabelDraft,
        identity: &IdentityKeys<'_>,
        creation: &Creation<'_>,
    ) -> Result<Label, SchemaError> {
        let properties = self.key_set_named(&draft.properties)?;
        let nullable_keys = self.nullable_keys(draft, &[], identity)?;
        let user_data = draft.user_data.with_create_time(creation.created);
        check_user_data(&draft.user_data, &user_data)?;
        Ok(Label {
            id: LabelId(0),
            name: (*draft.name).into(),
            properties: properties.into(),
            nullable_keys: nullable_keys.into(),
            ttl_ms: ttl(draft)?,
            ttl_start_time: self.ttl_start_time(draft, identity.kind)?,
            enable_label_index: draft.enable_label_index.unwrap_or(true),
            user_data,
            status: SchemaStatus::Created,
            indexes: Box::default(),
        })
    }

    /// The keys that an element may be without, of a label with the properties `origin` and those of the draft.
    fn nullable_keys(
        &self,
        draft: &LabelDraft,
        origin: &[PropertyKeyId],
        identity: &IdentityKeys<'_>,
    ) -> Result<Vec<PropertyKeyId>, SchemaError> {
        let appended = self.key_set_named(&draft.properties)?;
        let listed = named(&draft.nullable_keys);
        let mut nullable = Vec::new();
        for name in &draft.nullable_keys {
            let key = self.property_key_named(name).map(|key| key.id);
            let key = key.filter(|key| origin.contains(key) || appended.contains(key));
            nullable.push(key.ok_or_else(|| {
                let (origin, appended) = (self.listed(origin), named(&draft.properties));
                SchemaError::invalid(format!(
                    "The nullableKeys: {listed} to be created or appended must belong to the origin/new properties: \
                     {origin}/{appended}"
                ))
            })?);
        }
        if nullable.iter().any(|key| identity.keys.contains(key)) {
            let (keys, kind) = (self.listed(identity.keys), identity.kind.readable_name());
            let (what, name) = (identity.what, &draft.name);
            return Err(SchemaError::invalid(format!(
                "The nullableKeys: {listed} are not allowed to belong to {what}: {keys} of {kind} '{name}'"
            )));
        }
        nullable.sort_unstable();
        nullable.dedup();
        Ok(nullable)
    }

    /// A label with what a draft appends to it.
    pub(super) fn appended(
        &self,
        label: &Label,
        draft: &LabelDraft,
        identity: &IdentityKeys<'_>,
    ) -> Result<Label, SchemaError> {
        let properties = self.key_set_named(&draft.properties)?;
        let nullable = self.nullable_keys(draft, &label.properties, identity)?;
        let is_bare = |key: &PropertyKeyId| !label.has_property(*key) && !nullable.contains(key);
        if properties.iter().any(is_bare) {
            let added: Vec<_> = properties.into_iter().filter(|key| !label.has_property(*key)).collect();
            let added = self.listed(&added);
            return Err(SchemaError::invalid(format!("The new added properties: {added} must be nullable")));
        }
        let mut label = label.clone();
        label.properties = united(&label.properties, &properties);
        label.nullable_keys = united(&label.nullable_keys, &nullable);
        label.user_data.append(&draft.user_data);
        check_user_data(&draft.user_data, &label.user_data)?;
        Ok(label)
    }

    /// Whether a draft says of a label what it is, numbers and what users note aside.
    pub(super) fn is_same_label(&self, draft: &LabelDraft, known: &Label) -> Result<bool, SchemaError> {
        Ok(*self.key_set_named(&draft.properties)? == *known.properties
            && *self.key_set_named(&draft.nullable_keys)? == *known.nullable_keys
            && draft.enable_label_index.unwrap_or(true) == known.enable_label_index)
    }

    /// The property from whose date on elements live.
    fn ttl_start_time(
        &self,
        draft: &LabelDraft,
        kind: SchemaKind,
    ) -> Result<Option<PropertyKeyId>, SchemaError> {
        let Some(start) = &draft.ttl_start_time else { return Ok(None) };
        if draft.ttl_ms == 0 {
            return Err(SchemaError::invalid("Can't set ttl start time if ttl is not set"));
        }
        let (kind, label) = (kind.readable_name(), &draft.name);
        if draft.properties.is_empty() {
            return Err(SchemaError::invalid(format!(
                "The properties can't be empty when exist ttl start time for {kind} '{label}'"
            )));
        }
        if !draft.properties.contains(start) {
            let properties = named(&draft.properties);
            return Err(SchemaError::invalid(format!(
                "The ttl start time '{start}' must be contained in properties '{properties}' for {kind} '{label}'"
            )));
        }
        let key = self.property_key_named(start);
        let key = key.ok_or_else(|| SchemaError::undefined(SchemaKind::PropertyKey, start))?;
        if key.data_type != DataType::Date {
            let data_type = key.data_type;
            return Err(SchemaError::invalid(format!(
                "The ttl start time property must be date type,but got '{start}({data_type})'"
            )));
        }
        Ok(Some(key.id))
    }
}

fn ttl(draft: &LabelDraft) -> Result<u64, SchemaError> {
    u64::try_from(draft.ttl_ms)
        .map_err(|_| SchemaError::invalid(format!("The ttl must be >= 0, but got: {}", draft.ttl_ms)))
}

/// Two sets as one, in order.
fn united(first: &[PropertyKeyId], second: &[PropertyKeyId]) -> Box<[PropertyKeyId]> {
    let mut all: Vec<PropertyKeyId> = first.iter().chain(second).copied().collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

/// Refuses to take properties from a label, which cannot be.
pub(super) fn check_eliminated(draft: &LabelDraft, kind: SchemaKind) -> Result<(), SchemaError> {
    let what = match (draft.properties.is_empty(), draft.nullable_keys.is_empty()) {
        (false, _) => "properties",
        (true, false) => "nullableKeys",
        (true, true) => return Ok(()),
    };
    let kind = kind.readable_name();
    Err(SchemaError::not_allowed(format!("Not support to eliminate {what} for {kind} currently")))
}

/// Refuses to update what stays as it was made.
pub(super) fn update_refused(what: &str, kind: SchemaKind, name: &str) -> SchemaError {
    let kind = kind.readable_name();
    SchemaError::not_allowed(format!("Not allowed to update {what} for {kind} '{name}'"))
}
