//! Edge labels: made, changed, removed; parents know the links and sort keys of their sub labels.

use std::sync::Arc;

use super::Schema;
use super::check::{check_name, check_number_given, check_unique, named};
use super::drafts::{Creation, EdgeLabelDraft};
use super::edit::{Edit, Outcome, SchemaChange};
use super::error::SchemaError;
use super::kinds::{EdgeLabelKind, Frequency, SchemaKind};
use super::labels::{IdentityKeys, check_eliminated, update_refused};
use super::parts::{EdgeLabel, IndexBase, Link, SchemaPart};
use super::property_keys::{existed, not_found};
use crate::numbers::{LabelId, PropertyKeyId};

const KIND: SchemaKind = SchemaKind::EdgeLabel;

fn identity(keys: &[PropertyKeyId]) -> IdentityKeys<'_> {
    IdentityKeys { kind: KIND, what: "sortKeys", keys }
}

impl Schema {
    /// Makes an edge label; a sub label's link and sort keys become known to its parent.
    ///
    /// # Errors
    ///
    /// [`SchemaError`].
    pub fn create_edge_label(
        &self,
        draft: &EdgeLabelDraft,
        creation: &Creation<'_>,
    ) -> Result<Outcome<EdgeLabel>, SchemaError> {
        let name = &draft.label.name;
        check_name(name)?;
        check_unique(&draft.sort_keys, "sort keys")?;
        let parent = self.parent_of(draft)?;
        if let Some(known) = self.edge_label_named(name) {
            if draft.label.check_exist || !self.is_same_edge_label(draft, known)? {
                return Err(existed(KIND, name));
            }
            return Ok(Outcome { part: known.clone(), change: None });
        }
        check_number_given(draft.label.id, creation)?;
        let links = self.links_of(draft)?;
        self.key_set_named(&draft.label.properties)?;
        let frequency = frequency(draft)?;
        let sort_keys = self.keys_named(&draft.sort_keys)?;
        let mut label = self.new_label(&draft.label, &identity(&sort_keys), creation)?;
        self.check_ttl(draft, &links)?;
        let mut edit = Edit::of(self);
        label.id = LabelId(edit.number(KIND, draft.label.id, creation)?);
        let label = Arc::new(EdgeLabel {
            label,
            kind: draft.kind,
            parent: parent.map(|parent| parent.id),
            links: links.into(),
            frequency,
            sort_keys: sort_keys.into(),
        });
        if let Some(parent) = parent {
            edit.put(SchemaPart::EdgeLabel(self.with_sub_label(parent, &label)?.into()));
        }
        edit.put(SchemaPart::EdgeLabel(label.clone()));
        Ok(Outcome { part: label, change: Some(edit.finish()) })
    }

    /// Adds properties, which are to be nullable, to an edge label, makes properties nullable, and notes more beside it.
    ///
    /// # Errors
    ///
    /// [`SchemaError`].
    pub fn append_edge_label(&self, draft: &EdgeLabelDraft) -> Result<Outcome<EdgeLabel>, SchemaError> {
        let known = self.edge_label_to_change(draft)?;
        let label = self.appended(&known.label, &draft.label, &identity(&known.sort_keys))?;
        Ok(self.changed_edge_label(EdgeLabel { label, ..EdgeLabel::clone(known) }))
    }

    /// Removes what is noted beside an edge label under the names of the draft.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NothingToChange`], [`SchemaError::NotAllowed`].
    pub fn eliminate_edge_label(&self, draft: &EdgeLabelDraft) -> Result<Outcome<EdgeLabel>, SchemaError> {
        let mut label = EdgeLabel::clone(self.edge_label_to_change(draft)?);
        check_eliminated(&draft.label, KIND)?;
        label.label.user_data.eliminate(&draft.label.user_data);
        Ok(self.changed_edge_label(label))
    }

