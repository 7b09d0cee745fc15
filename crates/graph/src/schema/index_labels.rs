//! Index labels: made, changed, built, removed.

use std::sync::Arc;

use super::Schema;
use super::check::{check_name, check_number_given, check_unique, check_user_data, named};
use super::drafts::{Creation, IndexLabelDraft};
use super::edit::{Edit, Outcome, SchemaChange};
use super::error::SchemaError;
use super::kinds::{IndexKind, IndexType, SchemaKind, SchemaStatus};
use super::labels::update_refused;
use super::parts::{IndexBase, IndexLabel, Label, PropertyKey, SchemaPart};
use super::property_keys::{existed, not_found};
use crate::numbers::IndexLabelId;
use crate::value::{Cardinality, DataType};

const KIND: SchemaKind = SchemaKind::IndexLabel;

impl Schema {
    /// Makes an index label. One with `rebuild` is [`SchemaStatus::Creating`] until all elements are entered: a build is to follow.
    /// Indexes that it makes superfluous go.
    ///
    /// # Errors
    ///
    /// [`SchemaError`].
    pub fn create_index_label(
        &self,
        draft: &IndexLabelDraft,
        creation: &Creation<'_>,
    ) -> Result<Outcome<IndexLabel>, SchemaError> {
        check_name(&draft.name)?;
        check_unique(&draft.fields, "index fields")?;
        let (base, label) = self.base_of(draft)?;
        if let Some(known) = self.index_label_named(&draft.name) {
            if draft.check_exist || !self.is_same_index_label(draft, base, known)? {
                return Err(existed(KIND, &draft.name));
            }
            return Ok(Outcome { part: known.clone(), change: None });
        }
        check_number_given(draft.id, creation)?;
        let keys = self.fields_of(draft, base)?;
        let index_type = self.index_type(draft, &keys, label)?;
        let user_data = draft.user_data.with_create_time(creation.created);
        let status = if draft.rebuild { SchemaStatus::Creating } else { SchemaStatus::Created };
        let fields = keys.iter().map(|key| key.id).collect();
        let mut index = IndexLabel {
            id: IndexLabelId(0),
            name: (*draft.name).into(),
            base,
            index_type,
            fields,
            user_data,
            status,
        };
        self.check_repeated(&index)?;
        check_user_data(&draft.user_data, &index.user_data)?;
        let mut edit = Edit::of(self);
        for old in self.absorbed_by(&index) {
            edit.remove(SchemaPart::IndexLabel(old));
        }
        index.id = IndexLabelId(edit.number(KIND, draft.id, creation)?);
        let index = Arc::new(index);
        edit.put(SchemaPart::IndexLabel(index.clone()));
        Ok(Outcome { part: index, change: Some(edit.finish()) })
    }

    /// Notes more beside an index label.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NothingToChange`], [`SchemaError::NotAllowed`], [`SchemaError::Limit`].
    pub fn append_index_label(&self, draft: &IndexLabelDraft) -> Result<Outcome<IndexLabel>, SchemaError> {
        let mut index = self.index_label_to_change(draft)?;
        index.user_data.append(&draft.user_data);
        check_user_data(&draft.user_data, &index.user_data)?;
        Ok(self.changed_index_label(index))
    }

    /// Removes what is noted beside an index label under the names of the draft.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NothingToChange`], [`SchemaError::NotAllowed`].
    pub fn eliminate_index_label(&self, draft: &IndexLabelDraft) -> Result<Outcome<IndexLabel>, SchemaError> {
        let mut index = self.index_label_to_change(draft)?;
        index.user_data.eliminate(&draft.user_data);
        Ok(self.changed_index_label(index))
    }

    /// Removes an index label.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NotFound`].
    pub fn remove_index_label(&self, name: &str) -> Result<SchemaChange, SchemaError> {
        let index = self.index_label_named(name).ok_or_else(|| not_found(KIND, name))?;
        let mut edit = Edit::of(self);
        edit.remove(SchemaPart::IndexLabel(index.clone()));
        Ok(edit.finish())
    }

