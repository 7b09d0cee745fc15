//! Parts of a schema as they are sent. What only answers say (status, indexes of a label) is passed over: backups send it back.

use std::collections::BTreeMap;

use graph::schema::{
    AggregateType, EdgeLabelDraft, EdgeLabelKind, Frequency, IdStrategy, IndexKind, IndexLabelDraft,
    IndexType, LabelDraft, PropertyKeyDraft, SchemaKind, UserData, VertexLabelDraft, WriteType,
};
use graph::{Cardinality, DataType};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::problem::Problem;

/// Reads a body.
///
/// # Errors
///
/// 400.
pub fn read_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body)
        .map_err(|error| Problem::bad_body(format!("the body cannot be read as JSON: {error}")))
}

/// Reads a word of an enumeration.
macro_rules! word {
    ($function:ident, $kind:ty, $what:literal) => {
        fn $function<'de, D: Deserializer<'de>>(source: D) -> Result<Option<$kind>, D::Error> {
            let Some(name) = Option::<String>::deserialize(source)? else { return Ok(None) };
            let known = || <$kind>::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
            let found = <$kind>::from_name(&name);
            found.map(Some).ok_or_else(|| {
                serde::de::Error::custom(format!(concat!($what, " '{}' is none of {}"), name, known()))
            })
        }
    };
}
/// A frequency, or that nothing is said of it: so Java clients write it.
#[derive(Clone, Copy)]
enum FrequencyWord {
    Default,
    Given(Frequency),
}

impl FrequencyWord {
    const ALL: [Self; 3] = [Self::Default, Self::Given(Frequency::Single), Self::Given(Frequency::Multiple)];

    fn name(self) -> &'static str {
        match self {
            Self::Default => "DEFAULT",
            Self::Given(frequency) => frequency.name(),
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|word| word.name() == name)
    }
}

fn frequency<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Frequency>, D::Error> {
    Ok(match given_frequency(source)? {
        None | Some(FrequencyWord::Default) => None,
        Some(FrequencyWord::Given(frequency)) => Some(frequency),
    })
}

word!(data_type, DataType, "data_type");
word!(cardinality, Cardinality, "cardinality");
word!(aggregate_type, AggregateType, "aggregate_type");
word!(write_type, WriteType, "write_type");
word!(id_strategy, IdStrategy, "id_strategy");
word!(edge_label_kind, EdgeLabelKind, "edgelabel_type");
word!(given_frequency, FrequencyWord, "frequency");
word!(base_type, SchemaKind, "base_type");

/// `SECONDARY`, `RANGE`, …, or the type that answers name: `RANGE_INT`.
fn index_kind<'de, D: Deserializer<'de>>(source: D) -> Result<Option<IndexKind>, D::Error> {
    let Some(name) = Option::<String>::deserialize(source)? else { return Ok(None) };
    let found = IndexKind::from_name(&name).or_else(|| IndexType::from_name(&name).map(IndexType::kind));
    found.map(Some).ok_or_else(|| serde::de::Error::custom(format!("index_type '{name}' is not known")))
}

/// Names; `null` for none.
type Names = Option<Vec<Box<str>>>;
/// User data as it is sent.
type Given = Option<serde_json::Map<String, Value>>;

fn user_data(given: Given) -> UserData {
    let mut user_data = UserData::default();
    for (name, value) in given.into_iter().flatten() {
        user_data.put(&name, &value.to_string());
    }
    user_data
}

/// Names that are given; none for `null`.
fn listed(names: Names) -> Vec<Box<str>> {
    names.into_iter().flatten().collect()
}

/// A number that is given: 0 stands for none, as in answers of nothing.
fn number(id: Option<i64>) -> Option<i64> {
    id.filter(|id| *id != 0)
}

fn named(name: Option<Box<str>>, kind: SchemaKind) -> Result<Box<str>, Problem> {
    name.ok_or_else(|| {
        Problem::illegal_argument(format!("The name of {} can't be null", kind.readable_name()))
    })
}

/// A property key as it is sent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PropertyKeyGiven {
    id: Option<i64>,
    name: Option<Box<str>>,
    #[serde(default, deserialize_with = "data_type")]
    data_type: Option<DataType>,
    #[serde(default, deserialize_with = "cardinality")]
    cardinality: Option<Cardinality>,
    #[serde(default, deserialize_with = "aggregate_type")]
    aggregate_type: Option<AggregateType>,
    #[serde(default, deserialize_with = "write_type")]
    write_type: Option<WriteType>,
    properties: Names,
    user_data: Given,
    check_exist: Option<bool>,
    #[serde(rename = "status")]
    _status: Option<IgnoredAny>,
}

impl PropertyKeyGiven {
    /// What is asked for.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn draft(self) -> Result<PropertyKeyDraft, Problem> {
        let name = named(self.name, SchemaKind::PropertyKey)?;
        if self.properties.is_some_and(|properties| !properties.is_empty()) {
            return Err(Problem::illegal_argument(
                "Not allowed to pass properties when creating property key since it doesn't support meta properties \
                 currently",
            ));
        }
        Ok(PropertyKeyDraft {
            id: number(self.id),
            name,
            data_type: self.data_type.unwrap_or(DataType::Text),
            cardinality: self.cardinality.unwrap_or(Cardinality::Single),
            aggregate_type: self.aggregate_type.unwrap_or(AggregateType::None),
            write_type: self.write_type.unwrap_or(WriteType::Oltp),
            user_data: user_data(self.user_data),
            check_exist: self.check_exist.unwrap_or(true),
        })
    }
}