    /// Removes an edge label with its indexes. Its edges are hidden from then on.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NotFound`]; [`SchemaError::NotAllowed`] for a parent that has sub labels.
    pub fn remove_edge_label(&self, name: &str) -> Result<SchemaChange, SchemaError> {
        let label = self.edge_label_named(name).ok_or_else(|| not_found(KIND, name))?;
        if let Some(sub) = self.sub_labels(label.id).next() {
            return Err(SchemaError::not_allowed(format!(
                "Not allowed to remove a parent edge label: '{name}' because the sub edge label '{}' is still existing",
                sub.name
            )));
        }
        let mut edit = Edit::of(self);
        edit.remove_indexes(IndexBase::Edge(label.id));
        edit.remove(SchemaPart::EdgeLabel(label.clone()));
        if let Some(parent) = label.parent.and_then(|parent| self.edge_label(parent)) {
            let left = edit.schema().sub_labels(parent.id).flat_map(|sub| sub.links.iter().copied());
            let mut parent = EdgeLabel::clone(parent);
            parent.links = in_order(left);
            edit.put(SchemaPart::EdgeLabel(parent.into()));
        }
        Ok(edit.finish())
    }

    /// The parent that a draft names.
    fn parent_of(&self, draft: &EdgeLabelDraft) -> Result<Option<&Arc<EdgeLabel>>, SchemaError> {
        if draft.kind != EdgeLabelKind::Sub {
            return Ok(None);
        }
        let Some(parent) = &draft.parent else {
            return Err(SchemaError::invalid(
                "When creating a subtype edgeLabel, the edgeLabel name of the parent type edgeLabel must be entered",
            ));
        };
        let Some(parent) = self.edge_label_named(parent) else {
            let name = &draft.label.name;
            let text = format!(
                "Can't create subtype edge label '{name}' since it's parent edge label doesn't exist"
            );
            return Err(SchemaError::NothingToChange(text.into()));
        };
        if parent.kind != EdgeLabelKind::Parent {
            let (name, parent) = (&draft.label.name, &parent.name);
            return Err(SchemaError::invalid(format!(
                "The edge label '{parent}' can't be the parent of '{name}', it is not of type PARENT"
            )));
        }
        Ok(Some(parent))
    }

    /// The links of a draft.
    fn links_of(&self, draft: &EdgeLabelDraft) -> Result<Vec<Link>, SchemaError> {
        match draft.kind {
            EdgeLabelKind::Parent if !draft.links.is_empty() => {
                return Err(SchemaError::invalid("The links of the parent edge label must be empty"));
            }
            EdgeLabelKind::Parent => {}
            EdgeLabelKind::Normal | EdgeLabelKind::Sub | EdgeLabelKind::General => {
                if draft.links.is_empty() {
                    return Err(SchemaError::invalid(
                        "The links of standard and subtype edge label can't be empty",
                    ));
                }
                if draft.links.len() > 1 {
                    return Err(SchemaError::invalid(
                        "The links size of standard and subtype edge label must be 1",
                    ));
                }
            }
        }
        let find = |end: &str, label: &str| {
            let known = self.vertex_label_named(label).map(|label| label.id);
            known.ok_or_else(|| {
                let name = &draft.label.name;
                SchemaError::invalid(format!("Undefined {end} vertex label '{label}' in edge label '{name}'"))
            })
        };
        let links = draft.links.iter().map(|(source, target)| {
            Ok(Link { source: find("source", source)?, target: find("target", target)? })
        });
        Ok(in_order(links.collect::<Result<Vec<_>, SchemaError>>()?).into())
    }

    /// A parent that knows a sub label.
    fn with_sub_label(&self, parent: &EdgeLabel, sub: &EdgeLabel) -> Result<EdgeLabel, SchemaError> {
        let mut parent = parent.clone();
        parent.links = in_order(parent.links.iter().chain(&sub.links).copied());
        if parent.sort_keys.is_empty() {
            parent.sort_keys.clone_from(&sub.sort_keys);
        } else if parent.sort_keys != sub.sort_keys {
            let (known, new) = (self.listed(&parent.sort_keys), self.listed(&sub.sort_keys));
            return Err(SchemaError::invalid(format!(
                "The sortKeys of each sub edgelabel need to be consistent. Currently, the sortKeys of already exist \
                 edgelabel are '{known}', and the sortKeys of newly added sub edgelabel are '{new}'"
            )));
        }
        Ok(parent)
    }