    /// The indexes that are to be built anew if an index label is, or all of a vertex label or edge label.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NotFound`]; [`SchemaError::Invalid`] for a property key, which has none.
    pub fn indexes_to_rebuild(&self, kind: SchemaKind, name: &str) -> Result<Vec<IndexLabelId>, SchemaError> {
        let missing = || not_found(kind, name);
        let indexes = match kind {
            SchemaKind::PropertyKey => {
                return Err(SchemaError::invalid("The property key can't rebuild index"));
            }
            SchemaKind::IndexLabel => return Ok(vec![self.index_label_named(name).ok_or_else(missing)?.id]),
            SchemaKind::VertexLabel => &self.vertex_label_named(name).ok_or_else(missing)?.indexes,
            SchemaKind::EdgeLabel => &self.edge_label_named(name).ok_or_else(missing)?.indexes,
        };
        Ok(indexes.iter().map(|index| index.id).collect())
    }

    /// Sets the state of indexes; those that are gone are passed over. `None` if nothing differs then.
    pub fn set_index_status(&self, ids: &[IndexLabelId], status: SchemaStatus) -> Option<SchemaChange> {
        let mut edit = Edit::of(self);
        let known = ids.iter().filter_map(|id| self.index_label(*id));
        let mut differs = false;
        for index in known.filter(|index| index.status != status) {
            let mut index = IndexLabel::clone(index);
            index.status = status;
            edit.put(SchemaPart::IndexLabel(index.into()));
            differs = true;
        }
        differs.then(|| edit.finish())
    }

    /// The label whose elements a drafted index finds.
    fn base_of(&self, draft: &IndexLabelDraft) -> Result<(IndexBase, &Label), SchemaError> {
        let (kind, name) = match &draft.base {
            Some((kind @ (SchemaKind::VertexLabel | SchemaKind::EdgeLabel), name)) => (*kind, name),
            _ => {
                let name = &draft.name;
                return Err(SchemaError::invalid(format!(
                    "The base type of index label '{name}' can only be either VERTEX_LABEL or EDGE_LABEL"
                )));
            }
        };
        let undefined = || SchemaError::undefined(kind, name);
        if kind == SchemaKind::VertexLabel {
            let label = self.vertex_label_named(name).ok_or_else(undefined)?;
            return Ok((IndexBase::Vertex(label.id), &label.label));
        }
        let label = self.edge_label_named(name).ok_or_else(undefined)?;
        Ok((IndexBase::Edge(label.id), &label.label))
    }

    /// The property keys by which a drafted index finds, checked each for itself.
    fn fields_of(&self, draft: &IndexLabelDraft, base: IndexBase) -> Result<Vec<&PropertyKey>, SchemaError> {
        let (name, fields) = (&draft.name, &draft.fields);
        if fields.is_empty() {
            return Err(SchemaError::invalid(format!("The index fields of '{name}' can't be empty")));
        }
        let mut keys = Vec::new();
        for field in fields {
            let key = self.property_key_named(field).ok_or_else(|| {
                let base_name = draft.base.as_ref().map_or("", |(_, name)| name);
                let kind = base.kind().readable_name();
                SchemaError::invalid(format!(
                    "Can't build index on undefined property key '{field}' for '{kind}': '{base_name}'"
                ))
            })?;
            if !key.aggregate_type.is_indexable() {
                let aggregate_type = key.aggregate_type;
                return Err(SchemaError::invalid(format!(
                    "The aggregate type {aggregate_type} is not indexable"
                )));
            }
            if key.cardinality != Cardinality::Single && fields.len() > 1 {
                return Err(SchemaError::invalid(format!(
                    "Not allowed to build union index on property key '{field}' whose cardinality is multiple"
                )));
            }
            keys.push(&**key);
        }
        Ok(keys)
    }