/// A vertex label as it is sent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VertexLabelGiven {
    id: Option<i64>,
    name: Option<Box<str>>,
    #[serde(default, deserialize_with = "id_strategy")]
    id_strategy: Option<IdStrategy>,
    primary_keys: Names,
    properties: Names,
    nullable_keys: Names,
    ttl: Option<i64>,
    ttl_start_time: Option<Box<str>>,
    enable_label_index: Option<bool>,
    user_data: Given,
    check_exist: Option<bool>,
    #[serde(rename = "index_labels")]
    _index_labels: Option<IgnoredAny>,
    #[serde(rename = "status")]
    _status: Option<IgnoredAny>,
}

impl VertexLabelGiven {
    /// What is asked for.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn draft(self) -> Result<VertexLabelDraft, Problem> {
        let label = LabelDraft {
            id: number(self.id),
            name: named(self.name, SchemaKind::VertexLabel)?,
            properties: listed(self.properties),
            nullable_keys: listed(self.nullable_keys),
            ttl_ms: self.ttl.unwrap_or(0),
            ttl_start_time: self.ttl_start_time,
            enable_label_index: self.enable_label_index,
            user_data: user_data(self.user_data),
            check_exist: self.check_exist.unwrap_or(true),
        };
        Ok(VertexLabelDraft {
            label,
            id_strategy: self.id_strategy.unwrap_or(IdStrategy::Default),
            primary_keys: listed(self.primary_keys),
        })
    }
}

/// An edge label as it is sent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeLabelGiven {
    id: Option<i64>,
    name: Option<Box<str>>,
    #[serde(default, deserialize_with = "edge_label_kind")]
    edgelabel_type: Option<EdgeLabelKind>,
    parent_label: Option<Box<str>>,
    source_label: Option<Box<str>>,
    target_label: Option<Box<str>>,
    links: Option<Vec<BTreeMap<Box<str>, Box<str>>>>,
    #[serde(default, deserialize_with = "frequency")]
    frequency: Option<Frequency>,
    sort_keys: Names,
    properties: Names,
    nullable_keys: Names,
    ttl: Option<i64>,
    ttl_start_time: Option<Box<str>>,
    enable_label_index: Option<bool>,
    user_data: Given,
    check_exist: Option<bool>,
    #[serde(rename = "index_labels")]
    _index_labels: Option<IgnoredAny>,
    #[serde(rename = "status")]
    _status: Option<IgnoredAny>,
}

impl EdgeLabelGiven {
    /// What is asked for.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn draft(self) -> Result<EdgeLabelDraft, Problem> {
        let label = LabelDraft {
            id: number(self.id),
            name: named(self.name, SchemaKind::EdgeLabel)?,
            properties: listed(self.properties),
            nullable_keys: listed(self.nullable_keys),
            ttl_ms: self.ttl.unwrap_or(0),
            ttl_start_time: self.ttl_start_time,
            enable_label_index: self.enable_label_index,
            user_data: user_data(self.user_data),
            check_exist: self.check_exist.unwrap_or(true),
        };
        let mut links: Vec<_> = self.links.into_iter().flatten().flatten().collect();
        match (self.source_label, self.target_label) {
            (None, None) => {}
            (Some(source), Some(target)) => {
                // Answers name the one link of a label twice, and so do backups.
                let link = (source, target);
                if !links.contains(&link) {
                    links.push(link);
                }
            }
            _ => {
                return Err(Problem::illegal_argument("source_label and target_label belong together"));
            }
        }
        Ok(EdgeLabelDraft {
            label,
            kind: self.edgelabel_type.unwrap_or(EdgeLabelKind::Normal),
            parent: self.parent_label,
            links,
            frequency: self.frequency,
            sort_keys: listed(self.sort_keys),
        })
    }
}

/// An index label as it is sent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexLabelGiven {
    id: Option<i64>,
    name: Option<Box<str>>,
    #[serde(default, deserialize_with = "base_type")]
    base_type: Option<SchemaKind>,
    base_value: Option<Box<str>>,
    #[serde(default, deserialize_with = "index_kind")]
    index_type: Option<IndexKind>,
    fields: Names,
    rebuild: Option<bool>,
    user_data: Given,
    check_exist: Option<bool>,
    #[serde(rename = "status")]
    _status: Option<IgnoredAny>,
}

impl IndexLabelGiven {
    /// What is asked for.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn draft(self) -> Result<IndexLabelDraft, Problem> {
        let name = named(self.name, SchemaKind::IndexLabel)?;
        let base = match (self.base_type, self.base_value) {
            (None, None) => None,
            (Some(kind), Some(label)) => Some((kind, label)),
            (None, Some(_)) => {
                return Err(Problem::illegal_argument(format!(
                    "The base type of index label '{name}' can't be null"
                )));
            }
            (Some(_), None) => {
                return Err(Problem::illegal_argument(format!(
                    "The base value of index label '{name}' can't be null"
                )));
            }
        };
        Ok(IndexLabelDraft {
            id: number(self.id),
            name,
            base,
            index_kind: self.index_type,
            fields: listed(self.fields),
            rebuild: self.rebuild.unwrap_or(true),
            user_data: user_data(self.user_data),
            check_exist: self.check_exist.unwrap_or(true),
        })
    }
}
