//! Property keys: made, changed, removed.

use std::sync::Arc;

use super::Schema;
use super::check::{check_name, check_number_given, check_user_data};
use super::drafts::{Creation, PropertyKeyDraft};
use super::edit::{Edit, Outcome, SchemaChange};
use super::error::SchemaError;
use super::kinds::{AggregateType, SchemaKind, SchemaStatus, WriteType};
use super::parts::{PropertyKey, SchemaPart};
use crate::numbers::PropertyKeyId;
use crate::value::{Cardinality, DataType};

const KIND: SchemaKind = SchemaKind::PropertyKey;

impl Schema {
    /// Makes a property key.
    ///
    /// # Errors
    ///
    /// [`SchemaError`].
    pub fn create_property_key(
        &self,
        draft: &PropertyKeyDraft,
        creation: &Creation<'_>,
    ) -> Result<Outcome<PropertyKey>, SchemaError> {
        check_name(&draft.name)?;
        if let Some(known) = self.property_key_named(&draft.name) {
            if draft.check_exist || !is_same(draft, known) {
                return Err(existed(KIND, &draft.name));
            }
            return Ok(Outcome { part: known.clone(), change: None });
        }
        check_number_given(draft.id, creation)?;
        let user_data = draft.user_data.with_create_time(creation.created);
        check_user_data(&draft.user_data, &user_data)?;
        check_aggregate_type(draft)?;
        check_write_type(draft)?;
        let mut edit = Edit::of(self);
        let key = Arc::new(PropertyKey {
            id: PropertyKeyId(edit.number(KIND, draft.id, creation)?),
            name: (*draft.name).into(),
            data_type: draft.data_type,
            cardinality: draft.cardinality,
            aggregate_type: draft.aggregate_type,
            write_type: draft.write_type,
            user_data,
            status: SchemaStatus::Created,
        });
        edit.put(SchemaPart::PropertyKey(key.clone()));
        Ok(Outcome { part: key, change: Some(edit.finish()) })
    }

    /// Notes more beside a property key.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NothingToChange`], [`SchemaError::NotAllowed`], [`SchemaError::Limit`].
    pub fn append_property_key(&self, draft: &PropertyKeyDraft) -> Result<Outcome<PropertyKey>, SchemaError> {
        let mut key = self.property_key_to_change(draft)?;
        key.user_data.append(&draft.user_data);
        check_user_data(&draft.user_data, &key.user_data)?;
        Ok(self.changed_property_key(key))
    }

    /// Removes what is noted beside a property key under the names of the draft.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NothingToChange`], [`SchemaError::NotAllowed`].
    pub fn eliminate_property_key(
        &self,
        draft: &PropertyKeyDraft,
    ) -> Result<Outcome<PropertyKey>, SchemaError> {
        let mut key = self.property_key_to_change(draft)?;
        key.user_data.eliminate(&draft.user_data);
        Ok(self.changed_property_key(key))
    }

    /// Removes a property key, and the indexes on it.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NotFound`]; [`SchemaError::NotAllowed`] if a label has it.
    pub fn remove_property_key(&self, name: &str) -> Result<SchemaChange, SchemaError> {
        let key = self.property_key_named(name).ok_or_else(|| not_found(KIND, name))?;
        let labels = self.vertex_labels().map(|label| (SchemaKind::VertexLabel, &label.label));
        let labels = labels.chain(self.edge_labels().map(|label| (SchemaKind::EdgeLabel, &label.label)));
        for (kind, label) in labels {
            if label.has_property(key.id) {
                let (kind, label) = (kind.readable_name(), &label.name);
                return Err(SchemaError::not_allowed(format!(
                    "Not allowed to remove property key: '{name}' because the {kind} '{label}' is still using it."
                )));
            }
        }
        let mut edit = Edit::of(self);
        for index in self.index_labels().filter(|index| index.fields.contains(&key.id)) {
            edit.remove(SchemaPart::IndexLabel(index.clone()));
        }
        edit.remove(SchemaPart::PropertyKey(key.clone()));
        Ok(edit.finish())
    }

    /// A copy of the property key that is to be changed.
    fn property_key_to_change(&self, draft: &PropertyKeyDraft) -> Result<PropertyKey, SchemaError> {
        let name = &draft.name;
        let key = self.property_key_named(name).ok_or_else(|| SchemaError::nothing_to_change(KIND, name))?;
        let refuse = |what: &str| {
            Err(SchemaError::not_allowed(format!("Not allowed to update {what} for property key '{name}'")))
        };
        if draft.data_type != DataType::Text {
            return refuse("data type");
        }
        if draft.cardinality != Cardinality::Single {
            return refuse("cardinality");
        }
        Ok(PropertyKey::clone(key))
    }

    fn changed_property_key(&self, key: PropertyKey) -> Outcome<PropertyKey> {
        let (mut edit, key) = (Edit::of(self), Arc::new(key));
        edit.put(SchemaPart::PropertyKey(key.clone()));
        Outcome { part: key, change: Some(edit.finish()) }
    }
}

pub(super) fn existed(kind: SchemaKind, name: &str) -> SchemaError {
    SchemaError::Existed { what: kind.readable_name().into(), name: name.into() }
}

pub(super) fn not_found(kind: SchemaKind, name: &str) -> SchemaError {
    SchemaError::NotFound { kind, name: name.into() }
}

fn is_same(draft: &PropertyKeyDraft, known: &PropertyKey) -> bool {
    draft.data_type == known.data_type
        && draft.cardinality == known.cardinality
        && draft.aggregate_type == known.aggregate_type
        && draft.write_type == known.write_type
}

fn check_aggregate_type(draft: &PropertyKeyDraft) -> Result<(), SchemaError> {
    let PropertyKeyDraft { name, data_type, cardinality, aggregate_type, .. } = draft;
    match (aggregate_type, cardinality) {
        (AggregateType::None, _)
        | (AggregateType::Set, Cardinality::Set)
        | (AggregateType::List, Cardinality::List) => return Ok(()),
        _ => {}
    }
    let refused =
        format!("Not allowed to set aggregate type '{aggregate_type}' for property key '{name}' with");
    if *cardinality != Cardinality::Single || aggregate_type.is_union() {
        return Err(SchemaError::not_allowed(format!("{refused} cardinality '{cardinality}'")));
    }
    let is_date = *data_type == DataType::Date;
    let is_sum_of_dates = *aggregate_type == AggregateType::Sum && is_date;
    if is_sum_of_dates || aggregate_type.is_number() && !data_type.is_number() && !is_date {
        return Err(SchemaError::not_allowed(format!("{refused} data type '{data_type}'")));
    }
    Ok(())
}

fn check_write_type(draft: &PropertyKeyDraft) -> Result<(), SchemaError> {
    let PropertyKeyDraft { name, data_type, aggregate_type, write_type, .. } = draft;
    if !write_type.is_olap() {
        return Ok(());
    }
    if *aggregate_type != AggregateType::None {
        return Err(SchemaError::not_allowed(format!(
            "Not allowed to set aggregate type '{aggregate_type}' for olap property key '{name}'"
        )));
    }
    if *write_type == WriteType::OlapRange && !data_type.is_number() && *data_type != DataType::Date {
        return Err(SchemaError::not_allowed(format!(
            "Not allowed to set write type to OLAP_RANGE for property key '{name}' with data type '{data_type}'"
        )));
    }
    Ok(())
}