    /// The type of a drafted index on these fields.
    fn index_type(
        &self,
        draft: &IndexLabelDraft,
        keys: &[&PropertyKey],
        label: &Label,
    ) -> Result<IndexType, SchemaError> {
        let kind = draft.index_kind.unwrap_or(IndexKind::Secondary);
        check_olap(draft, keys, kind)?;
        let fields = named(&draft.fields);
        // What computations write belongs to no label: vertices of any have it.
        let is_vertex = matches!(&draft.base, Some((SchemaKind::VertexLabel, _)));
        let may_have =
            |key: &PropertyKey| label.has_property(key.id) || is_vertex && key.write_type.is_olap();
        if !keys.iter().all(|key| may_have(key)) {
            let properties = self.listed(&label.properties);
            return Err(SchemaError::invalid(format!(
                "Not all index fields '{fields}' are contained in schema properties '{properties}'"
            )));
        }
        let one = || match keys {
            [key] => Ok(*key),
            _ => {
                let what = if kind == IndexKind::Range { "Range" } else { "Search" };
                let count = keys.len();
                Err(SchemaError::invalid(format!(
                    "{what} index can only build on one field, but got {count} fields: '{fields}'"
                )))
            }
        };
        match kind {
            IndexKind::Secondary => Ok(IndexType::Secondary),
            IndexKind::Shard => Ok(IndexType::Shard),
            IndexKind::Unique => Ok(IndexType::Unique),
            IndexKind::Range => range_type(one()?),
            IndexKind::Search => {
                let key = one()?;
                if key.data_type == DataType::Text {
                    return Ok(IndexType::Search);
                }
                let (data_type, name) = (key.data_type, &key.name);
                Err(SchemaError::invalid(format!(
                    "Search index can only build on text property, but got {data_type}({name})"
                )))
            }
        }
    }

    fn is_same_index_label(
        &self,
        draft: &IndexLabelDraft,
        base: IndexBase,
        known: &IndexLabel,
    ) -> Result<bool, SchemaError> {
        let mut fields = known.fields.to_vec();
        fields.sort_unstable();
        Ok(base == known.base
            && draft.index_kind.unwrap_or(IndexKind::Secondary) == known.index_type.kind()
            && self.key_set_named(&draft.fields)? == fields)
    }

    /// A copy of the index label that is to be changed.
    fn index_label_to_change(&self, draft: &IndexLabelDraft) -> Result<IndexLabel, SchemaError> {
        let name = &draft.name;
        let index = self.index_label_named(name).ok_or_else(|| SchemaError::nothing_to_change(KIND, name))?;
        if draft.base.is_some() {
            return Err(update_refused("base type", KIND, name));
        }
        if draft.index_kind.is_some() {
            return Err(update_refused("index type", KIND, name));
        }
        if !draft.fields.is_empty() {
            return Err(update_refused("index fields", KIND, name));
        }
        Ok(IndexLabel::clone(index))
    }

    fn changed_index_label(&self, index: IndexLabel) -> Outcome<IndexLabel> {
        let (mut edit, index) = (Edit::of(self), Arc::new(index));
        edit.put(SchemaPart::IndexLabel(index.clone()));
        Outcome { part: index, change: Some(edit.finish()) }
    }
}

/// An index on a property that computations write is on that alone.
fn check_olap(draft: &IndexLabelDraft, keys: &[&PropertyKey], kind: IndexKind) -> Result<(), SchemaError> {
    let (name, fields) = (&draft.name, named(&draft.fields));
    let olap = keys.iter().filter(|key| key.write_type.is_olap()).count();
    let text = match (olap, keys, kind) {
        (0, ..) | (1, [_], IndexKind::Secondary | IndexKind::Range) => return Ok(()),
        (1, [key], IndexKind::Search | IndexKind::Shard | IndexKind::Unique) => {
            let field = &key.name;
            format!(
                "Only secondary and range index can be built on olap property, but got index type '{kind}' on olap \
                 property key '{field}' for index label '{name}'"
            )
        }
        (1, ..) => format!(
            "Can't build index on olap properties and oltp properties in one index label, but got fields \
             '{fields}' for index label '{name}'"
        ),
        _ => format!(
            "Can't build index on multiple olap properties, but got fields '{fields}' for index label '{name}'"
        ),
    };
    Err(SchemaError::invalid(text))
}

/// The type of a range index on a property.
fn range_type(key: &PropertyKey) -> Result<IndexType, SchemaError> {
    let (data_type, name) = (key.data_type, &key.name);
    if key.cardinality != Cardinality::Single {
        return Err(SchemaError::invalid(format!(
            "Not allowed to build range index on property '{name}' whose cardinality is multiple"
        )));
    }
    match data_type {
        DataType::Byte | DataType::Int => Ok(IndexType::RangeInt),
        DataType::Float => Ok(IndexType::RangeFloat),
        DataType::Long | DataType::Date => Ok(IndexType::RangeLong),
        DataType::Double => Ok(IndexType::RangeDouble),
        DataType::Object | DataType::Boolean | DataType::Text | DataType::Blob | DataType::Uuid => {
            Err(SchemaError::invalid(format!(
                "Range index can only build on numeric or date property, but got {data_type}({name})"
            )))
        }
    }
}
