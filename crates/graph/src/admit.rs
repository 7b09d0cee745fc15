//! What clients give becomes elements: ids by the strategy of the label, values that must be there, the moment of expiry.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::id::{
    EMPTY_VALUE, VERTEX_ID_BYTES_MAX, join_names, number_as_text, primary_key_id, sortable_f32, sortable_f64,
};
use crate::schema::{EdgeLabel, Frequency, IdStrategy, Label, Schema, VertexLabel};
use crate::{
    Edge, EdgeId, Malformed, Properties, PropertiesRef, PropertyKeyId, ScalarRef, ValueRef, Vertex, VertexId,
};

/// Why an element is not admitted. Names are those of the schema.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AdmitError {
    /// The label makes ids itself, or of primary keys.
    #[error("Can't customize vertex id when id strategy is '{strategy}' for vertex label '{label}'")]
    IdGiven {
        /// How ids of the label are made.
        strategy: IdStrategy,
        /// The label.
        label: Box<str>,
    },
    /// The label needs an id of another kind.
    #[error("Must customize vertex {kind} when id strategy is '{strategy}' for vertex label '{label}'")]
    IdNeeded {
        /// Which: `id`, `number id`, `uuid`.
        kind: &'static str,
        /// How ids of the label are made.
        strategy: IdStrategy,
        /// The label.
        label: Box<str>,
    },
    /// A primary key or a sort key has no value.
    #[error("{}", key_missing(kind, label, missing))]
    KeyMissing {
        /// `primary` or `sort`.
        kind: &'static str,
        /// `vertex` or `edge`.
        of: &'static str,
        /// The label.
        label: Box<str>,
        /// Names of the properties.
        missing: Vec<Box<str>>,
    },
    /// A property that may not be null has no value.
    #[error("{}", property_missing(of, label, needed, missing))]
    PropertyMissing {
        /// `vertex` or `edge`.
        of: &'static str,
        /// The label.
        label: Box<str>,
        /// Names of those that must be there.
        needed: Vec<Box<str>>,
        /// Names of those that are not.
        missing: Vec<Box<str>>,
    },
    /// A text without letters is no id.
    #[error("The id can't be empty")]
    IdEmpty,
    /// An id is longer than it may be.
    #[error("The max length of vertex id is {VERTEX_ID_BYTES_MAX}, but got {0}")]
    IdTooLong(usize),
    /// Stored bytes are damaged.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// Vertices and edges are refused in other words: clients know both.
fn key_missing(kind: &str, label: &str, missing: &[Box<str>]) -> String {
    if kind == "sort" {
        return format!("The sort key(s) must be set for the edge with label: '{label}'");
    }
    let (missing, strategy) = (listed(missing), IdStrategy::PrimaryKey);
    format!(
        "The primary keys: {missing} of vertex label '{label}' must be set when using '{strategy}' id strategy"
    )
}

fn property_missing(of: &str, label: &str, needed: &[Box<str>], missing: &[Box<str>]) -> String {
    let (needed, missing) = (listed(needed), listed(missing));
    match of {
        "edge" => format!(
            "All non-null property keys: {needed} of edge label '{label}' must be set, but missed keys: {missing}"
        ),
        _ => format!(
            "All non-null property keys {needed} of {of} label '{label}' must be set, missed keys {missing}"
        ),
    }
}

/// Names as messages list them: `[name, age]`.
fn listed(names: &[Box<str>]) -> String {
    format!("[{}]", names.join(", "))
}

/// When, and which numbers may be given: what admission takes from outside.
#[derive(Debug)]
pub struct Admission<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// Now, in milliseconds since 1970.
    pub now_ms: i64,
    /// Whether vertices of labels that make ids themselves may carry one: while a graph is restored.
    pub takes_ids: bool,
}