    /// Edges live no longer than the vertices at their ends.
    fn check_ttl(&self, draft: &EdgeLabelDraft, links: &[Link]) -> Result<(), SchemaError> {
        let ttl = draft.label.ttl_ms.cast_unsigned();
        for link in links.iter().filter(|_| ttl > 0) {
            let end = |label| self.vertex_label(label).expect("it was found by name");
            let (source, target) = (end(link.source), end(link.target));
            if [source, target].into_iter().any(|end| end.ttl_ms > 0 && ttl > end.ttl_ms) {
                return Err(SchemaError::invalid(format!(
                    "The ttl({ttl}) of edge label '{}' should less than ttl({}) of source label '{}' and ttl({}) of \
                     target label '{}'",
                    draft.label.name, source.ttl_ms, source.name, target.ttl_ms, target.name
                )));
            }
        }
        Ok(())
    }

    fn is_same_edge_label(&self, draft: &EdgeLabelDraft, known: &EdgeLabel) -> Result<bool, SchemaError> {
        let is_drafted = |link: &Link| {
            let name = |label| &*self.vertex_label(label).expect("a label with links is not removed").name;
            let (source, target) = (name(link.source), name(link.target));
            draft.links.iter().any(|drafted| *drafted.0 == *source && *drafted.1 == *target)
        };
        // A parent has the links and sort keys of its sub labels.
        if known.kind != EdgeLabelKind::Parent {
            let mut sort_keys = known.sort_keys.to_vec();
            sort_keys.sort_unstable();
            if !known.links.iter().all(is_drafted) || self.key_set_named(&draft.sort_keys)? != sort_keys {
                return Ok(false);
            }
        }
        Ok(draft.kind == known.kind
            && draft.frequency.unwrap_or(Frequency::Single) == known.frequency
            && self.is_same_label(&draft.label, known)?)
    }

    fn edge_label_to_change(&self, draft: &EdgeLabelDraft) -> Result<&EdgeLabel, SchemaError> {
        let name = &draft.label.name;
        let known = self.edge_label_named(name).ok_or_else(|| SchemaError::nothing_to_change(KIND, name))?;
        if !draft.links.is_empty() {
            return Err(SchemaError::not_allowed(format!(
                "Not allowed to update source/target label for edge label '{name}', it must be null"
            )));
        }
        if draft.frequency.is_some() {
            return Err(update_refused("frequency", KIND, name));
        }
        if !draft.sort_keys.is_empty() {
            return Err(update_refused("sort keys", KIND, name));
        }
        if draft.label.enable_label_index.is_some() {
            return Err(update_refused("enable_label_index", KIND, name));
        }
        Ok(known)
    }

    fn changed_edge_label(&self, label: EdgeLabel) -> Outcome<EdgeLabel> {
        let (mut edit, label) = (Edit::of(self), Arc::new(label));
        edit.put(SchemaPart::EdgeLabel(label.clone()));
        Outcome { part: label, change: Some(edit.finish()) }
    }
}

/// How many edges of a drafted label there may be; its sort keys go with that.
fn frequency(draft: &EdgeLabelDraft) -> Result<Frequency, SchemaError> {
    let (name, properties, keys) = (&draft.label.name, &draft.label.properties, &draft.sort_keys);
    let frequency = draft.frequency.unwrap_or(Frequency::Single);
    match (frequency, keys.is_empty()) {
        (Frequency::Single, true) => return Ok(frequency),
        (Frequency::Single, false) => {
            return Err(SchemaError::invalid(
                "EdgeLabel can't contain sortKeys when the cardinality property is single",
            ));
        }
        (Frequency::Multiple, true) => {
            return Err(SchemaError::invalid(
                "EdgeLabel must contain sortKeys when the cardinality property is multiple",
            ));
        }
        (Frequency::Multiple, false) => {}
    }
    if properties.is_empty() {
        return Err(SchemaError::invalid(format!(
            "The properties can't be empty when exist sort keys for edge label '{name}'"
        )));
    }
    if let Some(key) = keys.iter().find(|key| !properties.contains(key)) {
        let properties = named(properties);
        return Err(SchemaError::invalid(format!(
            "The sort key '{key}' must be contained in properties '{properties}' for edge label '{name}'"
        )));
    }
    Ok(frequency)
}

/// Links in order, each once.
fn in_order(links: impl IntoIterator<Item = Link>) -> Box<[Link]> {
    let mut links: Vec<Link> = links.into_iter().collect();
    links.sort_unstable();
    links.dedup();
    links.into()
}
