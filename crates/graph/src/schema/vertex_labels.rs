//! Vertex labels: made, changed, removed.

use std::sync::Arc;

use super::Schema;
use super::check::{check_name, check_number_given, check_unique, named};
use super::drafts::{Creation, VertexLabelDraft};
use super::edit::{Edit, Outcome, SchemaChange};
use super::error::SchemaError;
use super::kinds::{IdStrategy, SchemaKind};
use super::labels::{IdentityKeys, check_eliminated, update_refused};
use super::parts::{IndexBase, SchemaPart, VertexLabel};
use super::property_keys::{existed, not_found};
use crate::numbers::{LabelId, PropertyKeyId};

const KIND: SchemaKind = SchemaKind::VertexLabel;

fn identity(keys: &[PropertyKeyId]) -> IdentityKeys<'_> {
    IdentityKeys { kind: KIND, what: "primaryKeys", keys }
}

impl Schema {
    /// Makes a vertex label.
    ///
    /// # Errors
    ///
    /// [`SchemaError`].
    pub fn create_vertex_label(
        &self,
        draft: &VertexLabelDraft,
        creation: &Creation<'_>,
    ) -> Result<Outcome<VertexLabel>, SchemaError> {
        let name = &draft.label.name;
        check_name(name)?;
        check_unique(&draft.primary_keys, "primary keys")?;
        if let Some(known) = self.vertex_label_named(name) {
            if draft.label.check_exist || !self.is_same_vertex_label(draft, known)? {
                return Err(existed(KIND, name));
            }
            return Ok(Outcome { part: known.clone(), change: None });
        }
        check_number_given(draft.label.id, creation)?;
        self.key_set_named(&draft.label.properties)?;
        let id_strategy = id_strategy(draft)?;
        let primary_keys = self.keys_named(&draft.primary_keys)?;
        let mut label = self.new_label(&draft.label, &identity(&primary_keys), creation)?;
        let mut edit = Edit::of(self);
        label.id = LabelId(edit.number(KIND, draft.label.id, creation)?);
        let label = Arc::new(VertexLabel { label, id_strategy, primary_keys: primary_keys.into() });
        edit.put(SchemaPart::VertexLabel(label.clone()));
        Ok(Outcome { part: label, change: Some(edit.finish()) })
    }

    /// Adds properties, which are to be nullable, to a vertex label, makes properties nullable, and notes more beside it.
    ///
    /// # Errors
    ///
    /// [`SchemaError`].
    pub fn append_vertex_label(&self, draft: &VertexLabelDraft) -> Result<Outcome<VertexLabel>, SchemaError> {
        let known = self.vertex_label_to_change(draft)?;
        let label = self.appended(&known.label, &draft.label, &identity(&known.primary_keys))?;
        Ok(self.changed_vertex_label(VertexLabel { label, ..VertexLabel::clone(known) }))
    }

    /// Removes what is noted beside a vertex label under the names of the draft.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NothingToChange`], [`SchemaError::NotAllowed`].
    pub fn eliminate_vertex_label(
        &self,
        draft: &VertexLabelDraft,
    ) -> Result<Outcome<VertexLabel>, SchemaError> {
        let mut label = VertexLabel::clone(self.vertex_label_to_change(draft)?);
        check_eliminated(&draft.label, KIND)?;
        label.label.user_data.eliminate(&draft.label.user_data);
        Ok(self.changed_vertex_label(label))
    }

    /// Removes a vertex label with its indexes. Its vertices are hidden from then on.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NotFound`]; [`SchemaError::InUse`] if an edge label links with it.
    pub fn remove_vertex_label(&self, name: &str) -> Result<SchemaChange, SchemaError> {
        let label = self.vertex_label_named(name).ok_or_else(|| not_found(KIND, name))?;
        if let Some(edges) = self.edge_labels().find(|edges| edges.touches(label.id)) {
            let text = format!(
                "Not allowed to remove vertex label '{name}' because the edge label '{}' still link with it",
                edges.name
            );
            return Err(SchemaError::InUse(text.into()));
        }
        let mut edit = Edit::of(self);
        edit.remove_indexes(IndexBase::Vertex(label.id));
        edit.remove(SchemaPart::VertexLabel(label.clone()));
        Ok(edit.finish())
    }

    fn is_same_vertex_label(
        &self,
        draft: &VertexLabelDraft,
        known: &VertexLabel,
    ) -> Result<bool, SchemaError> {
        let mut primary_keys = known.primary_keys.to_vec();
        primary_keys.sort_unstable();
        Ok(self.is_same_label(&draft.label, known)?
            && self.key_set_named(&draft.primary_keys)? == primary_keys)
    }

    fn vertex_label_to_change(&self, draft: &VertexLabelDraft) -> Result<&VertexLabel, SchemaError> {
        let name = &draft.label.name;
        let known =
            self.vertex_label_named(name).ok_or_else(|| SchemaError::nothing_to_change(KIND, name))?;
        if !draft.primary_keys.is_empty() {
            return Err(update_refused("primary keys", KIND, name));
        }
        if draft.id_strategy != IdStrategy::Default {
            return Err(update_refused("id strategy", KIND, name));
        }
        if draft.label.enable_label_index.is_some() {
            return Err(update_refused("enable_label_index", KIND, name));
        }
        Ok(known)
    }

    fn changed_vertex_label(&self, label: VertexLabel) -> Outcome<VertexLabel> {
        let (mut edit, label) = (Edit::of(self), Arc::new(label));
        edit.put(SchemaPart::VertexLabel(label.clone()));
        Outcome { part: label, change: Some(edit.finish()) }
    }
}

/// Where the ids of vertices of a drafted label come from.
fn id_strategy(draft: &VertexLabelDraft) -> Result<IdStrategy, SchemaError> {
    let (keys, strategy) = (&draft.primary_keys, draft.id_strategy);
    let strategy = match strategy {
        IdStrategy::Default if keys.is_empty() => IdStrategy::Automatic,
        IdStrategy::Default => IdStrategy::PrimaryKey,
        IdStrategy::PrimaryKey if keys.is_empty() => {
            return Err(SchemaError::invalid(format!(
                "Must assign some primary keys when using '{strategy}' id strategy"
            )));
        }
        IdStrategy::PrimaryKey => IdStrategy::PrimaryKey,
        IdStrategy::Automatic
        | IdStrategy::CustomizeString
        | IdStrategy::CustomizeNumber
        | IdStrategy::CustomizeUuid => {
            if !keys.is_empty() {
                return Err(SchemaError::invalid(format!(
                    "Not allowed to assign primary keys when using '{strategy}' id strategy"
                )));
            }
            strategy
        }
    };
    let (name, properties) = (&draft.label.name, &draft.label.properties);
    if strategy == IdStrategy::PrimaryKey && properties.is_empty() {
        return Err(SchemaError::invalid(format!(
            "The properties of vertex label '{name}' can't be empty when id strategy is '{strategy}'"
        )));
    }
    if let Some(key) = keys.iter().find(|key| !properties.contains(key)) {
        let properties = named(properties);
        return Err(SchemaError::invalid(format!(
            "The primary key '{key}' of vertex label '{name}' must be contained in properties: {properties}"
        )));
    }
    Ok(strategy)
}