impl Admission<'_> {
    /// A vertex of a label; `next_id` is asked where the label makes ids itself. Cost: linear in its properties.
    ///
    /// # Errors
    ///
    /// [`AdmitError`].
    pub fn vertex(
        &self,
        label: &VertexLabel,
        id: Option<VertexId>,
        properties: Properties,
        next_id: impl FnOnce() -> i64,
    ) -> Result<Vertex, AdmitError> {
        let id = self.vertex_id(label, id, properties.as_ref(), next_id)?;
        self.check_needed(label, "vertex", properties.as_ref())?;
        let expires = self.expires(label, properties.as_ref())?;
        Ok(Vertex { id, label: label.id, expires, properties })
    }

    /// The id of a vertex of a label with these properties.
    ///
    /// # Errors
    ///
    /// [`AdmitError`].
    pub fn vertex_id(
        &self,
        label: &VertexLabel,
        id: Option<VertexId>,
        properties: PropertiesRef<'_>,
        next_id: impl FnOnce() -> i64,
    ) -> Result<VertexId, AdmitError> {
        let strategy = label.id_strategy;
        let given = || AdmitError::IdGiven { strategy, label: (*label.name).into() };
        let needed = |kind| AdmitError::IdNeeded { kind, strategy, label: (*label.name).into() };
        match (strategy, id) {
            (IdStrategy::PrimaryKey, None) => {
                let names = self.spliced(&label.primary_keys, properties);
                let names = names?.map_err(|missing| AdmitError::KeyMissing {
                    kind: "primary",
                    of: "vertex",
                    label: (*label.name).into(),
                    missing,
                })?;
                checked(VertexId::Text(primary_key_id(label.id.0, &names).into()))
            }
            (IdStrategy::Automatic, None) => Ok(VertexId::Number(next_id())),
            (IdStrategy::Automatic, Some(id @ VertexId::Number(_))) if self.takes_ids => Ok(id),
            (IdStrategy::Automatic, Some(_)) if self.takes_ids => Err(needed("number id")),
            (IdStrategy::PrimaryKey | IdStrategy::Automatic, Some(_)) => Err(given()),
            (IdStrategy::CustomizeString | IdStrategy::Default, Some(id @ VertexId::Text(_))) => checked(id),
            (IdStrategy::CustomizeNumber, Some(id @ VertexId::Number(_))) => Ok(id),
            (IdStrategy::CustomizeUuid, Some(id @ VertexId::Uuid(_))) => Ok(id),
            (IdStrategy::CustomizeString | IdStrategy::Default, _) => Err(needed("string id")),
            (IdStrategy::CustomizeNumber, _) => Err(needed("number id")),
            (IdStrategy::CustomizeUuid, _) => Err(needed("uuid")),
        }
    }

    /// An edge of a label between two vertices. Cost: linear in its properties.
    ///
    /// # Errors
    ///
    /// [`AdmitError`].
    pub fn edge(
        &self,
        label: &EdgeLabel,
        source: VertexId,
        target: VertexId,
        properties: Properties,
    ) -> Result<Edge, AdmitError> {
        let id = self.edge_id(label, source, target, properties.as_ref())?;
        self.check_needed(label, "edge", properties.as_ref())?;
        let expires = self.expires(label, properties.as_ref())?;
        Ok(Edge { id, expires, properties })
    }

    /// The id of an edge of a label with these properties.
    ///
    /// # Errors
    ///
    /// [`AdmitError`].
    pub fn edge_id(
        &self,
        label: &EdgeLabel,
        source: VertexId,
        target: VertexId,
        properties: PropertiesRef<'_>,
    ) -> Result<EdgeId, AdmitError> {
        let sort_values = match label.frequency {
            Frequency::Single => Box::default(),
            Frequency::Multiple => {
                let names = self.spliced(&label.sort_keys, properties);
                let names = names?.map_err(|missing| AdmitError::KeyMissing {
                    kind: "sort",
                    of: "edge",
                    label: (*label.name).into(),
                    missing,
                });
                Box::from(names?)
            }
        };
        let (source, target) = (checked(source)?, checked(target)?);
        let (label, sub_label) = (label.key_label(), label.id);
        Ok(EdgeId { source, label, sub_label, sort_values, target })
    }

    /// When an element of a label with these properties expires.
    ///
    /// # Errors
    ///
    /// [`Malformed`].
    pub fn expires(&self, label: &Label, properties: PropertiesRef<'_>) -> Result<Option<i64>, Malformed> {
        if label.ttl_ms == 0 {
            return Ok(None);
        }
        let begins = match label.ttl_start_time.map(|key| properties.get(key)).transpose()?.flatten() {
            Some(ValueRef::One(ScalarRef::Date(moment))) => moment,
            _ => self.now_ms,
        };
        Ok(Some(begins.saturating_add(i64::try_from(label.ttl_ms).unwrap_or(i64::MAX))))
    }

    /// Refuses an element without a value that it must have; `of` is `vertex` or `edge`. Cost: one pass over its properties.
    ///
    /// # Errors
    ///
    /// [`AdmitError::PropertyMissing`].
    pub fn check_needed(
        &self,
        label: &Label,
        of: &'static str,
        properties: PropertiesRef<'_>,
    ) -> Result<(), AdmitError> {
        let mut present = properties.iter();
        let mut next = present.next().transpose()?.map(|(key, _)| key);
        let mut missing = Vec::new();
        // Both are in the order of numbers.
        for needed in label.properties.iter().filter(|key| !label.is_nullable(**key)) {
            while next.is_some_and(|key| key < *needed) {
                next = present.next().transpose()?.map(|(key, _)| key);
            }
            if next != Some(*needed) && !self.is_olap(*needed) {
                missing.push(*needed);
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let needed = label.properties.iter().copied().filter(|key| !label.is_nullable(*key));
        Err(AdmitError::PropertyMissing {
            of,
            label: (*label.name).into(),
            needed: needed.map(|key| self.name(key)).collect(),
            missing: missing.into_iter().map(|key| self.name(key)).collect(),
        })
    }

    /// The text of the values of some properties; `Err` names those that have none. Cost: that of one text without a separator none.
    fn spliced<'p>(
        &self,
        keys: &[PropertyKeyId],
        properties: PropertiesRef<'p>,
    ) -> Result<Result<Cow<'p, str>, Vec<Box<str>>>, Malformed> {
        let (mut texts, mut missing) = (SmallVec::<[Cow<'p, str>; 4]>::new(), Vec::new());
        for key in keys {
            match properties.get(*key)? {
                Some(ValueRef::One(scalar)) => texts.push(name_of(scalar)),
                Some(ValueRef::Many(_)) | None => missing.push(self.name(*key)),
            }
        }
        if !missing.is_empty() {
            return Ok(Err(missing));
        }
        Ok(Ok(join_names(texts)))
    }

    fn is_olap(&self, key: PropertyKeyId) -> bool {
        self.schema.property_key(key).is_some_and(|key| key.write_type.is_olap())
    }

    fn name(&self, key: PropertyKeyId) -> Box<str> {
        self.schema.property_key(key).map_or_else(|| key.to_string().into(), |key| (*key.name).into())
    }
}

fn checked(id: VertexId) -> Result<VertexId, AdmitError> {
    match &id {
        VertexId::Text(text) if text.is_empty() => Err(AdmitError::IdEmpty),
        VertexId::Text(text) if text.len() > VERTEX_ID_BYTES_MAX => Err(AdmitError::IdTooLong(text.len())),
        _ => Ok(id),
    }
}

/// A value in a spliced text: numbers and dates sort as they do.
pub fn name_of(scalar: ScalarRef<'_>) -> Cow<'_, str> {
    match scalar {
        ScalarRef::Text("") | ScalarRef::Object("") => Cow::Borrowed(EMPTY_VALUE),
        ScalarRef::Text(text) | ScalarRef::Object(text) => Cow::Borrowed(text),
        ScalarRef::Boolean(true) => Cow::Borrowed("true"),
        ScalarRef::Boolean(false) => Cow::Borrowed("false"),
        ScalarRef::Byte(value) => number_as_text(value.into()).into(),
        ScalarRef::Int(value) => number_as_text(value.into()).into(),
        ScalarRef::Long(value) | ScalarRef::Date(value) => number_as_text(value).into(),
        ScalarRef::Float(value) => number_as_text(sortable_f32(value)).into(),
        ScalarRef::Double(value) => number_as_text(sortable_f64(value)).into(),
        ScalarRef::Blob(bytes) => bytes.escape_ascii().to_string().into(),
        ScalarRef::Uuid(uuid) => uuid::Uuid::from_u128(uuid).to_string().into(),
    }
}
